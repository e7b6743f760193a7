"""A policy-gradient agent in the bandit: a baseline for the cost of forgetting past rewards."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch_geometric.data import Batch, Data

from agents.beliefs.rewards.history import History
from agents.contract.abilities import DRAWS, ActionProbabilities
from agents.contract.base import BaseAgent
from agents.contract.inputs import read_mask
from agents.contract.protocol import DivergedError, State
from agents.contract.reading import wave_nodes
from agents.policy_gradient.online import PPOSettings, Round, make_ppo, observe, train
from gntk import aggregate_neighbours, one_thread

MOST_PENDING = 1000  # choices whose rewards are waited for; the oldest are given up first


class PPOAgent(BaseAgent[PPOSettings]):
    """Draw a graph from a policy; every few rounds, update the policy by PPO on these rounds  [Schulman et al. 2017].

    The agent needs no environment: `update` fills a rollout buffer, and a full buffer trains the policy. Rewards are
    standardised as for the other agents (`History.location_and_scale`). A reward may come after further choices, and
    belongs to the earliest choice of its graph. One without such a choice counts as that of a choice among all graphs.

    Args:
        settings: settings of the agent.
    """

    def begin(self, graphs: Batch, seed: int) -> None:
        """Take in the graphs, and draw the initial weights."""
        tensors = (graphs.x, graphs.edge_index, graphs.edge_attr, graphs.ptr)
        self._tensors = [tensor for tensor in tensors if tensor is not None]
        self.ppo = make_ppo(_Held(graphs), graphs.num_graphs, self.settings, seed)
        aggregated = aggregate_neighbours(graphs, own_count=True)
        pairs = torch.cat([aggregated.nodes.double(), graphs.x.double(), torch.ones(graphs.num_nodes, 1)], dim=1)
        self._appearance = aggregated.sum_over_nodes(wave_nodes(pairs))
        self.history = History(graphs.num_graphs)
        self.rounds: list[Round] = []  # since the last update of the policy
        self._chosen: list[Round] = []  # choices whose rewards are not known yet

    def choose(self, mask: Tensor) -> int:
        """Draw a graph from the policy."""
        logits, value = self._evaluate(mask)
        action = int(torch.multinomial(logits.softmax(0), 1, generator=self.generator))
        self._chosen = [*self._chosen, self._round(mask, action, logits, value)][-MOST_PENDING:]
        return action

    def learn(self, actions: Tensor, rewards: Tensor) -> None:
        """Keep the rounds; update the policy after every `rollout` of them."""
        self.history.add(actions, rewards)
        for action, reward in zip(actions.tolist(), rewards.tolist(), strict=True):
            chosen = next((earlier for earlier in self._chosen if earlier.action == action), None)
            if chosen is None:
                mask = torch.ones(self.num_graphs, dtype=torch.bool)
                chosen = self._round(mask, action, *self._evaluate(mask))
            else:
                self._chosen = [pending for pending in self._chosen if pending is not chosen]
            self.rounds.append(dataclasses.replace(chosen, reward=reward))
            if len(self.rounds) == self.settings.rollout:
                self._learn()

    @one_thread()
    def action_probabilities(
        self, observation: object, action_mask: ArrayLike | None = None, draws: int = DRAWS
    ) -> ActionProbabilities:
        """Return the probabilities of the policy, which are exact; see `agents.contract.PlayForecaster`."""
        self.look_at(observation)
        logits, _ = self._evaluate(read_mask(action_mask, self.num_graphs))
        values = logits.softmax(0).numpy()
        return ActionProbabilities(values, np.zeros(len(values)))

    def appearance(self) -> Tensor:
        """Return what tells apart the sets of pairs of an aggregated node and the node itself."""
        return self._appearance

    def known(self) -> list[Tensor]:
        """Return the tensors of the batch of graphs."""
        return self._tensors

    def state(self) -> State:
        """Return weights, optimizer, history, and the rounds since the last update."""
        return {
            "policy": copy.deepcopy(self.ppo.policy.state_dict()),
            "optimizer": copy.deepcopy(self.ppo.policy.optimizer.state_dict()),
            "history": self.history.state_dict(),
            "rounds": [dataclasses.asdict(played) for played in self.rounds],
            "chosen": [dataclasses.asdict(pending) for pending in self._chosen],
        }

    def restore(self, state: State) -> None:
        """Continue with weights, optimizer, history and rounds of a state."""
        self._restore(state["policy"], state["optimizer"])
        self.history.load_state_dict(state["history"])
        self.rounds = [Round(**fields) for fields in state["rounds"]]
        self._chosen = [Round(**fields) for fields in state["chosen"]]

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
            logits, _ = self._evaluate(torch.ones(self.num_graphs, dtype=torch.bool))
            finite = logits.isfinite().all() and all(weight.isfinite().all() for weight in policy.parameters())
        except (ValueError, RuntimeError) as error:  # raised by torch for NaN probabilities and for too large steps
            self._restore(*before)
            if isinstance(error, RuntimeError) and "overflow" not in str(error):
                raise
            raise DivergedError(f"The policy turned non-finite: {error}. Lower `learning_rate`.") from error
        if not finite:
            self._restore(*before)
            raise DivergedError("The policy turned non-finite. Lower `learning_rate`.")

    def _restore(self, weights: State, optimizer: State) -> None:
        self.ppo.policy.load_state_dict(weights)
        self.ppo.policy.optimizer.load_state_dict(copy.deepcopy(optimizer))


class _Held:
    """The graphs of a batch as a graph set."""

    def __init__(self, batch: Batch) -> None:
        self._graphs: list[Data] = batch.to_data_list()

    def to_pyg(self) -> list[Data]:
        return self._graphs


def policy_gradient(settings: PPOSettings) -> PPOAgent:
    """PPO of Stable-Baselines3 on the agent's own rounds, with the policy of `agents.sb3.GraphSetPolicy`."""
    return PPOAgent(settings)
