"""The measured molecules that are most like others, as an explanation of what is expected of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

NEIGHBOURS = 3  # of each suggestion


@dataclass(frozen=True)
class Neighbour:
    """A measured molecule that is like another."""

    id: str
    """Of the measured molecule."""
    similarity: float
    """Tanimoto similarity of atom-pair counts, 0 to 1."""
    value: float
    """What was measured, in the mean."""


def nearest_measured(
    ids: Sequence[str], values: Mapping[str, float], smiles_of: Mapping[str, str], count: int = NEIGHBOURS
) -> dict[str, list[Neighbour]]:
    """Find the measured molecules that are most similar to each of some others, most similar first.

    Args:
        ids: of the others.
        values: of those measured, by id.
        smiles_of: SMILES of all.
        count: how many of each.
    """
    from rdkit import Chem
    from rdkit.Chem.rdFingerprintGenerator import GetAtomPairGenerator
    from rdkit.DataStructs import BulkTanimotoSimilarity

    generator = GetAtomPairGenerator(fpSize=4096)
    prints = {key: generator.GetCountFingerprint(Chem.MolFromSmiles(smiles_of[key])) for key in (*ids, *values)}
    measured = list(values)
    found = {}
    for key in ids:
        similarities = np.array(BulkTanimotoSimilarity(prints[key], [prints[one] for one in measured]), np.float64)
        nearest = np.argsort(-similarities, kind="stable")[:count]
        found[key] = [Neighbour(measured[k], float(similarities[k]), values[measured[k]]) for k in nearest]
    return found
