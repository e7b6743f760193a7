"""Define the log of an episode, with actions, their probabilities and rewards, and its file."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.contract import GraphSetLike
from graph_bandit_env import GraphSet
from graph_bandit_env.files import digest
from graph_bandit_env.storage import MOST_DEFLATED, replace_file, unpacked_size

FORMAT = 1
ROUNDING = 1e-6  # of sums of probabilities
ABOUT = ("learns", "least", "graphs", "facts")
ARRAYS = ("actions", "rewards", "probabilities", "masks")


@dataclass(frozen=True, eq=False, kw_only=True)
class Log:
    """T rounds on one set of K graphs, with the probabilities by which they were played.

    Raises:
        ValueError: if shapes differ, a number is not finite, probabilities of a round do not sum to 1 over the graphs
            on offer, or a round played a graph that it could not play.
    """

    actions: NDArray[np.int64]
    """`(T,)`. Graphs played."""
    rewards: NDArray[np.float64]
    """`(T,)`. Rewards observed."""
    probabilities: NDArray[np.float64]
    """`(T, K)`. p_t, the probability of playing each graph in each round."""
    masks: NDArray[np.bool_]
    """`(T, K)`. True for graphs on offer."""
    learns: bool
    """True if actions depended on earlier rewards. False for a policy fixed before the first round."""
    least: float = 0.0
    """Floor of the log: a lower bound on the probability of each graph on offer, for any rewards."""
    graphs: str = ""
    """Digest of the graph set (`graph_bandit_env.files.digest`), "" if unknown."""
    facts: Mapping[str, object] = field(default_factory=dict)
    """JSON: agent, settings, seed, floor, versions."""

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        for name, kind in zip(ARRAYS, (np.int64, np.float64, np.float64, np.bool_), strict=True):
            set_field(self, name, _read_only(name, getattr(self, name), kind))
        shape = (len(self.actions), self.probabilities.shape[-1])
        shapes = [getattr(self, name).shape for name in ARRAYS]
        if shapes != [shape[:1], shape[:1], shape, shape] or 0 in shape or not np.isfinite(self.rewards).all():
            raise ValueError(f"Expected finite numbers of shapes (T,), (T,), (T, K), (T, K), not empty. Got {shapes}.")
        near = np.abs(self.probabilities.sum(1) - 1) <= ROUNDING
        if (self.probabilities < 0).any() or not near.all() or self.probabilities[~self.masks].any():
            raise ValueError("Expected probabilities of each round that sum to 1 over the graphs on offer. Got others.")
        if self.actions.min() < 0 or self.actions.max() >= shape[1] or not (self.propensities > 0).all():
            raise ValueError("Expected plays with a positive probability. Got another graph, or a probability of 0.")
        if not 0 <= self.least <= self.probabilities[self.masks].min() + ROUNDING:
            raise ValueError(f"Expected `least` to be at most each probability on offer. Got {self.least!r}.")

    def __repr__(self) -> str:
        kind = "of an agent that learned" if self.learns else "of a fixed policy"
        return f"Log({self.num_rounds} rounds, {self.num_graphs} graphs, {kind})"

    @property
    def num_rounds(self) -> int:
        """Return T."""
        return len(self.actions)

    @property
    def num_graphs(self) -> int:
        """Return K."""
        return int(self.masks.shape[1])

    @property
    def propensities(self) -> NDArray[np.float64]:
        """Return the probability of the graph played in each round, `(T,)`."""
        return np.asarray(self.probabilities[np.arange(len(self.actions)), self.actions])

    def check_graphs(self, graph_set: GraphSetLike | None) -> GraphSetLike:
        """Return a graph set if it matches the digest of the log, if any.

        Raises:
            ValueError: if it is None or a different set.
        """
        if graph_set is None:
            raise ValueError("Expected `graph_set`, the graphs of the log. Got None.")
        if self.graphs and isinstance(graph_set, GraphSet) and digest(graph_set) != self.graphs:
            raise ValueError("Expected the graph set of the log. Got another one: their digests differ.")
        return graph_set

    def save(self, path: str | Path) -> None:
        """Write a NumPy archive of arrays and JSON, which never runs code. An existing file is replaced."""
        about = {name: getattr(self, name) for name in ABOUT}
        encoded = np.frombuffer(json.dumps({"format": FORMAT, **about}).encode(), np.uint8)
        buffer = io.BytesIO()
        np.savez_compressed(buffer, allow_pickle=False, about=encoded, **{name: getattr(self, name) for name in ARRAYS})
        replace_file(Path(path), buffer.getvalue())

    @classmethod
    def load(cls, path: str | Path) -> Log:
        """Read a log written by `save`.

        Raises:
            FileNotFoundError: if there is no such file.
            ValueError: if it is not such a log, or is damaged.
        """
        content = Path(path).read_bytes()
        try:
            with ZipFile(io.BytesIO(content)) as packed:
                if unpacked_size(packed) > MOST_DEFLATED * len(content):
                    raise BadZipFile("files overlap")
            with np.load(io.BytesIO(content), allow_pickle=False) as archive:
                about = json.loads(archive["about"].tobytes())
                arrays = {name: archive[name] for name in ARRAYS}
            if about["format"] != FORMAT:
                raise ValueError(f"it has format {about['format']}")
            return cls(**arrays, **{name: about[name] for name in ABOUT})
        except Exception as error:  # NumPy, zipfile and json raise all kinds of errors at damaged bytes
            raise ValueError(f"Expected {path} to be a log that `Log.save` wrote. It is not: {error}.") from error


def _read_only(name: str, values: ArrayLike, kind: type[np.generic]) -> NDArray[np.generic]:
    """Return a read-only copy of numbers of this kind. Integers are accepted for floats."""
    array = np.array(values)
    if not np.can_cast(array.dtype, kind, "same_kind") or (kind is np.bool_ and array.dtype != np.bool_):
        raise ValueError(f"Expected `{name}` to hold {kind.__name__}. Got {array.dtype}.")
    array = array.astype(kind)
    array.flags.writeable = False
    return array
