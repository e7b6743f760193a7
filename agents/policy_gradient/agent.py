"""A policy-gradient agent in the bandit: what a learner pays that forgets what it has seen."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch_geometric.data import Batch, Data

from agents.beliefs.history import History
from agents.contract.inputs import check_reset, derive_streams, read_feedback, read_graphs, read_mask
from agents.contract.protocol import DivergedError
from agents.contract.settings import read_settings
from agents.contract.state import check_identity, make_identity
from agents.policy_gradient.online import Round, make_ppo, observe, train
from agents.policy_gradient.settings import PPOSettings
from gntk import one_thread


class PPOAgent:
    """Draw a graph from a policy; every few rounds, change the policy by PPO on these rounds  [Schulman et al. 2017].

    It has no environment: `update` fills a rollout buffer, and a full one trains the policy. Rewards are standardised
    as for the other agents (`History.location_and_scale`). A result without a `select_action` before it counts as a
    choice among all graphs.

    Args:
        settings: of the agent.
    """

    def __init__(self, settings: PPOSettings) -> None:
        self.settings = settings

    @one_thread()
    def reset(self, observation: Any, seed: int = 0, graph_set: Any = None) -> None:
        """Take in the graphs, and draw the initial weights."""
        batch = read_graphs(observation, graph_set)
        network_seed, self.generator = derive_streams(seed)
        tensors = (batch.x, batch.edge_index, batch.edge_attr, batch.ptr)
        self._tensors = [tensor for tensor in tensors if tensor is not None]
        self.ppo = make_ppo(_Held(batch), batch.num_graphs, self.settings, network_seed)
        self.history = History(batch.num_graphs)
        self.rounds: list[Round] = []  # since the last update of the policy
        self._chosen: Round | None = None  # the choice that waits for its reward

    @one_thread()
    def select_action(self, observation: Any, action_mask: ArrayLike | None = None) -> int:
        """Draw a graph from the policy."""
        check_reset(self, "history")
        mask = read_mask(action_mask, len(self.history.counts))
        logits, value = self._evaluate(mask)
        action = int(torch.multinomial(logits.softmax(0), 1, generator=self.generator))
        self._chosen = self._round(mask, action, logits, value)
        return action

    @one_thread()
    def update(self, observation: Any, action: ArrayLike, reward: ArrayLike) -> None:
        """Keep the rounds; update the policy whenever `rollout` of them have come together."""
        check_reset(self, "history")
        actions, rewards = read_feedback(action, reward, len(self.history.counts))
        self.history.add(actions, rewards)
        for played, seen in zip(actions.tolist(), rewards.tolist(), strict=True):
            chosen, self._chosen = self._chosen, None
            if chosen is None or chosen.action != played:
                mask = torch.ones(len(self.history.counts), dtype=torch.bool)
                chosen = self._round(mask, played, *self._evaluate(mask))
            self.rounds.append(dataclasses.replace(chosen, reward=seen))
            if len(self.rounds) == self.settings.rollout:
                self._learn()

    @one_thread()
    def probabilities(self, action_mask: ArrayLike | None = None) -> Tensor:
        """Return with which probability each graph is played, `(K,)` float64."""
        check_reset(self, "history")
        logits, _ = self._evaluate(read_mask(action_mask, len(self.history.counts)))
        return logits.softmax(0)

    def state_dict(self) -> dict[str, Any]:
        """Return weights, optimizer, history, the rounds since the last update, and the state of the generator."""
        return {
            "identity": self._identity(),
            "policy": copy.deepcopy(self.ppo.policy.state_dict()),
            "optimizer": copy.deepcopy(self.ppo.policy.optimizer.state_dict()),
            "history": self.history.state_dict(),
            "rounds": [dataclasses.asdict(one) for one in self.rounds],
            "chosen": None if self._chosen is None else dataclasses.asdict(self._chosen),
            "generator": self.generator.get_state(),
        }

    @one_thread()
    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state` was taken; `reset` on the same graphs must come first.

        Raises:
            ValueError: if the state is of other settings or other graphs; nothing is changed then.
        """
        keys = ("policy", "optimizer", "history", "rounds", "chosen", "generator")
        check_identity(state, self._identity(), keys)
        self._restore(state["policy"], state["optimizer"])
        self.history.load_state_dict(state["history"])
        self.rounds = [Round(**one) for one in state["rounds"]]
        self._chosen = None if state["chosen"] is None else Round(**state["chosen"])
        self.generator.set_state(state["generator"])

    def _evaluate(self, mask: Tensor) -> tuple[Tensor, float]:
        """Return logits `(K,)` float64, and the value."""
        policy: Any = self.ppo.policy
        observation, _ = policy.obs_to_tensor(observe(mask.int().tolist()))
        with torch.no_grad():
            logits = policy.get_distribution(observation).distribution.logits[0].double()
            value = policy.predict_values(observation).item()
        return logits, value

    def _round(self, mask: Tensor, action: int, logits: Tensor, value: float) -> Round:
        probability = logits.log_softmax(0)[action].item()
        return Round(tuple(mask.int().tolist()), action, value, probability, reward=float("nan"))

    def _learn(self) -> None:
        policy = self.ppo.policy
        before = copy.deepcopy(policy.state_dict()), copy.deepcopy(policy.optimizer.state_dict())
        seed = int(torch.randint(2**32, (), generator=self.generator))
        rounds, self.rounds = self.rounds, []
        try:
            train(self.ppo, rounds, *self.history.location_and_scale(), seed)
            logits, _ = self._evaluate(torch.ones(len(self.history.counts), dtype=torch.bool))
            finite = logits.isfinite().all() and all(weight.isfinite().all() for weight in policy.parameters())
        except (ValueError, RuntimeError) as error:  # torch tells so of NaN probabilities, and of steps too large
            self._restore(*before)
            if isinstance(error, RuntimeError) and "overflow" not in str(error):
                raise
            raise DivergedError(f"The policy turned non-finite: {error}. Lower `learning_rate`.") from error
        if not finite:
            self._restore(*before)
            raise DivergedError("The policy turned non-finite. Lower `learning_rate`.")

    def _restore(self, weights: dict[str, Any], optimizer: dict[str, Any]) -> None:
        self.ppo.policy.load_state_dict(copy.deepcopy(weights))
        self.ppo.policy.optimizer.load_state_dict(copy.deepcopy(optimizer))

    def _identity(self) -> dict[str, Any]:
        check_reset(self, "history")
        return make_identity(self.settings, self._tensors)


class _Held:
    """Graphs of a batch, in the form in which graph sets are handed over."""

    def __init__(self, batch: Batch) -> None:
        self._graphs: list[Data] = batch.to_data_list()

    def to_pyg(self) -> list[Data]:
        return self._graphs


def sb3_ppo(**settings: Any) -> PPOAgent:
    """Make PPO of Stable-Baselines3 as a bandit agent, with the policy of `agents.sb3.GraphSetPolicy`."""
    return PPOAgent(read_settings(PPOSettings, settings))
