import re
from dataclasses import dataclass

import numpy as np
import pytest
import torch

import registry
from agents.contract.conformance import AgentCheckError, check_agent
from agents.contract.inputs import masked_argmax, read_feedback, read_graphs, read_mask


@dataclass(frozen=True)
class NoSettings:
    pass


class Sound:
    """Plays at random; each case below breaks one thing."""

    settings = NoSettings()

    def reset(self, observation, seed=0, graph_set=None):
        self.count = read_graphs(observation, graph_set).num_graphs
        self.generator = torch.Generator().manual_seed(seed)

    def select_action(self, observation, action_mask=None):
        if isinstance(observation, tuple) and len(observation) != self.count:
            raise ValueError("Expected the graphs of `reset`.")
        return masked_argmax(torch.zeros(self.count), read_mask(action_mask, self.count), self.generator)

    def update(self, observation, action, reward):
        read_feedback(action, reward, self.count)

    def state_dict(self):
        return {"generator": self.generator.get_state()}

    def load_state_dict(self, state):
        self.generator.set_state(state["generator"])


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


class SumsRewards(Sound):
    """Learns, and then plays as if it had not: a live state shows nowhere else."""

    def reset(self, observation, seed=0, graph_set=None):
        super().reset(observation, seed, graph_set)
        self.sums = torch.zeros(self.count, dtype=torch.float64)

    def update(self, observation, action, reward):
        actions, rewards = read_feedback(action, reward, self.count)
        self.sums.index_add_(0, actions, rewards)

    def state_dict(self):
        return {**super().state_dict(), "memory": {"sums": [self.sums.clone()]}}

    def load_state_dict(self, state):
        super().load_state_dict(state)
        self.sums = state["memory"]["sums"][0].clone()


class SavesLiveTensors(SumsRewards):
    def state_dict(self):
        return {**super().state_dict(), "memory": {"sums": [self.sums]}}


@pytest.mark.parametrize("sound", [Sound, SumsRewards])
def test_a_sound_agent_passes_and_is_told_what_was_checked(sound):
    checked = check_agent(sound)
    assert len(checked) == len(set(checked)) == 17
    assert "Equal seeds give equal actions, also after a second `reset`." in checked
    assert not any("from an observation" in line for line in check_agent(sound, needs="molecules"))


def test_the_door_tells_what_was_checked():
    first, second, *_ = registry.check_agent(Sound).splitlines()
    assert first.startswith("Sound follows the protocol")
    assert second == "It reads what it does not say (attribute `reads`)."
    assert "\nIt reads nothing.\n" in registry.check_agent("ucb1")
    assert "\nIt reads nothing.\n" in registry.check_agent("random")


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        (IgnoresTheMask, "where `action_mask` is 1. It played"),
        (ReturnsNumPy, "a Python int that is an index of the graph set. It returned np.int64"),
        (DrawsGlobally, "It drew from the global generator of torch"),
        (TakesAnyReward, "refuses a reward that is not finite with a ValueError, and changes nothing. It took nan"),
        (SavesLiveTensors, "A saved state stays as it was.* It changed `memory`"),
        (RemembersWhatItRefused, "changes nothing. It played differently afterwards"),
    ],
)
def test_a_broken_agent_is_told_what_is_wrong_and_nothing_else(broken, problem):
    with pytest.raises(AgentCheckError) as caught:
        registry.check_agent(broken)
    assert any(re.search(problem, line) for line in caught.value.problems)
    assert len(caught.value.problems) <= 3  # an agent that ignores its seed cannot go on from a state either


def test_missing_methods_are_named():
    with pytest.raises(AgentCheckError, match="Missing: reset, select_action"):
        registry.check_agent(dict)
