"""The columns of numbers that the user gives: read them, add them to molecules, and rank them over a pool."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from agents.molecule import Moments, Ranks, Rater, Scales
from graph_bandit_campaign.pool.described import DescribedMolecules
from graph_bandit_campaign.pool.prepared import MANIFEST, PreparedPool
from graph_bandit_env import MoleculeSet
from graph_bandit_env.files import Embeddings, read_embeddings
from graph_bandit_env.storage import replace_file
from graph_bandit_env.tables import NO_ENTRY, EntryColumns

FORMAT = 2  # of the files; raise it when their content changes

Floats = NDArray[np.float64]


def rank_own_columns(pool: PreparedPool, columns: Sequence[str], skip_bad: bool) -> Ranks:
    """Rank columns over the whole pool; a cell that is not a number counts as not known if `skip_bad` is set.

    The values of a column in increasing order, 8 bytes for each molecule, are kept in a hidden file of the folder, if
    it is not read-only: the next time they are not read again, and other processes read of them what they need.

    Raises:
        ValueError: if a cell is not a number, and `skip_bad` is False; a column has no number at all, or a part is
            damaged.
    """
    made = hashlib.sha256((pool.folder / MANIFEST).read_bytes()).hexdigest()
    keys = {name: hashlib.sha256(json.dumps([FORMAT, made, name, skip_bad]).encode()).hexdigest() for name in columns}
    paths = {name: pool.folder / f".ranks-{key[:16]}.f64" for name, key in keys.items()}
    kept = {name: _open(path) for name, path in paths.items() if path.is_file()}
    missing = [name for name in columns if name not in kept]
    for name, values in _sort(pool, missing, skip_bad).items() if missing else ():
        if not len(values):
            raise ValueError(f"Expected at least one number in column `{name}` of {pool.folder}. Got none.")
        kept[name] = _keep(paths[name], values)
    return Ranks.of_runs([(kept[name],) for name in columns])


def add_results(
    molecules: DescribedMolecules, features: Features, known: Mapping[str, Sequence[float]]
) -> tuple[DescribedMolecules, list[tuple[str, tuple[float, ...]]]]:
    """Return molecules of a pool with the values that results have of the user's own columns, which are ranked, too.

    Args:
        molecules: all molecules of the pool, or those that the results speak of, with ranks of the whole pool.
        features: the columns.
        known: values in the results, by id; they count where the pool has none.

    Returns:
        The molecules, and the ids and values of those that results have added to, NaN where one was not added.
    """
    scales, filled = molecules.scales, features.add_to(molecules, known)
    if scales is None:
        return DescribedMolecules.of(filled, molecules.traits), []
    if not known or scales.ranks is None:
        return molecules, []
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
        if name in features.entry:
            continue
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
        """
        runs = [tuple(_open(folder / run) if isinstance(run, str) else run for run in column) for column in self.runs]
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
    """
    return replace(rater, scales=replace(rater.scales, ranks=None if ranks is None else ranks.unpack(folder)))


def _name(run: Floats) -> Floats | str:
    return Path(str(run.filename)).name if isinstance(run, np.memmap) else run


def _sort(pool: PreparedPool, columns: Sequence[str], skip_bad: bool) -> dict[str, Floats]:
    """Return the known values of columns in increasing order, in one pass over their cells."""
    values: list[Floats] = []
    with tqdm(total=len(pool), unit=" molecules", unit_scale=True, disable=None, file=sys.stderr, desc="ranks") as bar:
        for block in pool.blocks((), columns):
            values.append(block.numbers(columns, skip_bad))
            bar.update(len(block))
    every = np.concatenate(values)
    return {name: np.sort(column[~np.isnan(column)]) for name, column in zip(columns, every.T, strict=True)}


def _keep(path: Path, values: Floats) -> Floats:
    """Write values to a file, and return them as they lie there."""
    try:
        replace_file(path, values.astype("<f8").tobytes())
    except OSError:  # the folder is read-only, or full
        return values
    return _open(path)


def _open(path: Path) -> Floats:
    """Return the values in a file, which is read as far as they are used."""
    return np.memmap(path, "<f8", "r")


class Features:
    """Columns of numbers that the user gives for molecules.

    Args:
        columns: columns of the tables.
        files: files of embeddings.
        targets: columns of measured values, which must not be features.
        entry: columns that are part of what an entry is, whose numbers are among those of tables.

    Raises:
        ValueError, OSError: if a file cannot be read, or has the target.
        ImportError: if a package that reads a file is not installed.
    """

    columns: tuple[str, ...]
    """Columns of the tables."""
    embeddings: tuple[Embeddings, ...]
    """Contents of the files."""

    def __init__(
        self, columns: Sequence[str], files: Sequence[Path], targets: Sequence[str], entry: EntryColumns = NO_ENTRY
    ) -> None:
        self.entry = frozenset(entry.names)
        self.columns, self.embeddings = tuple(columns), tuple(map(read_embeddings, files))
        for path, embeddings in zip(files, self.embeddings, strict=True):
            target = next((name for name in targets if f"{embeddings.source}:{name}" in embeddings.names), None)
            if target is not None:
                raise ValueError(
                    f"Expected features without the target, which is to be predicted. {path} has a column `{target}`. "
                    "Leave it out."
                )

    @property
    def count(self) -> int:
        """Return c, the number of all columns."""
        return len(self.columns) + sum(len(embeddings.names) for embeddings in self.embeddings)

    def add_to(self, molecules: MoleculeSet, known: Mapping[str, Sequence[float]]) -> MoleculeSet:
        """Return the same molecules with all columns.

        Args:
            molecules: molecules; those of the pool have the columns of its table.
            known: values of the columns of tables in results, by id; NaN where one is not known. They are used where
                the pool has none.

        Raises:
            ValueError: if no molecule is in a file of embeddings, or one is there twice.
        """
        if known:
            nothing = (np.nan,) * len(self.columns)
            molecules = molecules.with_columns(self.columns, [known.get(name, nothing) for name in molecules.ids])
        for embeddings in self.embeddings:
            molecules = embeddings.add_to(molecules)
        return molecules

    def describe(self, molecules: MoleculeSet) -> list[str]:
        """Say which columns there are, for how many molecules each is not known, and which tell no two apart."""
        place_of = {name: k for k, name in enumerate(molecules.column_names)}
        own = (name for name in self.columns if name not in self.entry)
        groups: list[tuple[str, tuple[str, ...], str]] = [(name, (name,), "") for name in own]
        for embedding in self.embeddings:
            left_out = f", without {', '.join(embedding.left_out)}" if embedding.left_out else ""
            groups.append((embedding.source, embedding.names, f"{len(embedding.names):,} numbers{left_out}"))
        texts = []
        for title, names, content in groups:
            values = molecules.columns[:, [place_of[name] for name in names]]
            unknown = int(np.isnan(values).any(axis=1).sum())
            alike = sum(len(np.unique(column[~np.isnan(column)])) < 2 for column in values.T)
            texts.append(self.about(title, unknown, alike, content, len(names) == 1))
        return texts

    @staticmethod
    def about(title: str, unknown: int, alike: int, content: str = "", is_single: bool = True) -> str:
        """Say what a column or a file of them holds.

        Args:
            title: name of the column, or of the file.
            unknown: for how many molecules it is not known.
            alike: how many of its columns tell no two molecules apart.
            content: what the file holds.
            is_single: whether there is one column.
        """
        gaps = f"not known for {unknown:,} molecules, taken as an average one" if unknown else ""
        useless = f"{'' if is_single else f'{alike:,} of them '}equal for all molecules, not used" if alike else ""
        about = "; ".join(filter(None, (content, gaps, useless)))
        return f"{title} ({about})" if about else title
