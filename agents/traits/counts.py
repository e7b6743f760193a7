"""Counts of the features of molecules, hashed to bins, in compact arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rdkit.Chem import Mol

BINS = 4096
MOST = 65_535  # a larger count counts as this one; only molecules of more than 362 atoms have as many pairs of atoms
Kind = Literal["atom_pairs", "morgan", "torsions", "roles"]
Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Counts:
    """How often each feature occurs in K molecules: molecule k has the entries from offset k to offset k + 1."""

    offsets: NDArray[np.int64]
    """`(K + 1,)`, from 0 to the number of entries E."""
    bins: NDArray[np.uint16]
    """`(E,)`. Bins from 0 to `BINS` - 1, in increasing order within a molecule."""
    counts: NDArray[np.uint16]
    """`(E,)`. How often a feature of the bin occurs, at least once."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def nbytes(self) -> int:
        """Return the bytes of the arrays."""
        return self.offsets.nbytes + self.bins.nbytes + self.counts.nbytes

    def take(self, index: NDArray[np.int64]) -> Counts:
        """Return the molecules `index` `(n,)`, in this order."""
        begins, lengths = self.offsets[:-1][index], np.diff(self.offsets)[index]
        offsets = _offsets(lengths)
        entries = np.repeat(begins - offsets[:-1], lengths) + np.arange(offsets[-1])
        return Counts(offsets, self.bins[entries], self.counts[entries])

    def between(self, begin: int, end: int) -> Counts:
        """Return the molecules from `begin` to `end` - 1, without copying their counts."""
        offsets = self.offsets[begin : end + 1]
        entries = slice(offsets[0], offsets[-1])
        return Counts(offsets - offsets[0], self.bins[entries], self.counts[entries])

    @staticmethod
    def stack(parts: Sequence[Counts]) -> Counts:
        """Return the molecules of some parts, one part after the other."""
        return Counts(
            _offsets(np.concatenate([np.diff(part.offsets) for part in parts])),
            np.concatenate([part.bins for part in parts]),
            np.concatenate([part.counts for part in parts]),
        )

    @staticmethod
    def read(name: str, offsets: Array, bins: Array, counts: Array) -> Counts:
        """Return counts from arrays of any origin.

        Args:
            name: what is counted, for messages.
            offsets: as above; any integers.
            bins: as above.
            counts: as above.

        Raises:
            ValueError: if the arrays cannot be counts.
        """
        if offsets.dtype.kind not in "iu" or bins.dtype != np.uint16 or counts.dtype != np.uint16:
            raise ValueError(
                f"Expected offsets of `{name}` to be integers, and bins and counts uint16. Got {offsets.dtype}, "
                f"{bins.dtype} and {counts.dtype}."
            )
        offsets = offsets.astype(np.int64)
        shapes = offsets.ndim == bins.ndim == 1 and bins.shape == counts.shape and len(offsets) > 0
        if not shapes or offsets[0] != 0 or offsets[-1] != len(bins) or (np.diff(offsets) < 0).any():
            raise ValueError(
                f"Expected offsets of `{name}` that increase from 0 to the number of bins, which is that of counts. "
                f"Got {offsets.shape[:1]} offsets, {bins.shape} bins and {counts.shape} counts."
            )
        rising = np.diff(bins.astype(np.int32)) > 0
        within = np.ones(max(0, len(bins) - 1), np.bool_)
        inner = offsets[(offsets > 0) & (offsets < len(bins))]
        within[inner - 1] = False  # between the last bin of a molecule and the first of the next
        if len(bins) and (bins.max() >= BINS or counts.min() == 0 or not rising[within].all()):
            raise ValueError(
                f"Expected bins of `{name}` below {BINS} that increase within each molecule, with positive counts. "
                "Got others: the arrays are damaged, or of another program."
            )
        return Counts(offsets, bins, counts)


def count_features(molecules: Sequence[Mol], kind: Kind, stereo: bool = False) -> Counts:
    """Count how often each feature occurs in each molecule, by RDKit, hashed to 4096 bins.

    Args:
        molecules: K `rdkit.Chem.Mol`.
        kind: "atom_pairs", pairs of atom types at a distance [Carhart, Smith & Venkataraghavan 1985]; "morgan",
            neighbourhoods of up to three bonds around an atom [Rogers & Hahn 2010]; "torsions", paths of four atoms
            [Nilakantan et al. 1987]; or "roles", neighbourhoods of up to two bonds of what atoms do (donor,
            acceptor, acid, base, halogen, aromatic) instead of what they are.
        stereo: whether stereoisomers differ.
    """
    prints = generator_of(kind, stereo).GetCountFingerprints(list(molecules), numThreads=1)
    histograms: list[Mapping[int, int]] = [fingerprint.GetNonzeroElements() for fingerprint in prints]
    lengths = np.fromiter(map(len, histograms), np.int64, len(histograms))
    offsets = _offsets(lengths)
    bins = np.fromiter(chain.from_iterable(histograms), np.int64, offsets[-1])
    counts = np.fromiter(chain.from_iterable(histogram.values() for histogram in histograms), np.int64, offsets[-1])
    order = np.argsort(np.repeat(np.arange(len(histograms)) * BINS, lengths) + bins, kind="stable")
    return Counts(offsets, bins[order].astype(np.uint16), np.minimum(counts[order], MOST).astype(np.uint16))


def generator_of(kind: Kind, stereo: bool) -> Any:
    """Return RDKit's generator of the counts of a kind."""
    from rdkit.Chem import rdFingerprintGenerator

    fingerprints: Any = rdFingerprintGenerator
    options = {"fpSize": BINS, "includeChirality": stereo}
    if kind == "atom_pairs":
        return fingerprints.GetAtomPairGenerator(**options)
    if kind == "torsions":
        return fingerprints.GetTopologicalTorsionGenerator(**options)
    if kind == "morgan":
        return fingerprints.GetMorganGenerator(radius=3, **options)
    roles = fingerprints.GetMorganFeatureAtomInvGen()
    return fingerprints.GetMorganGenerator(radius=2, atomInvariantsGenerator=roles, **options)


def _offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
