"""Read the user's own graphs as an environment, once per process, and identify them in results by content."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env import GraphPool, GraphSet, MoleculeSet, SlotSet
from graph_bandit_env.files import digest, is_file_of_graphs, is_name, read_pool
from graph_bandit_lab.design.names import COLUMN, FEEDBACK, TARGET

POOLS_HELD = 2  # in memory, in each process
OUTLINES_HELD = 1000  # outlines in memory, in each process: a few numbers per graph


@dataclass(frozen=True, kw_only=True)
class PoolFile:
    """Source of graphs, and how to read it."""

    source: str
    """Path of a file, or the name of a pool."""
    target: str | None = None
    """Column of the mean rewards. None uses the column that the file names, if any."""
    smiles: str = "smiles"
    """Column of the SMILES."""
    with_values: bool = True
    """Read values, and drop graphs without one if others have one. False keeps all graphs."""
    noise_column: str | None = None
    """Column of each graph's noise standard deviation. None if the file has none."""
    skip_bad_rows: bool = False
    """Skip rows that cannot be read as molecules."""
    slot: tuple[str, ...] = ()
    """Slot columns of a table of actions."""
    ignore_column: tuple[str, ...] = ()
    """Columns in which replicate rows of a molecule may differ."""
    directed: bool | None = None
    """Keep edge directions. None follows the file."""
    num_graphs: int = 0
    """Number of graphs to draw if the source is a kind of graphs, otherwise 0."""
    seed: int = 0
    """Seed of the draw."""

    def __post_init__(self) -> None:
        if self.is_file or self.source == "library":  # its graphs are fixed
            object.__setattr__(self, "num_graphs", 0)

    @property
    def is_file(self) -> bool:
        """Return True if the source is a file, False if it is the name of a pool."""
        return not is_name(self.source)

    @property
    def name(self) -> str:
        """Return the display name: the file name, and the target column in parentheses."""
        return Path(self.source).name + ("" if self.target is None else f" ({self.target})")


@dataclass(frozen=True, kw_only=True)
class Contents:
    """Facts about graphs for settings and results, which do not hold the graphs."""

    digest: str
    """Hash of everything that can affect play. Results identify the graphs by it."""
    num_graphs: int
    num_nodes: tuple[int, int]
    """Number of nodes of the smallest and the largest graph."""
    feature_dim: int
    are_molecules: bool
    """True if agents that need molecules can play."""
    have_values: bool
    """True if there are measured values, which can serve as mean rewards."""
    left_out: int
    """Number of graphs skipped because they have no value and others have one."""
    skipped: tuple[tuple[int, str], ...] = ()
    """Line and problem of each skipped row that cannot be read."""
    remarks: tuple[str, ...] = ()
    """Remarks for users on the columns found in a table."""


@dataclass(frozen=True, eq=False)
class OwnGraphs:
    """Graphs, with their values stored separately because an agent must not see them."""

    graphs: GraphSet
    means: NDArray[np.float64] | None
    """`(K,)`. Measured values, used as mean rewards. None if nothing was measured."""
    contents: Contents
    noise: NDArray[np.float64] | None = None
    """`(K,)`. Noise standard deviation of each graph's rewards. None if the file has none."""

    def rewards(self, reward_model: str, minimize: bool) -> str | NDArray[np.float64]:
        """Return the mean rewards: the values, minus the values, or the name of a random function."""
        if reward_model != TARGET or self.means is None:
            return reward_model
        return -self.means if minimize else self.means

    def first(self, count: int) -> OwnGraphs:
        """Return only the first graphs, for a quick trial."""
        kept = range(min(count, len(self.graphs)))
        means = None if self.means is None else self.means[: len(kept)]
        noise = None if self.noise is None else self.noise[: len(kept)]
        return OwnGraphs(self.graphs.take(kept), means, self.contents, noise)


def read_own_graphs(file: PoolFile) -> OwnGraphs:
    """Read graphs. An unchanged file is read once per process.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it cannot be read, or holds no value of the target.
        ImportError: if a package that reads it is not installed.
    """
    return _read(file, _last_change(file))


def read_played(file: PoolFile, environment: Mapping[str, Any], seed: int) -> OwnGraphs:
    """Read the graphs of a repetition, which depend on its seed if each repetition draws its own.

    Args:
        file: source of the graphs.
        environment: the settings, as stored in results.
        seed: seed of the repetition.

    Raises:
        FileNotFoundError: if the file no longer exists.
        ValueError: if its content has changed since the repetition was planned.
    """
    own = read_own_graphs(file)
    if own.contents.digest != environment["graphs"]:
        raise ValueError(
            f"{file.name} has changed since it was planned or played: its graphs, values or noise differ. Give the old "
            "file, with the same `target` and `noise_column`, or play the new one into another folder."
        )
    draws_own = file.num_graphs and environment["resample_graphs"]
    return read_own_graphs(replace(file, seed=seed)) if draws_own else own


