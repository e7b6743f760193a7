"""The user's own graphs as an environment: read once a process, and known in results by their content."""

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
OUTLINES_HELD = 1000  # the same of outlines: some numbers for each graph


@dataclass(frozen=True, kw_only=True)
class PoolFile:
    """Where graphs are read from, and how."""

    source: str
    """Path of a file, or the name of a pool."""
    target: str | None = None
    """Column of the mean rewards; None: that of the file, if it names one."""
    smiles: str = "smiles"
    """Column of the SMILES."""
    with_values: bool = True
    """Whether values are read; without them all graphs stay."""
    noise_column: str | None = None
    """Column of the standard deviation of each graph's noise; None: the file has none."""
    skip_bad_rows: bool = False
    """Leave out rows that cannot be read as molecules."""
    slot: tuple[str, ...] = ()
    """Columns of slots of a table of actions."""
    ignore_column: tuple[str, ...] = ()
    """Columns in which rows of one molecule may differ."""
    directed: bool | None = None
    """Whether directions of edges are kept; None: as the file says."""
    num_graphs: int = 0
    """How many graphs are drawn, if the source is a kind; else 0."""
    seed: int = 0
    """Seed by which they are drawn."""

    def __post_init__(self) -> None:
        if self.is_file or self.source == "library":  # is the same, whatever is asked for
            object.__setattr__(self, "num_graphs", 0)

    @property
    def is_file(self) -> bool:
        """Return whether the source is a file, not the name of a pool that is made."""
        return not is_name(self.source)

    @property
    def name(self) -> str:
        """Return the name by which people know the graphs: that of the file, and of the column."""
        return Path(self.source).name + ("" if self.target is None else f" ({self.target})")


@dataclass(frozen=True, kw_only=True)
class Contents:
    """What settings and results need to know of graphs that they do not hold."""

    digest: str
    """Hash of all that can affect play, by which results know the graphs."""
    num_graphs: int
    num_nodes: tuple[int, int]
    """Nodes of the smallest and of the largest graph."""
    feature_dim: int
    are_molecules: bool
    """Whether agents that need molecules can play."""
    have_values: bool
    """Whether values were measured, which can be the mean rewards."""
    left_out: int
    """Graphs that were left out, because they have no value where others have one."""
    skipped: tuple[tuple[int, str], ...] = ()
    """Line and problem of each row that was left out, because it cannot be read."""
    remarks: tuple[str, ...] = ()
    """Remarks on columns that were found in a table, for people."""


@dataclass(frozen=True, eq=False)
class OwnGraphs:
    """Graphs, and their values apart from them: an agent sees the graphs, and must not see the values."""

    graphs: GraphSet
    means: NDArray[np.float64] | None
    """`(K,)`. Measured values, which are the mean rewards; None: nothing was measured."""
    contents: Contents
    noise: NDArray[np.float64] | None = None
    """`(K,)`. Standard deviation of the noise of each graph's rewards; None: the file has none."""

    def rewards(self, reward_model: str, minimize: bool) -> str | NDArray[np.float64]:
        """Return the mean rewards: the values, or minus the values, or the name of a random function."""
        if reward_model != TARGET or self.means is None:
            return reward_model
        return -self.means if minimize else self.means

    def first(self, count: int) -> OwnGraphs:
        """Return the first graphs alone, to try something on."""
        kept = range(min(count, len(self.graphs)))
        means = None if self.means is None else self.means[: len(kept)]
        noise = None if self.noise is None else self.noise[: len(kept)]
        return OwnGraphs(self.graphs.take(kept), means, self.contents, noise)


def read_own_graphs(file: PoolFile) -> OwnGraphs:
    """Read graphs; the same file, unchanged, is read once in a process.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it cannot be read, or holds no value of the target.
        ImportError: if a package that reads it is not installed.
    """
    return _read(file, _last_change(file))


def read_played(file: PoolFile, environment: Mapping[str, Any], seed: int) -> OwnGraphs:
    """Read the graphs of a repetition: of a kind, those of its seed if each repetition draws its own.

    Args:
        file: where the graphs are read from.
        environment: as results store it.
        seed: of the repetition.

    Raises:
        FileNotFoundError: if the file is gone.
        ValueError: if it does not hold what it held when the repetition was planned.
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
    """Read what settings are checked against: contents, values and noise, with a point in place of each graph.

    Planning a sweep goes over its files again and again. It holds this of each, and so reads each once.

    Raises:
        FileNotFoundError, ValueError, ImportError: as `read_own_graphs`.
    """
    return _outline(file, _last_change(file))


def _last_change(file: PoolFile) -> tuple[int, int] | None:
    """Return time and size of a file; None if there is none."""
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
    """Read graphs again when time or size of the file have `changed`."""
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
    if noise is not None:  # which affects play, too
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
    """Return the graphs, and the standard deviation of the noise of each, NaN where there is none.

    Molecules are played as they are written, so that stored results go on. Tables of them are read once: which rows can
    be read depends on what is read. Other files refuse bad rows.
    """
    read = partial(read_pool, file.source, smiles=file.smiles, on_error="skip" if file.skip_bad_rows else "raise")
    read = partial(read, directed=file.directed, num_graphs=file.num_graphs, seed=file.seed)
    read = partial(read, slots=file.slot, ignore_columns=file.ignore_column)
    if not file.is_file or file.slot or is_file_of_graphs(Path(file.source)):
        return read(file.target), None if file.noise_column is None else read(file.noise_column).targets
    read = partial(read, salts="separate")
    if file.noise_column is None:
        return read(file.target), None
    pool = cast("MoleculeSet", read(file.target, columns=(file.noise_column,)))  # which other graphs refuse
    noise, pool.columns, pool.column_names = pool.columns[:, 0], pool.columns[:, 1:], pool.column_names[1:]
    return pool, noise


def _without_values(pool: GraphPool) -> GraphSet:
    """Return the graphs alone, for an agent must not see what it is to find out."""
    return pool.without_targets() if isinstance(pool, MoleculeSet | SlotSet) else GraphSet.take(pool, range(len(pool)))


def to_arguments(environment: Mapping[str, Any], own: OwnGraphs | None = None) -> dict[str, Any]:
    """Return the keywords of `registry.make_environment`: agents observe graphs where these change, else indices.

    Args:
        environment: as results store it.
        own: the user's own graphs, if the environment has some.
    """
    each_round = environment["resample_graphs"] == "round"
    arguments = {**environment, "observe": "graphs" if each_round else "indices"}
    without = {*FEEDBACK, "minimize"}
    if own is not None:
        without |= {"graph_model", "num_nodes", "feature_dim"}  # by the graphs themselves
        without |= set() if environment["resample_graphs"] else {"num_graphs"}
        arguments["graphs"] = own.graphs
        arguments["reward_model"] = own.rewards(environment["reward_model"], environment["minimize"])
        arguments["noise_std"] = own.noise if environment["noise_std"] == COLUMN else environment["noise_std"]
    return {name: value for name, value in arguments.items() if name not in without}
