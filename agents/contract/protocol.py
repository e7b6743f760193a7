"""What an agent is, for those who write one and for those who run it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from torch_geometric.data import Data

State: TypeAlias = dict[str, Any]
"""A saved state: a nested dict of tensors and plain values."""


class DivergedError(FloatingPointError):
    """A fit turned non-finite. The agent still has its last finite weights; whoever runs it ends the repetition."""


@runtime_checkable
class GraphSetLike(Protocol):
    """K graphs, in the form in which agents are handed graph sets."""

    def to_pyg(self) -> list[Data]:
        """Return the graphs as PyG `Data`."""


@runtime_checkable
class MoleculeSetLike(GraphSetLike, Protocol):
    """K molecules, as `graph_bandit_env.MoleculeSet` holds them."""

    @property
    def smiles(self) -> Sequence[str]:
        """Return the SMILES of each molecule."""


@runtime_checkable
class Agent(Protocol):
    """A learner on a graph set. All randomness comes from the seed that `reset` is given."""

    @property
    def settings(self) -> object:
        """A frozen dataclass of JSON values: everything that sets this agent apart, seeds aside."""

    def reset(self, observation: object, seed: int = 0, graph_set: GraphSetLike | None = None) -> None:
        """Forget everything and take in the graphs.

        Args:
            observation: K Gymnasium `GraphInstance`, or indices if `graph_set` is given.
            seed: of all the agent's randomness.
            graph_set: None, or the K graphs.
        """

    def select_action(self, observation: object, action_mask: ArrayLike | None = None) -> int:
        """Return the index of a graph whose `action_mask` is 1 (None: all are allowed)."""

    def update(self, observation: object, action: ArrayLike, reward: ArrayLike) -> None:
        """Learn from one reward, or from equal-length arrays of many; no `select_action` needs to come before.

        Args:
            observation: in which the action was chosen, as in Gymnasium's (s, a, r); not the one that followed.
            action: the graph that was played.
            reward: what was seen.

        Raises:
            ValueError: if a reward is not finite or an action no graph of the set; nothing is changed then.
            DivergedError: if the fit turned non-finite.
        """

    def state_dict(self) -> State:
        """Return all that `reset` does not restore."""

    def load_state_dict(self, state: State) -> None:
        """Go on exactly where another agent stood; call `reset` with the same graphs first."""


@dataclass(frozen=True, eq=False)
class Prediction:
    """What an agent expects of each graph, in reward units.

    Attributes:
        mean: `(K,)` float64.
        std: `(K,)` float64. Standard deviation of the mean reward, exploration scale left out.
        noise_std: standard deviation of the noise of a reward, by marginal likelihood.
    """

    mean: NDArray[np.float64]
    std: NDArray[np.float64]
    noise_std: float


@runtime_checkable
class BatchAgent(Agent, Protocol):
    """An agent that can also choose several graphs at a time, and say what it expects of each."""

    def select_batch(
        self, observation: object, count: int, action_mask: ArrayLike | None = None, pending: Sequence[int] = ()
    ) -> list[int]:
        """Return `count` different graphs whose `action_mask` is 1, in the order of choice.

        Args:
            observation: as in `select_action`.
            count: how many.
            action_mask: `(K,)`; None: all are allowed.
            pending: graphs that are being measured, whose rewards are not known yet; they are not chosen.

        Raises:
            ValueError: if fewer are on offer.
        """

    def predict(self) -> Prediction:
        """Return what is expected of each graph now."""
