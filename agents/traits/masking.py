"""Traits of a molecule without each of its atoms, to see what an atom adds to a prediction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from agents.traits.counts import Counts, Kind, count_features, generator_of
from agents.traits.traits import Traits, compute_traits, read_molecules

if TYPE_CHECKING:
    from rdkit.Chem import Mol


def mask_atoms(smiles: str, names: Collection[str], stereo: bool = False) -> Traits:
    """Return the traits of a molecule, then those without each of its atoms.

    Without an atom, the features are not counted that it is part of: pairs, paths and neighbourhoods. The numbers of
    the whole molecule stay; no part of them is ascribed to an atom.

    Args:
        smiles: a canonical SMILES, in whose order the atoms are.
        names: which traits, some of `TRAITS`.
        stereo: whether the fingerprints of stereoisomers differ.

    Returns:
        Traits of 1 + A rows, A atoms other than hydrogens: the first of the molecule, row 1 + a of it without atom a.

    Raises:
        ValueError: if RDKit cannot read the SMILES, or a name is unknown.
    """
    whole = compute_traits([smiles], names, stereo)
    molecule = read_molecules([smiles], 0)[0]
    rows = 1 + molecule.GetNumAtoms()
    counts = {kind: Counts.stack([whole.counts[kind], *_without_each(molecule, kind, stereo)]) for kind in whole.counts}
    numbers = {name: np.repeat(values, rows, axis=0) for name, values in whole.numbers.items()}
    return replace(whole, length=rows, counts=counts, numbers=numbers)


def _without_each(molecule: Mol, kind: Kind, stereo: bool) -> list[Counts]:
    """Return the counts of features of one kind without each atom."""
    from rdkit.Chem import GetDistanceMatrix
    from rdkit.Chem.rdFingerprintGenerator import AdditionalOutput

    (whole,) = [count_features([molecule], kind, stereo)]
    generator, found = generator_of(kind, stereo), AdditionalOutput()
    if kind == "torsions":
        found.AllocateBitPaths()
    else:
        found.AllocateBitInfoMap()
    generator.GetCountFingerprint(molecule, additionalOutput=found)
    features: list[tuple[int, set[int]]] = []  # the bin of each feature, and its atoms
    if kind == "torsions":
        features += [(key, set(path)) for key, paths in found.GetBitPaths().items() for path in paths]
    elif kind == "atom_pairs":
        features += [(key, set(pair)) for key, pairs in found.GetBitInfoMap().items() for pair in pairs]
    else:
        distances = GetDistanceMatrix(molecule)
        for key, places in found.GetBitInfoMap().items():
            for centre, radius in places:
                features.append((key, set(np.flatnonzero(distances[centre] <= radius).tolist())))
    return [_less(whole, [key for key, atoms in features if atom in atoms]) for atom in range(molecule.GetNumAtoms())]


def _less(whole: Counts, bins: Sequence[int]) -> Counts:
    """Return the counts of one molecule without some features, given the bin of each."""
    gone = Counter(bins)
    left: NDArray[np.int64] = np.array(
        [int(count) - gone[int(key)] for key, count in zip(whole.bins, whole.counts, strict=True)], np.int64
    )
    kept = left > 0
    offsets = np.array([0, kept.sum()], np.int64)
    return Counts(offsets, whole.bins[kept], left[kept].astype(np.uint16))
