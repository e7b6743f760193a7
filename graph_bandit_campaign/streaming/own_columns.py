"""The user's own columns of a prepared pool: read some, and rank them over the whole pool, once for each column."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from agents.molecule import Moments, Ranks, Rater, Scales
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.prepared import MANIFEST, Block, PreparedPool
from graph_bandit_campaign.streaming.cells import ColumnNames, read_cells
from graph_bandit_campaign.tables.features import Features
from graph_bandit_campaign.traits.described import DescribedMolecules
from graph_bandit_env.tables import Table
from graph_bandit_lab.storage import replace_file

FORMAT = 1  # of the files; raise it when their content changes

Floats = NDArray[np.float64]


def find_own_columns(header: Table, settings: SuggestSettings) -> Features:
    """Return the user's own columns of a prepared pool.

    Args:
        header: the columns of the pool.
        settings: settings of the command.

    Raises:
        ValueError: if a column is missing, or a file of embeddings is given.
    """
    if settings.embeddings:
        raise ValueError(
            f"Expected columns of the table that {settings.pool} was made from for `--features`. Got "
            f"{settings.embeddings[0]}: embeddings of a whole pool are read with a table in memory alone."
        )
    list(header.rows(settings.feature_columns))  # there are no rows; a column that is missing is refused
    return Features(settings.feature_columns, (), settings.quantities)


def read_own_columns(block: Block, columns: Sequence[str], settings: SuggestSettings) -> Floats:
    """Read columns of numbers of a block, `(K, c)`: the mean of what the rows of a molecule know, else NaN.

    Args:
        block: molecules with the cells of these columns.
        columns: names of the columns.
        settings: settings of the command.

    Raises:
        ValueError: if a cell is not a number, and `--skip-bad-rows` is not set. If it is set, it counts as not known.
    """
    # The rule that prices are above 0 is left out: what is kept of a column serves commands with and without `--price`.
    names, rules = (
        ColumnNames({name: name for name in columns}),
        replace(settings, price=None, budget=None, budget_only=False),
    )
    cells = read_cells(block.cells, names, rules).numbers
    return block.means([cells[name] for name in columns])


def rank_own_columns(pool: PreparedPool, columns: Sequence[str], settings: SuggestSettings) -> Ranks:
    """Rank columns over the whole pool.

    The values of a column in increasing order, 8 bytes for each molecule, are kept in a hidden file of the folder, if
    it is not read-only: the next time they are not read again, and other processes read of them what they need.

    Raises:
        ValueError: as `read_own_columns`, or if a column has no number at all, or a part is damaged.
    """
    made = hashlib.sha256((pool.folder / MANIFEST).read_bytes()).hexdigest()
    keys = {
        name: hashlib.sha256(json.dumps([FORMAT, made, name, settings.skip_bad_rows]).encode()).hexdigest()[:16]
        for name in columns
    }
    kept = {name: values for name, key in keys.items() if (values := _find(pool.folder, key)) is not None}
    missing = [name for name in columns if name not in kept]
    for name, values in _sort(pool, missing, settings).items() if missing else ():
        if not len(values):
            raise ValueError(f"Expected at least one number in column `{name}` of {settings.pool}. Got none.")
        kept[name] = _keep(pool.folder, keys[name], values)
    return Ranks.of_runs([(kept[name],) for name in columns])


def add_results(
    molecules: DescribedMolecules, features: Features, known: Mapping[str, Sequence[float]]
) -> tuple[DescribedMolecules, list[tuple[str, tuple[float, ...]]]]:
    """Return molecules of a pool with the values that results have of the user's own columns, which are ranked, too.

    Args:
        molecules: all molecules that the results speak of, and perhaps others, with ranks of the whole pool.
        features: the columns.
        known: values in the results, by id; they count where the pool has none.

    Returns:
        The molecules, and the ids and values of those that results have added to, NaN where one was not added.
    """
    scales = molecules.scales
    if not known or scales is None or scales.ranks is None:
        return molecules, []
    filled = features.add_to(molecules, known)
    added = np.where(np.isnan(molecules.columns), filled.columns, np.nan)
    whole = Scales(scales.moments, scales.ranks.merge(Ranks.of(added)))
    new = [(molecules.ids[k], tuple(added[k].tolist())) for k in np.flatnonzero(~np.isnan(added).all(axis=1)).tolist()]
    return DescribedMolecules.of(filled, molecules.traits, whole), sorted(new)


def describe_own_columns(features: Features, molecules: DescribedMolecules, count: int) -> list[str]:
    """Say which columns there are, as `Features.describe` does of molecules in memory.

    Args:
        features: the columns.
        molecules: some molecules of a pool, with ranks of all.
        count: how many molecules there are in all.
    """
    texts, ranks = list[str](), molecules.scales and molecules.scales.ranks
    for name, runs in zip(features.columns, ranks.runs if ranks else (), strict=True):
        alike = min(run[0] for run in runs) == max(run[-1] for run in runs)
        texts.append(features.about(name, count - sum(map(len, runs)), int(alike)))
    return texts


@dataclass(frozen=True, eq=False)
class PackedRanks:
    """Ranks as they travel to other processes, which see the folder of the pool: values that lie there are named."""

    runs: tuple[tuple[Floats | str, ...], ...]
    """As in `Ranks`, or names of files."""
    moments: Moments
    """As in `Ranks`."""

    @staticmethod
    def of(ranks: Ranks) -> PackedRanks:
        """Return what is to be sent."""
        return PackedRanks(tuple(tuple(map(_name, runs)) for runs in ranks.runs), ranks.moments)

    def unpack(self, folder: Path) -> Ranks:
        """Return the ranks.

        Args:
            folder: folder of the pool.

        Raises:
            ValueError: if a file is missing or damaged.
        """
        runs = [tuple(_open(folder / run) if isinstance(run, str) else run for run in each) for each in self.runs]
        return Ranks(tuple(runs), self.moments)


def strip(rater: Rater) -> tuple[Rater, PackedRanks | None]:
    """Return a rater without its ranks, and these as they travel."""
    ranks = rater.scales.ranks
    return replace(rater, scales=replace(rater.scales, ranks=None)), None if ranks is None else PackedRanks.of(ranks)


def restore(rater: Rater, ranks: PackedRanks | None, folder: Path) -> Rater:
    """Return the rater that was stripped of its ranks.

    Args:
        rater: what `strip` returned.
        ranks: what it returned, too.
        folder: folder of the pool.

    Raises:
        ValueError: if a file of the ranks is missing or damaged.
    """
    return replace(rater, scales=replace(rater.scales, ranks=None if ranks is None else ranks.unpack(folder)))


def _name(run: Floats) -> Floats | str:
    return Path(str(run.filename)).name if isinstance(run, np.memmap) else run


def _sort(pool: PreparedPool, columns: Sequence[str], settings: SuggestSettings) -> dict[str, Floats]:
    """Return the known values of columns in increasing order, in one pass over their cells."""
    values: list[Floats] = []
    with tqdm(total=len(pool), unit=" molecules", unit_scale=True, disable=None, file=sys.stderr, desc="ranks") as bar:
        for block in pool.blocks((), columns):
            values.append(read_own_columns(block, columns, settings))
            bar.update(len(block))
    every = np.concatenate(values)
    return {name: np.sort(column[~np.isnan(column)]) for name, column in zip(columns, every.T, strict=True)}


def _find(folder: Path, key: str) -> Floats | None:
    """Return the values in a file of the folder; None if there is none, or only damaged ones."""
    for path in sorted(folder.glob(f".ranks-{key}-*.f64")):
        with suppress(ValueError):
            return _open(path)
    return None


def _keep(folder: Path, key: str, values: Floats) -> Floats:
    """Write values to a file whose name ends in the digest of its content, and return them as they lie there."""
    content = values.astype("<f8").tobytes()
    path = folder / f".ranks-{key}-{hashlib.sha256(content).hexdigest()}.f64"
    try:
        replace_file(path, content)
    except OSError:  # the folder is read-only, or full
        return values
    return _open(path)


def _open(path: Path) -> Floats:
    """Return the values in a file, which is read as far as they are used.

    Raises:
        ValueError: if it is missing or damaged.
    """
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if path.stem.endswith(f"-{digest}"):
            return np.memmap(path, "<f8", "r")
        problem = "It is damaged"
    except OSError as error:
        problem = f"Got: {error}"
    raise ValueError(f"Expected {path} as `graph-bandit suggest` wrote it. {problem}. Give the same command again.")
