"""Train PPO of Stable-Baselines3 on given rounds, without an environment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import torch
from gymnasium.spaces import Box, Dict, Discrete
from numpy.typing import NDArray
from stable_baselines3 import PPO
from stable_baselines3.common.logger import Logger

from agents.contract.protocol import GraphSetLike
from agents.contract.settings import Must, check_fields
from agents.sb3.policy import GraphSetPolicy

Observation = dict[str, NDArray[Any]]
Several = Annotated[int, Must(lambda count: count >= 2, "an integer >= 2")]


@dataclass(frozen=True, kw_only=True)
class PPOSettings:
    """Settings of `sb3-ppo`: Proximal Policy Optimization of Stable-Baselines3 on the agent's own rounds.

    Raises:
        ValueError: if a field is out of its range.
    """

    rollout: Several = 8
    """Rounds between two updates of the policy; an update learns only from these rounds. At least 2."""
    epochs: int = 10
    """Passes over the rounds of an update."""
    batch_size: Several = 8
    """Rounds in a step of the optimizer; at least 2."""
    learning_rate: float = 0.01
    """Learning rate of Adam."""
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

    mask: tuple[int, ...]
    """1 for each graph on offer, else 0."""
    action: int
    """The graph that was played."""
    value: float
    """Predicted mean reward of the policy, in standard deviations."""
    log_probability: float
    """Logarithm of the probability of the action when it was chosen."""
    reward: float
    """The reward that was observed."""


def make_ppo(graph_set: GraphSetLike, num_graphs: int, settings: PPOSettings, seed: int) -> PPO:
    """Make PPO without an environment, for a graph set that never changes.

    Args:
        graph_set: K graphs; any object with `to_pyg()`.
        num_graphs: K.
        settings: settings of the agent.
        seed: seed of the initial weights.

    Returns:
        A PPO that trains on its rollout buffer. Its `collect_rollouts` and `learn` cannot be used, because they need an
        environment.
    """
    ppo = PPO(
        GraphSetPolicy,
        None,  # type: ignore[arg-type]
        n_steps=settings.rollout,
        batch_size=settings.batch_size,
        n_epochs=settings.epochs,
        learning_rate=settings.learning_rate,
        gamma=0.0,  # a play does not change later rounds
        clip_range=settings.clip_range,
        ent_coef=settings.entropy_weight,
        vf_coef=settings.value_weight,
        max_grad_norm=settings.max_grad_norm,
        policy_kwargs={"features_extractor_kwargs": {"graph_set": graph_set, "features_dim": settings.embedding}},
        device="cpu",
        _init_setup_model=False,
    )
    ppo.observation_space = Dict(
        {"indices": Box(-1, num_graphs - 1, (num_graphs,), np.int64), "mask": Box(0, 1, (num_graphs,), np.int8)}
    )
    ppo.action_space, ppo.n_envs = Discrete(num_graphs), 1
    ppo.set_logger(Logger(folder=None, output_formats=[]))
    with seeded_global_generators(seed):
        ppo._setup_model()
    ppo.policy.set_training_mode(False)
    return ppo


def observe(mask: Sequence[int]) -> Observation:
    """Return the observation of `GraphSetIndices` for a mask `(K,)`."""
    offered = np.asarray(mask, np.int8)
    indices = np.full(len(offered), -1, np.int64)
    indices[: offered.sum()] = np.flatnonzero(offered)
    return {"indices": indices, "mask": offered}


def train(ppo: PPO, rounds: Sequence[Round], location: float, scale: float, seed: int) -> None:
    """Update the policy by some rounds, each an episode by itself.

        advantage = (y_t - location) / scale - V

    Args:
        ppo: from `make_ppo`.
        rounds: as many as a rollout has steps.
        location: subtracted from the rewards.
        scale: the rewards are then divided by it.
        seed: seed of the order of the batches.
    """
    buffer = ppo.rollout_buffer
    buffer.reset()
    for played in rounds:
        buffer.add(
            observe(played.mask),  # type: ignore[arg-type]
            np.array([[played.action]]),
            np.array([(played.reward - location) / scale]),
            np.ones(1),
            torch.tensor([played.value]),
            torch.tensor([played.log_probability]),
        )
    buffer.compute_returns_and_advantage(torch.zeros(1), np.ones(1))
    with seeded_global_generators(seed):
        ppo.train()
    ppo.policy.set_training_mode(False)


@contextmanager
def seeded_global_generators(seed: int) -> Iterator[None]:
    """Seed the global generators that Stable-Baselines3 draws from (torch, NumPy), and restore them afterwards."""
    before = np.random.get_state()  # noqa: NPY002 - the global generator is the one to restore
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # not `torch.manual_seed`, which also seeds every GPU
        np.random.seed(seed % 2**32)  # noqa: NPY002
        try:
            yield
        finally:
            np.random.set_state(before)  # noqa: NPY002
