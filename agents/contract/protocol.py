"""Protocols of agents and graph sets, and the types that agents return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

if TYPE_CHECKING:
    from torch_geometric.data import Data

State: TypeAlias = dict[str, Any]
"""A saved state: a nested dict of tensors and plain values."""


class DivergedError(FloatingPointError):
    """A fit became non-finite. The agent keeps its last finite weights, and the caller should end the repetition."""


@runtime_checkable
class GraphSetLike(Protocol):
    """K graphs, in the form in which agents receive graph sets.

    An optional attribute `directed` of False promises that each edge exists in both directions, without a check.
    """

    def to_pyg(self) -> list[Data]:
        """Return the graphs as PyG `Data`."""


@runtime_checkable
class MoleculeSetLike(GraphSetLike, Protocol):
    """K molecules, as `graph_bandit_env.MoleculeSet` holds them.

    An optional attribute `columns`, `(K, c)` float64, holds the user's numbers, with NaN for unknown ones. Agents that
    read them have an attribute `uses_columns` that is True. A campaign with columns refuses other agents.

    Optional attributes `descriptors` and `scales` (`agents.molecule.Descriptors` and `Scales`) hold the structural
    descriptors of each molecule, and their scales if the molecules are part of a larger pool. The `molecule-` agents
    compute missing descriptors, and read the graphs only if an observation shows some.
    """

    @property
    def smiles(self) -> Sequence[str]:
        """Return the SMILES of each molecule."""


class SlotLike(Protocol):
    """A slot of actions, as `graph_bandit_env.pools.Slot` holds it."""

    @property
    def name(self) -> str:
        """Return its name."""

    @property
    def kind(self) -> str:
        """Return the kind of its choices: "structure", "category" or "number"."""

    @property
    def choices(self) -> Sequence[str] | Sequence[float]:
        """Return the B choices, with an empty text for no part."""

    @property
    def graphs(self) -> GraphSetLike | None:
        """Return the structures, one for each non-empty choice, or None if the choices are not structures."""


@runtime_checkable
class SlotSetLike(GraphSetLike, Protocol):
    """K actions of S slots, as `graph_bandit_env.pools.SlotSet` holds them. Their graphs are unions of their parts."""

    @property
    def slots(self) -> Sequence[SlotLike]:
        """Return the slots."""

    @property
    def places(self) -> NDArray[np.int64]:
        """Return the choice in each slot of each action, `(K, S)`."""


@runtime_checkable
class Agent(Protocol):
    """A learner on graph sets. All its randomness comes from the seed given to `reset`.

    The graphs of a round are those of its observation. An observation of None or indices means those of `reset`. An
    agent that plays on one graph set refuses other graphs in the first round that shows them.

    An optional attribute `reads` declares the parts of a graph that the agent reads, a frozenset out of `READABLE`.
    """

    @property
    def settings(self) -> object:
        """A frozen dataclass of JSON values that determines the agent's play, apart from seeds."""

    def reset(self, observation: object, seed: int = 0, graph_set: GraphSetLike | None = None) -> None:
        """Forget everything and read the graphs.

        Args:
            observation: a tuple of K Gymnasium `GraphInstance`, or indices if `graph_set` is given.
            seed: seed of all the agent's randomness.
            graph_set: the K graphs. None: take them from the observation.
        """

    def select_action(self, observation: object, action_mask: ArrayLike | None = None) -> int:
        """Return the index of a graph to play.

        Args:
            observation: observation of this round, whose K graphs are played.
            action_mask: `(K,)`. 1 for the allowed graphs, 0 for the others. None: all are allowed. It may be padded
                with zeros if the number of graphs varies.

        Returns:
            A Python int from 0 to K - 1.

        Raises:
            ValueError: if the observation shows unsupported graphs, or the mask does not fit them.
        """

    def update(self, observation: object, action: ArrayLike, reward: ArrayLike) -> None:
        """Learn from one reward, or from arrays of many. No earlier call of `select_action` is needed.

        Args:
            observation: the one in which the action was chosen, as in Gymnasium's (s, a, r), not the next one. With
                delayed rewards it may belong to an earlier round.
            action: index of the graph that was played, or `(n,)` integers.
            reward: the reward that was observed, or `(n,)` numbers.

        Raises:
            ValueError: if a reward is not finite, an action is not a graph of the observation, or the graphs are
                unsupported. The agent is then unchanged.
            DivergedError: if the fit became non-finite.
        """

    def state_dict(self) -> State:
        """Return all state that `reset` does not restore."""

    def load_state_dict(self, state: State) -> None:
        """Continue exactly from a saved state. Call `reset` with the same graphs first."""


