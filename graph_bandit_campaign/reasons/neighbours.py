"""Find the measured molecules most similar to the suggested ones, to explain the predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

NEIGHBOURS = 3  # of each suggestion


@dataclass(frozen=True)
class Neighbour:
    """A measured molecule that is similar to another."""

    id: str
    """Id of the measured molecule."""
    similarity: float
    """Tanimoto similarity of atom-pair counts, from 0 to 1."""
    value: float
    """Mean of its measured values; of its bounds, if nothing else is known."""


def nearest_measured(
    ids: Sequence[str], values: Mapping[str, float], smiles_of: Mapping[str, str], count: int = NEIGHBOURS
) -> dict[str, list[Neighbour]]:
    """Find the measured molecules most similar to each of some molecules, most similar first.

    Args:
        ids: ids of the molecules to explain.
        values: values of the measured molecules, by id.
        smiles_of: SMILES of all of them, by id.
        count: how many neighbours to find for each.
    """
    from rdkit import Chem
    from rdkit.Chem.rdFingerprintGenerator import GetAtomPairGenerator
    from rdkit.DataStructs import BulkTanimotoSimilarity

    generator = GetAtomPairGenerator(fpSize=4096)
    prints = {key: generator.GetCountFingerprint(Chem.MolFromSmiles(smiles_of[key])) for key in (*ids, *values)}
    measured = list(values)
    neighbours = {}
    for key in ids:
        similarities = np.array(BulkTanimotoSimilarity(prints[key], [prints[other] for other in measured]), np.float64)
        nearest = np.argsort(-similarities, kind="stable")[:count]
        neighbours[key] = [Neighbour(measured[k], float(similarities[k]), values[measured[k]]) for k in nearest]
    return neighbours
