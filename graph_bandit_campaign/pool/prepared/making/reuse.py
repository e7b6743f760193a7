"""Take from an earlier pool what it knows of equal SMILES, where only other columns of the table have changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agents.traits import Traits
from graph_bandit_campaign.pool.prepared.columns import columns_of, from_arrow, traits_left_out
from graph_bandit_campaign.pool.prepared.manifest import MANIFEST, Manifest, Question, read_json
from graph_bandit_campaign.pool.prepared.part import PreparedPart

NEEDED = ("format", "stereo", "most_atoms", "salts", "versions")  # on which SMILES and traits depend


@dataclass(frozen=True, eq=False)
class Known:
    """What was computed in a part of an earlier pool."""

    rows: Mapping[str, int]
    """Row of each SMILES, as the table has it."""
    smiles: Sequence[str]
    """Canonical SMILES by row."""
    traits: Traits
    """Traits by row."""


def check_earlier(folder: Path, question: Question) -> None:
    """Refuse a pool from which nothing can be taken.

    Args:
        folder: folder of the earlier pool.
        question: what is prepared now.

    Raises:
        ValueError, OSError: if it is not a prepared pool, or was prepared with other settings or software.
    """
    if not (folder / MANIFEST).is_file():
        raise FileNotFoundError(f"Expected `--reuse` to be a finished prepared pool. {folder} has no {MANIFEST}.")
    earlier = read_json(folder / MANIFEST, Manifest).question
    differ = [name for name in NEEDED if getattr(earlier, name) != getattr(question, name)]
    differ += ["traits"] * (not set(question.traits) <= set(earlier.traits))
    if differ:
        raise ValueError(
            f"Expected {folder} to be prepared as the new pool is. It has other {', '.join(differ)}. Leave out "
            "`--reuse`, or give the settings that it was prepared with."
        )


def read_known(folder: Path, number: int, traits: tuple[str, ...]) -> Known:
    """Return what a part of an earlier pool knows; nothing if it has no such part.

    Args:
        folder: folder of the earlier pool, which `check_earlier` has accepted.
        number: number of the part.
        traits: names of the traits that are needed.

    Raises:
        ValueError, OSError: if the part is damaged or missing.
    """
    manifest = read_json(folder / MANIFEST, Manifest)
    left_out, stereo = traits_left_out(traits), manifest.question.stereo
    if number >= len(manifest.parts):
        return Known({}, (), Traits(0, {}, {}, stereo, left_out))
    names = ["written", "smiles", *(column for trait in traits for column in columns_of(trait))]
    table = PreparedPart(folder, manifest, number, (0, 0)).read_all(names)
    rows = {text: row for row, text in enumerate(table["written"].to_pylist())}
    return Known(rows, table["smiles"].to_pylist(), from_arrow(table, traits, stereo, left_out))


def fill_in(known: Known, smiles: Sequence[str], rows: Sequence[int | None], new: Traits) -> Traits:
    """Return the traits of molecules, of which some are known and the others were computed.

    Args:
        known: what is known.
        smiles: canonical SMILES of n molecules.
        rows: row of each in the earlier part; None: its traits were computed.
        new: the traits that were computed, in the order of the molecules.
    """
    is_known = np.array([row is not None for row in rows], np.bool_)
    if not is_known.any():
        return new
    order = np.empty(len(smiles), np.int64)
    order[is_known], order[~is_known] = np.arange(is_known.sum()), is_known.sum() + np.arange((~is_known).sum())
    return Traits.stack([known.traits.take([row for row in rows if row is not None]), new]).take(order)