@dataclass(frozen=True, eq=False)
class Prediction:
    """An agent's prediction of the mean reward of each graph, in reward units.

    Attributes:
        mean: `(K,)` float64. Posterior mean of the mean reward.
        std: `(K,)` float64. Posterior standard deviation of the mean reward, without the exploration scale.
        noise_std: standard deviation of the noise of a reward, by marginal likelihood.
        quantiles: returns the quantile of one more reward of each graph, `(K,)` float64, for a probability between 0
            and 1. None for normal rewards.
        exceeds: returns the probability that one more reward of each graph exceeds a value, `(K,)` float64. None for
            normal rewards.
    """

    mean: NDArray[np.float64]
    std: NDArray[np.float64]
    noise_std: float
    quantiles: Callable[[float], NDArray[np.float64]] | None = None
    exceeds: Callable[[float], NDArray[np.float64]] | None = None

    def interval(self, level: float = 0.9) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the prediction interval of one more reward of each graph, noise included.

        Args:
            level: the probability of the interval, between 0 and 1, both excluded. Both tails have equal probability.

        Returns:
            The lower and the upper bounds, `(K,)` float64 each, in reward units.

        Raises:
            ValueError: if `level` is not between 0 and 1.
        """
        if not 0 < level < 1:
            raise ValueError(f"Expected `level` between 0 and 1. Got {level!r}.")
        if self.quantiles is not None:
            return self.quantiles((1 - level) / 2), self.quantiles((1 + level) / 2)
        half = NormalDist().inv_cdf((1 + level) / 2) * np.hypot(self.std, self.noise_std)
        return self.mean - half, self.mean + half

    def probability_above(self, value: float) -> NDArray[np.float64]:
        """Return the probability that one more reward of each graph exceeds a value, noise included, `(K,)` float64.

            P(r > value) = Phi((mean - value) / sqrt(std^2 + noise_std^2)),   if rewards are normal

        Args:
            value: in reward units.
        """
        if self.exceeds is not None:
            return self.exceeds(value)
        spread = np.maximum(np.hypot(self.std, self.noise_std), 1e-300)
        return np.asarray(ndtr((self.mean - value) / spread), np.float64)


@runtime_checkable
class BatchAgent(Agent, Protocol):
    """An agent that can also choose several graphs at a time, and predict the mean reward of each."""

    def select_batch(
        self, observation: object, count: int, action_mask: ArrayLike | None = None, pending: Sequence[int] = ()
    ) -> list[int]:
        """Return `count` different graphs that `action_mask` allows, in the order of choice.

        Args:
            observation: as in `select_action`.
            count: number of graphs to choose.
            action_mask: `(K,)`, as in `select_action`.
            pending: graphs being measured. Their rewards are unknown, and they are not chosen.

        Raises:
            ValueError: if fewer than `count` graphs are on offer.
        """

    def predict(self) -> Prediction:
        """Return the current prediction of the mean reward of each graph of the last observation."""


@runtime_checkable
class MeanPredictor(Protocol):
    """An agent that can cheaply predict the mean reward of each graph.

    The laboratory requests the recommended graph after each choice. It does not need `std` or noise, which
    `BatchAgent.predict` may fit. After a choice, the means are usually already computed.
    """

    def predict_means(self) -> NDArray[np.float64]:
        """Return the predicted mean reward of each graph of the last observation, `(K,)` float64, in reward units.

        The call draws nothing from the agent's generators and changes no later choice.
        """
