import numpy as np
import pytest
import torch

import registry
from agents.classic.agents import RandomSettings
from agents.contract import AgentCheckError, check_agent, masked_argmax, read_graphs, read_mask
from agents.contract.inputs import read_feedback


class Sound:
    """Sums rewards, and plays at random; each case below breaks one thing."""

    settings = RandomSettings()

    def reset(self, observation, seed=0, graph_set=None):
        self.count = read_graphs(observation, graph_set).num_graphs
        self.generator = torch.Generator().manual_seed(seed)
        self.sums = torch.zeros(self.count, dtype=torch.float64)

    def select_action(self, observation, action_mask=None):
        if isinstance(observation, tuple) and len(observation) != self.count:
            raise ValueError("Expected the graphs of `reset`.")
        return masked_argmax(torch.zeros(self.count), read_mask(action_mask, self.count), self.generator)

    def update(self, observation, action, reward):
        self.sums.index_add_(0, *read_feedback(action, reward, self.count))

    def state_dict(self):
        return {"generator": self.generator.get_state(), "memory": {"sums": [self.sums.clone()]}}

    def load_state_dict(self, state):
        self.generator.set_state(state["generator"])
        self.sums = state["memory"]["sums"][0].clone()


class IgnoresTheMask(Sound):
    def select_action(self, observation, action_mask=None):
        return super().select_action(observation)


class ReturnsNumPy(Sound):
    def select_action(self, observation, action_mask=None):
        return np.int64(super().select_action(observation, action_mask))


class DrawsGlobally(Sound):
    def reset(self, observation, seed=0, graph_set=None):
        super().reset(observation, seed, graph_set)
        torch.rand(1)


class TakesAnyReward(Sound):
    def update(self, observation, action, reward):
        super().update(observation, action, np.nan_to_num(reward, posinf=0.0))


class RemembersWhatItRefused(Sound):
    def update(self, observation, action, reward):
        torch.rand(1, generator=self.generator)
        super().update(observation, action, reward)


class SavesLiveTensors(Sound):
    def state_dict(self):
        return {**super().state_dict(), "memory": {"sums": [self.sums]}}


def test_a_sound_agent_passes_and_is_told_what_was_checked():
    checked = check_agent(Sound)
    assert len(checked) == len(set(checked)) == 15
    assert len(check_agent(Sound, needs="molecules")) == 14  # its observations need not hold graphs
    assert registry.check_agent(Sound).splitlines()[1:] == [*checked]
    assert "nothing" in check_agent(lambda: registry.make_agent("random"))[0]


@pytest.mark.parametrize(
    ("broken", "claim"),
    [
        (IgnoresTheMask, "`select_action` plays only where `action_mask` is 1"),
        (ReturnsNumPy, "`select_action` returns a Python int"),
        (DrawsGlobally, "All randomness comes from the seed"),
        (TakesAnyReward, "`update` refuses an unknown graph or a reward"),
        (SavesLiveTensors, "A saved state stays as it was"),
        (RemembersWhatItRefused, "`update` refuses an unknown graph or a reward"),
        (dict, "methods"),
    ],
)
def test_a_broken_agent_is_told_what_is_wrong_and_nothing_else(broken, claim):
    with pytest.raises(AgentCheckError) as caught:
        registry.check_agent(broken)
    assert any(line.startswith(claim) for line in caught.value.problems)
    assert len(caught.value.problems) <= 3  # an agent that ignores its seed cannot go on from a state either
