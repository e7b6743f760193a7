"""A policy-gradient agent in the bandit: a baseline for the cost of forgetting past rewards."""

from __future__ import annotations

import copy
import dataclasses
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated, Any

import numpy as np
import torch
from gymnasium.spaces import Box, Dict
from torch import Tensor
from torch.distributions import Categorical
from torch_geometric.data import Batch

from agents.beliefs.rewards.history import History
from agents.classic.drawing import DrawingAgent
from agents.contract.protocol import DivergedError, State
from agents.contract.settings import Must, check_fields
from agents.padded import GraphSetActorCritic

MOST_PENDING = 1000  # choices whose rewards are waited for; the oldest are given up first
Several = Annotated[int, Must(lambda count: count >= 2, "an integer >= 2")]


@dataclass(frozen=True, kw_only=True)
class PPOSettings:
    """Settings of `sb3-ppo`: Proximal Policy Optimization, as in Stable-Baselines3, on the agent's own rounds.

    Raises:
        ValueError: if a field is out of its range.
    """

    rollout: Several = 8
    """Rounds between two updates of the policy; an update learns only from these rounds. At least 2."""
    epochs: int = 10
    """Passes over the rounds of an update."""
    batch_size: Several = 8
    """Rounds in a step of the optimizer; at least 2."""
    learning_rate: Annotated[float, Must(lambda rate: rate <= 1, "at most 1")] = 0.01
    """Learning rate of Adam, which moves each weight by about as much in a step; at most 1."""
    clip_range: float = 0.2
    """Largest relative change of the probability of a played graph in an update."""
    entropy_weight: float = 0.0
    """Weight of the policy's entropy in the objective; more of it keeps the policy exploring."""
    value_weight: float = 0.5
    """Weight of the squared error of the value, which predicts the mean reward of the policy."""
    max_grad_norm: float = 0.5
    """Largest norm of a gradient; longer ones are shortened to it."""
    embedding: int = 64
    """Number of features of the embedding of a graph."""

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class Round:
    """A round that PPO learns from."""

    mask: Tensor
    """`(K,)` bool. The graphs on offer."""
    action: int
    """The graph that was played."""
    value: float
    """Predicted mean reward of the policy, in standard deviations."""
    log_probability: float
    """Logarithm of the probability of the action when it was chosen."""
    reward: float = float("nan")
    """The reward that was observed."""


