"""Counts of the features of molecules, hashed to bins, in compact arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rdkit.Chem import Mol

BINS = 4096
MOST = 65_535  # larger counts are clipped; only molecules of more than 362 atoms have as many pairs of atoms
Kind = Literal["atom_pairs", "ecfp", "torsions", "fcfp"]


@dataclass(frozen=True, eq=False)
class Counts:
    """Number of occurrences of each feature in K molecules. Molecule k has the entries `offsets[k]:offsets[k + 1]`."""

    offsets: NDArray[np.int64]
    """`(K + 1,)`, from 0 to the number of entries E."""
    bins: NDArray[np.uint16]
    """`(E,)`. Bins from 0 to `BINS` - 1, in increasing order within a molecule."""
    counts: NDArray[np.uint16]
    """`(E,)`. Number of occurrences of a feature of the bin, at least 1."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @staticmethod
    def of(histograms: Sequence[Mapping[int, int]]) -> Counts:
        """Make counts from the histogram of each molecule: occurrences by bin."""
        lengths = np.fromiter(map(len, histograms), np.int64, len(histograms))
        offsets = _offsets(lengths)
        bins = np.fromiter(chain.from_iterable(histograms), np.int64, offsets[-1])
        counts = np.fromiter(chain.from_iterable(histogram.values() for histogram in histograms), np.int64, offsets[-1])
        order = np.argsort(np.repeat(np.arange(len(histograms)) * BINS, lengths) + bins, kind="stable")
        return Counts(offsets, bins[order].astype(np.uint16), np.minimum(counts[order], MOST).astype(np.uint16))

    def take(self, index: NDArray[np.int64]) -> Counts:
        """Return the molecules `index` `(n,)`, in this order."""
        begins, lengths = self.offsets[:-1][index], np.diff(self.offsets)[index]
        offsets = _offsets(lengths)
        entries = np.repeat(begins - offsets[:-1], lengths) + np.arange(offsets[-1])
        return Counts(offsets, self.bins[entries], self.counts[entries])

    @staticmethod
    def stack(parts: Sequence[Counts]) -> Counts:
        """Concatenate the molecules of some parts."""
        return Counts(
            _offsets(np.concatenate([np.diff(part.offsets) for part in parts])),
            np.concatenate([part.bins for part in parts]),
            np.concatenate([part.counts for part in parts]),
        )


def count_features(molecules: Sequence[Mol], kind: Kind, stereo: bool = False) -> Counts:
    """Count the occurrences of each feature in each molecule, by RDKit, hashed to 4096 bins.

    Args:
        molecules: K `rdkit.Chem.Mol`.
        kind: "atom_pairs", pairs of atom types at a distance [Carhart, Smith & Venkataraghavan 1985]; "ecfp",
            neighbourhoods of up to three bonds around an atom [Rogers & Hahn 2010]; "torsions", paths of four atoms
            [Nilakantan et al. 1987]; or "fcfp", neighbourhoods of up to two bonds of the roles of atoms (donor,
            acceptor, acid, base, halogen, aromatic) instead of their types.
        stereo: distinguish stereoisomers.
    """
    prints = _generator_of(kind, stereo).GetCountFingerprints(list(molecules), numThreads=1)
    return Counts.of([fingerprint.GetNonzeroElements() for fingerprint in prints])


def count_without_each_atom(molecule: Mol, kind: Kind, stereo: bool = False) -> Counts:
    """Count the features of a molecule that do not contain an atom, for each of its atoms (see `count_features`)."""
    from rdkit.Chem import GetDistanceMatrix
    from rdkit.Chem.rdFingerprintGenerator import AdditionalOutput

    generator, atoms = _generator_of(kind, stereo), range(molecule.GetNumAtoms())
    if kind in ("atom_pairs", "torsions"):
        prints = [generator.GetCountFingerprint(molecule, ignoreAtoms=[atom]) for atom in atoms]
        return Counts.of([fingerprint.GetNonzeroElements() for fingerprint in prints])
    found = AdditionalOutput()
    found.AllocateBitInfoMap()
    generator.GetCountFingerprint(molecule, additionalOutput=found)
    places = [(key, *place) for key, centres in found.GetBitInfoMap().items() for place in centres]
    distances = GetDistanceMatrix(molecule)
    return Counts.of([Counter(key for key, centre, far in places if distances[centre, atom] > far) for atom in atoms])


def _generator_of(kind: Kind, stereo: bool) -> Any:
    """Return RDKit's generator of the counts of a kind."""
    from rdkit.Chem import rdFingerprintGenerator

    fingerprints: Any = rdFingerprintGenerator
    options = {"fpSize": BINS, "includeChirality": stereo}
    if kind == "atom_pairs":
        return fingerprints.GetAtomPairGenerator(**options)
    if kind == "torsions":
        return fingerprints.GetTopologicalTorsionGenerator(**options)
    if kind == "ecfp":
        return fingerprints.GetMorganGenerator(radius=3, **options)
    roles = fingerprints.GetMorganFeatureAtomInvGen()
    return fingerprints.GetMorganGenerator(radius=2, atomInvariantsGenerator=roles, **options)


def _offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