def read_outline(file: PoolFile) -> OwnGraphs:
    """Read contents, values and noise to check settings, with a single node in place of each graph.

    Planning a sweep checks each file many times. The outline is cached, so that each file is read once.

    Raises:
        FileNotFoundError, ValueError, ImportError: as `read_own_graphs`.
    """
    return _outline(file, _last_change(file))


def _last_change(file: PoolFile) -> tuple[int, int] | None:
    """Return the modification time and size of a file, or None if it does not exist."""
    path = Path(file.source)
    state = path.stat() if path.exists() else None
    return state and (state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=OUTLINES_HELD)
def _outline(file: PoolFile, changed: tuple[int, int] | None) -> OwnGraphs:
    own = _read(file, changed)
    points = GraphSet([np.zeros((1, own.contents.feature_dim))], [[]]).take([0] * own.contents.num_graphs)
    return replace(own, graphs=own.graphs if isinstance(own.graphs, SlotSet) else points)  # slots are few


@lru_cache(maxsize=POOLS_HELD)
def _read(file: PoolFile, changed: tuple[int, int] | None) -> OwnGraphs:
    """Read graphs again if the time or size of the file has `changed`."""
    pool, spread = _read_pool(file)
    known = np.flatnonzero(pool.known) if file.with_values else np.zeros(0, np.int64)
    if file.with_values and file.target is not None and not len(known):
        raise ValueError(f"Expected numbers in `{file.target}` of {file.source}. Got none.")
    measured = pool.take(known) if 0 < len(known) < len(pool) else pool
    noise = None if spread is None else spread[known]
    if noise is not None and not (noise >= 0).all():  # NaN is not
        raise ValueError(f"Expected a number >= 0 in `{file.noise_column}` for each value of {file.source}.")
    graphs, values = _without_values(measured), measured.targets.copy() if len(known) else None
    counts, hashed = measured.num_nodes, digest(graphs if values is None else measured)
    if noise is not None:  # also affects play
        content = hashed.encode() + np.ascontiguousarray(noise + 0.0, "<f8").tobytes()  # one form of zero
        hashed = hashlib.sha256(content).hexdigest()[:32]
    contents = Contents(
        digest=hashed,
        num_graphs=len(measured),
        num_nodes=(int(counts.min()), int(counts.max())),
        feature_dim=measured.feature_dim,
        are_molecules=isinstance(measured, MoleculeSet),
        have_values=len(known) > 0,
        left_out=len(pool) - len(measured),
        skipped=tuple(getattr(pool, "skipped", ())),
        remarks=getattr(pool, "remarks", ()),
    )
    return OwnGraphs(graphs, values, contents, noise)


def _read_pool(file: PoolFile) -> tuple[GraphPool, NDArray[np.float64] | None]:
    """Return the graphs, and the noise standard deviation of each, NaN if it has none.

    Molecules are used as written, so that stored results can be continued. A table of molecules is read once, because
    the set of readable rows depends on the columns. Other files reject bad rows.
    """
    read = partial(read_pool, file.source, smiles=file.smiles, on_error="skip" if file.skip_bad_rows else "raise")
    read = partial(read, directed=file.directed, num_graphs=file.num_graphs, seed=file.seed)
    read = partial(read, slots=file.slot, ignore_columns=file.ignore_column)
    if not file.is_file or file.slot or is_file_of_graphs(Path(file.source)):
        return read(file.target), None if file.noise_column is None else read(file.noise_column).targets
    read = partial(read, salts="separate")
    if file.noise_column is None:
        return read(file.target), None
    pool = cast("MoleculeSet", read(file.target, columns=(file.noise_column,)))  # other graphs reject it
    noise, pool.columns, pool.column_names = pool.columns[:, 0], pool.columns[:, 1:], pool.column_names[1:]
    return pool, noise


def _without_values(pool: GraphPool) -> GraphSet:
    """Return the graphs without their values, which an agent must not see."""
    return pool.without_targets() if isinstance(pool, MoleculeSet | SlotSet) else GraphSet.take(pool, range(len(pool)))


def to_arguments(environment: Mapping[str, Any], own: OwnGraphs | None = None) -> dict[str, Any]:
    """Return the keywords of `registry.make_environment`. Agents observe graphs if these change, otherwise indices.

    Args:
        environment: the settings, as stored in results.
        own: the user's own graphs, if any.
    """
    each_round = environment["resample_graphs"] == "round"
    arguments = {**environment, "observe": "graphs" if each_round else "indices"}
    without = {*FEEDBACK, "minimize"}
    if own is not None:
        without |= {"graph_model", "num_nodes", "feature_dim"}  # given by the graphs
        without |= set() if environment["resample_graphs"] else {"num_graphs"}
        arguments["graphs"] = own.graphs
        arguments["reward_model"] = own.rewards(environment["reward_model"], environment["minimize"])
        arguments["noise_std"] = own.noise if environment["noise_std"] == COLUMN else environment["noise_std"]
    return {name: value for name, value in arguments.items() if name not in without}