class PPOAgent(DrawingAgent[PPOSettings]):
    """Proximal Policy Optimization of Stable-Baselines3 on the agent's own rounds      [Schulman et al. 2017].

    Draw a graph from the policy `agents.padded.GraphSetActorCritic`; after every `rollout` rounds, update the policy by
    these rounds. Its numbers are those that `stable_baselines3.PPO` computes on the same rounds with `gamma=0`. Rewards
    are standardised as for the other agents (`History.location_and_scale`). A reward may come after further choices,
    and belongs to the earliest choice of its graph. One without such a choice counts as that of a choice among all
    graphs.

    Args:
        settings: settings of the agent.
    """

    settings: PPOSettings
    algorithm = 2

    def begin(self, graphs: Batch, seed: int) -> None:
        """Take in the graphs, and draw the initial weights."""
        tensors = (graphs.x, graphs.edge_index, graphs.edge_attr, graphs.ptr)
        self._tensors = [tensor for tensor in tensors if tensor is not None]
        count = graphs.num_graphs
        held: Any = SimpleNamespace(to_batch=lambda: graphs)
        space = Dict({"indices": Box(-1, count - 1, (count,), np.int64), "mask": Box(0, 1, (count,), np.int8)})
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)  # not `torch.manual_seed`, which also seeds every GPU
            self.policy = GraphSetActorCritic(space, features_dim=self.settings.embedding, graph_set=held)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), self.settings.learning_rate, eps=1e-5)
        self.history = History(count)
        self.rounds: list[Round] = []  # since the last update of the policy
        self._chosen: list[Round] = []  # choices whose rewards are not known yet

    def probabilities(self, mask: Tensor) -> Tensor:
        """Return the probability `(K,)` float64 with which each graph that `mask` allows is played."""
        return self._evaluate(mask)[0].softmax(0)

    def choose(self, mask: Tensor) -> int:
        """Draw a graph from the policy."""
        action = super().choose(mask)
        self._chosen = [*self._chosen, self._round(mask, action)][-MOST_PENDING:]
        return action

    def learn(self, actions: Tensor, rewards: Tensor) -> None:
        """Keep the rounds; update the policy after every `rollout` of them."""
        self.history.add(actions, rewards)
        everything = torch.ones(self.num_graphs, dtype=torch.bool)
        for action, reward in zip(actions.tolist(), rewards.tolist(), strict=True):
            place = next((k for k, chosen in enumerate(self._chosen) if chosen.action == action), None)
            chosen = self._round(everything, action) if place is None else self._chosen.pop(place)
            self.rounds.append(dataclasses.replace(chosen, reward=reward))
            if len(self.rounds) == self.settings.rollout:
                self._update()

    def known(self) -> list[Tensor]:
        """Return the tensors of the batch of graphs."""
        return self._tensors

    def state(self) -> State:
        """Return weights, optimizer, history, and the rounds since the last update."""
        return {
            **self._weights(),
            "history": self.history.state_dict(),
            "rounds": [dataclasses.asdict(played) for played in self.rounds],
            "chosen": [dataclasses.asdict(pending) for pending in self._chosen],
        }

    def restore(self, state: State) -> None:
        """Continue with weights, optimizer, history and rounds of a state."""
        self._restore(state)
        self.history.load_state_dict(state["history"])
        self.rounds = [Round(**fields) for fields in state["rounds"]]
        self._chosen = [Round(**fields) for fields in state["chosen"]]

    @torch.no_grad()
    def _evaluate(self, mask: Tensor) -> tuple[Tensor, float]:
        """Return logits `(K,)` float64, and the value."""
        scores, value = self.policy({"mask": mask})
        return (scores - scores.logsumexp(0)).double(), value.item()

    def _round(self, mask: Tensor, action: int) -> Round:
        logits, value = self._evaluate(mask)
        return Round(mask, action, value, logits.log_softmax(0)[action].item())

    def _update(self) -> None:
        """Maximise the clipped objective on the rounds, in epochs of minibatches    [Schulman et al. 2017, Eq. (9)].

            min(r A, clip(r, 1 - eps, 1 + eps) A) + c_H H - c_V (V - y)^2,   r = pi(a) / pi_old(a),   A = y - V_old

        A is standardised in each minibatch.
        """
        settings, before, (location, scale) = self.settings, self._weights(), self.history.location_and_scale()
        seed = int(torch.randint(2**32, (), generator=self.generator))
        shuffle = np.random.RandomState(seed).permutation
        masks = torch.stack([played.mask for played in self.rounds])
        actions = torch.tensor([played.action for played in self.rounds])
        values = torch.tensor([played.value for played in self.rounds])
        log_probabilities = torch.tensor([played.log_probability for played in self.rounds])
        advantages = torch.tensor([(played.reward - location) / scale for played in self.rounds]) - values
        returns, self.rounds = advantages + values, []
        for _ in range(settings.epochs):
            for some in torch.from_numpy(shuffle(len(masks))).split(settings.batch_size):
                scores, value = self.policy({"mask": masks[some]})
                policy, gains = Categorical(logits=scores, validate_args=False), advantages[some]
                if len(some) > 1:
                    gains = (gains - gains.mean()) / (gains.std() + 1e-8)
                ratio = (policy.log_prob(actions[some]) - log_probabilities[some]).exp()
                clipped = ratio.clamp(1 - settings.clip_range, 1 + settings.clip_range)
                loss = -torch.min(gains * ratio, gains * clipped).mean()
                loss = loss - settings.entropy_weight * policy.entropy().mean()
                loss = loss + settings.value_weight * torch.nn.functional.mse_loss(value, returns[some])
                self.optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.policy.parameters(), settings.max_grad_norm)
                self.optimizer.step()
        weights = [self._evaluate(torch.ones_like(masks[0]))[0], *self.policy.parameters()]
        if not all(numbers.isfinite().all() for numbers in weights):
            self._restore(before)
            raise DivergedError("The policy turned non-finite. Lower `learning_rate`.")

    def _weights(self) -> State:
        return copy.deepcopy({"policy": self.policy.state_dict(), "optimizer": self.optimizer.state_dict()})

    def _restore(self, weights: State) -> None:
        self.policy.load_state_dict(weights["policy"])
        self.optimizer.load_state_dict(copy.deepcopy(weights["optimizer"]))
