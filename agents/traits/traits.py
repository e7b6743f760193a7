"""Traits of molecules: what the agents compute from the structure of each molecule alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.traits.counts import Array, Counts, Kind, count_features
from agents.traits.descriptors import ROTATABLE_BONDS, compute_descriptors, compute_properties

if TYPE_CHECKING:
    from rdkit.Chem import Mol

FINGERPRINTS: tuple[Kind, ...] = get_args(Kind)
WIDTHS = {"properties": 12, "descriptors": 78}
NUMBERS = tuple(WIDTHS)
TRAITS = (*FINGERPRINTS, *NUMBERS)
"""Names of all traits: counts of "atom_pairs", "morgan", "torsions" and "roles"; "properties" and "descriptors"."""
AT_A_TIME = 128  # molecules that RDKit reads at a time; more of them leave the cache before all traits are computed
ENTRIES = ("offsets", "bins", "counts")

Numbers = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Traits:
    """What is computed from the structure of each of K molecules alone, in compact arrays.

    `compute_traits` makes them. They can be kept as plain arrays (`arrays`, `Traits.from_arrays`), and depend on
    nothing but the SMILES and the version of RDKit.
    """

    length: int
    """K."""
    counts: Mapping[Kind, Counts]
    """Counts of the features of some fingerprints."""
    numbers: Mapping[str, Numbers]
    """"properties" `(K, 12)` and "descriptors" `(K, 78)`, or some of them; NaN where RDKit computes no number."""
    stereo: bool = False
    """Whether the fingerprints of stereoisomers differ."""
    left_out: tuple[str, ...] = ()
    """Traits that were left out on purpose: an agent compares these molecules without them. It computes other traits
    that are missing."""

    def __len__(self) -> int:
        return self.length

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the traits, in the order of `TRAITS`."""
        return tuple(name for name in TRAITS if name in self.counts or name in self.numbers)

    @property
    def nbytes(self) -> int:
        """Return the bytes of all arrays."""
        return sum(self.nbytes_of(name) for name in self.names)

    @property
    def kind(self) -> tuple[object, ...]:
        """Return what is equal for traits that can be stacked."""
        return self.names, self.stereo, self.left_out

    def nbytes_of(self, name: str) -> int:
        """Return the bytes of the arrays of one trait."""
        return sum(array.nbytes for array in self._arrays_of(name).values())

    def take(self, index: ArrayLike) -> Traits:
        """Return the traits of the molecules `index` `(n,)`, in this order."""
        places = np.asarray(index, np.int64)
        return replace(
            self,
            length=len(places),
            counts={name: counts.take(places) for name, counts in self.counts.items()},
            numbers={name: numbers[places] for name, numbers in self.numbers.items()},
        )

    def between(self, begin: int, end: int) -> Traits:
        """Return the traits of the molecules from `begin` to `end` - 1, without copying them."""
        return replace(
            self,
            length=end - begin,
            counts={name: counts.between(begin, end) for name, counts in self.counts.items()},
            numbers={name: numbers[begin:end] for name, numbers in self.numbers.items()},
        )

    def only(self, names: Collection[str]) -> Traits:
        """Return some of the traits.

        Raises:
            ValueError: if one is missing.
        """
        missing = [name for name in check_names(names) if name not in self.names]
        if missing:
            raise ValueError(
                f"Expected the traits {', '.join(names)}. Got no {', '.join(missing)}. Compute them with "
                "`compute_traits`."
            )
        counts = {name: counts for name, counts in self.counts.items() if name in names}
        return replace(self, counts=counts, numbers={name: self.numbers[name] for name in NUMBERS if name in names})

    def join(self, other: Traits) -> Traits:
        """Return these traits and further ones of the same molecules.

        Raises:
            ValueError: if the other traits are of another number of molecules, or of other fingerprints.
        """
        if len(other) != len(self) or (self.counts and other.counts and self.stereo != other.stereo):
            raise ValueError(
                f"Expected further traits of {len(self)} molecules, with `stereo` {self.stereo}. Got {len(other)} "
                f"molecules, with `stereo` {other.stereo}."
            )
        return replace(
            self,
            counts={**other.counts, **self.counts},
            numbers={**other.numbers, **self.numbers},
            stereo=self.stereo if self.counts else other.stereo,
        )

    @staticmethod
    def stack(parts: Sequence[Traits]) -> Traits:
        """Return the traits of the molecules of some parts, one part after the other.

        Raises:
            ValueError: if there are no parts, or they do not have the same traits.
        """
        if not parts:
            raise ValueError("Expected at least one part to stack. Got none.")
        first = parts[0]
        for part in parts:
            if part.kind != first.kind:
                raise ValueError(
                    f"Expected parts with the same traits. Got {first.names} with `stereo` {first.stereo}, and "
                    f"{part.names} with `stereo` {part.stereo}. Compute them with equal arguments."
                )
        return replace(
            first,
            length=sum(map(len, parts)),
            counts={name: Counts.stack([part.counts[name] for part in parts]) for name in first.counts},
            numbers={name: np.concatenate([part.numbers[name] for part in parts]) for name in first.numbers},
        )

    def arrays(self) -> dict[str, Array]:
        """Return the arrays by name, so that they can be kept in a file.

        The counts of a fingerprint are three arrays: "atom_pairs.offsets" `(K + 1,)` int64, "atom_pairs.bins" and
        "atom_pairs.counts" `(E,)` uint16. "properties" and "descriptors" are one each, `(K, 12)` and `(K, 78)` float32.
        """
        return {key: array for name in self.names for key, array in self._arrays_of(name).items()}

    @staticmethod
    def from_arrays(arrays: Mapping[str, Array], stereo: bool = False, left_out: Collection[str] = ()) -> Traits:
        """Return the traits of which `arrays` returned the arrays.

        Args:
            arrays: of at least one trait.
            stereo: as above.
            left_out: as above, in any order.

        Raises:
            ValueError: if an array is missing or unknown, or is not what `arrays` returns, or lengths differ.
        """
        given = {key.partition(".")[0] for key in arrays}
        names = [name for name in TRAITS if name in given]
        expected = [f"{name}.{entry}" for name in names if name in FINGERPRINTS for entry in ENTRIES]
        expected += [name for name in names if name in WIDTHS]
        if not names or set(expected) != set(arrays):
            raise ValueError(
                f"Expected the arrays of some of the traits {', '.join(TRAITS)}, as `Traits.arrays` returns them. Got "
                f"{', '.join(arrays) or 'none'}."
            )
        counts = {
            name: Counts.read(name, *(arrays[f"{name}.{entry}"] for entry in ENTRIES))
            for name in FINGERPRINTS
            if name in names
        }
        numbers = {name: arrays[name] for name in WIDTHS if name in names}
        for name, array in numbers.items():
            if array.dtype != np.float32 or array.ndim != 2 or array.shape[1] != WIDTHS[name]:
                raise ValueError(
                    f"Expected `{name}` of shape `(K, {WIDTHS[name]})` and float32. Got `{array.shape}` of "
                    f"{array.dtype}."
                )
        lengths: dict[str, int] = {name: len(part) for name, part in counts.items()}
        lengths |= {name: len(array) for name, array in numbers.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"Expected traits of the same molecules. Got different numbers of them: {lengths}.")
        return Traits(lengths[names[0]], counts, numbers, stereo, check_names(left_out))

    def _arrays_of(self, name: str) -> dict[str, Array]:
        if name in self.numbers:
            return {name: self.numbers[name]}
        counts = self.counts[next(kind for kind in FINGERPRINTS if kind == name)]
        return {f"{name}.{entry}": getattr(counts, entry) for entry in ENTRIES}


def compute_traits(
    smiles: Sequence[str],
    names: Collection[str] = TRAITS,
    stereo: bool = False,
    left_out: Collection[str] = (),
) -> Traits:
    """Compute traits of molecules by RDKit, which reads each SMILES once.

    Equal molecules have equal traits if their SMILES are equal, as canonical ones are: sums over atoms are rounded in
    the order of the atoms.

    Args:
        smiles: SMILES of K molecules.
        names: which traits to compute, some of `TRAITS`.
        stereo: whether the fingerprints of stereoisomers differ.
        left_out: traits that agents shall not compute for these molecules, as in `Traits`.

    Raises:
        ImportError: if RDKit is not installed.
        ValueError: if RDKit cannot read a SMILES, or a name is unknown.
    """
    wanted, without = check_names(names), check_names(left_out)
    kinds = [kind for kind in FINGERPRINTS if kind in wanted]
    counts: dict[Kind, list[Counts]] = {kind: [] for kind in kinds}
    numbers: dict[str, list[Numbers]] = {name: [] for name in WIDTHS if name in wanted}
    for start in range(0, max(1, len(smiles)) if wanted else 0, AT_A_TIME):
        molecules = read_molecules(smiles[start : start + AT_A_TIME], start)
        for kind in kinds:
            counts[kind].append(count_features(molecules, kind, stereo))
        rotatable = None
        if "descriptors" in numbers:
            numbers["descriptors"].append(compute_descriptors(molecules))
            rotatable = numbers["descriptors"][-1][:, ROTATABLE_BONDS]
        if "properties" in numbers:
            numbers["properties"].append(compute_properties(molecules, rotatable))
    return Traits(
        len(smiles),
        {kind: Counts.stack(parts) for kind, parts in counts.items()},
        {name: np.concatenate(parts) for name, parts in numbers.items()},
        stereo,
        without,
    )


def check_names(names: Collection[str]) -> tuple[str, ...]:
    """Return names of traits in the order of `TRAITS`.

    Raises:
        ValueError: if one is unknown.
    """
    unknown = [names] if isinstance(names, str) else [name for name in names if name not in TRAITS]
    if unknown:
        raise ValueError(f"Expected a list of names of traits, of {', '.join(TRAITS)}. Got {', '.join(unknown)}.")
    return tuple(name for name in TRAITS if name in names)


def read_molecules(smiles: Sequence[str], first: int = 0) -> list[Mol]:
    """Return the molecules as `rdkit.Chem.Mol`.

    Args:
        smiles: SMILES of some molecules.
        first: number of the first one, for messages.

    Raises:
        ImportError: if RDKit is not installed.
        ValueError: if RDKit cannot read a SMILES.
    """
    from rdkit import Chem

    molecules = [Chem.MolFromSmiles(text) for text in smiles]
    for number, molecule in enumerate(molecules):
        if molecule is None:
            raise ValueError(
                f"Expected SMILES. Got number {first + number}, {smiles[number]!r}, which RDKit cannot read."
            )
    return molecules
