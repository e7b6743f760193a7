"""Descriptors of molecules, computed from the structure of each molecule alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.descriptors.counts import Counts, Kind, count_features, count_without_each_atom
from agents.descriptors.encoders import encode

if TYPE_CHECKING:
    from rdkit.Chem import Mol

FINGERPRINTS: tuple[Kind, ...] = get_args(Kind)
OF_RDKIT = {
    "properties": (
        *("_CalcMolWt", "CalcTPSA", "CalcNumHBD", "CalcNumHBA", "CalcNumRings", "CalcNumAromaticRings"),
        *("CalcFractionCSP3", "CalcNumHeteroatoms", "CalcKappa2", "CalcChi1v", "CalcHallKierAlpha"),
    ),
    "rdkit": ("MQNs_", "PEOE_VSA_", "SMR_VSA_", "SlogP_VSA_"),
}
"""RDKit functions that compute the numbers. The thirteen properties are mass, polar surface, donors, acceptors,
rotatable bonds, rings, shape and logP [Wildman & Crippen 1999]. The 78 descriptors are 42 molecular quantum numbers,
counts of atoms, bonds and rings [Nguyen et al. 2009], and the surface of atoms by their share of charge, refractivity
and logP, in 36 intervals [Labute 2000]."""
ROTATABLE, QUANTUM_NUMBER = 4, 18  # positions of rotatable bonds in both; RDKit takes 80 us to recount them
NUMBERS = tuple(OF_RDKIT)
DESCRIPTORS = (*FINGERPRINTS, *NUMBERS)
"""Names of all descriptors: the counts "atom_pairs", "ecfp", "torsions" and "fcfp", and the numbers "properties" and
"rdkit". Other names are those of encoders."""
AT_A_TIME = 128  # molecules that RDKit reads at a time; larger blocks exceed the processor's cache
ENTRIES = ("offsets", "bins", "counts")

Array = NDArray[Any]
Numbers = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Descriptors:
    """Structural descriptors of K molecules, in compact arrays.

    `compute_descriptors` makes them. They can be stored as plain arrays (`arrays`, `Descriptors.from_arrays`), and
    depend only on the SMILES and the version of RDKit.
    """

    length: int
    """K."""
    counts: Mapping[Kind, Counts]
    """Counts of the features of some fingerprints."""
    numbers: Mapping[str, Numbers]
    """"properties" `(K, 13)` and "rdkit" `(K, 78)`, or some of them, and those of encoders by their names. NaN for
    numbers that cannot be computed."""
    stereo: bool = False
    """True if the fingerprints distinguish stereoisomers."""
    left_out: tuple[str, ...] = ()
    """Descriptors that are excluded: an agent compares these molecules without them. It computes other missing
    descriptors."""

    def __len__(self) -> int:
        return self.length

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the descriptors, in the order of `DESCRIPTORS`, with encoders last."""
        own = tuple(name for name in DESCRIPTORS if name in self.counts or name in self.numbers)
        return (*own, *self.encoders)

    @property
    def encoders(self) -> tuple[str, ...]:
        """Return the names of the available encoders."""
        return tuple(sorted(name for name in self.numbers if name not in NUMBERS))

    @property
    def kind(self) -> tuple[object, ...]:
        """Return a key that is equal for descriptors that can be stacked."""
        return self.names, self.stereo, self.left_out

    def take(self, index: ArrayLike) -> Descriptors:
        """Return the descriptors of the molecules `index` `(n,)`, in this order."""
        places = np.asarray(index, np.int64)
        return replace(
            self,
            length=len(places),
            counts={name: counts.take(places) for name, counts in self.counts.items()},
            numbers={name: numbers[places] for name, numbers in self.numbers.items()},
        )

    def only(self, names: Collection[str]) -> Descriptors:
        """Return some of the descriptors.

        Raises:
            ValueError: if a descriptor is missing.
        """
        if missing := [name for name in names if name not in self.names]:
            raise ValueError(f"Expected the descriptors {', '.join(names)}. Got none of {', '.join(missing)}.")
        counts = {name: counts for name, counts in self.counts.items() if name in names}
        return replace(self, counts=counts, numbers={name: x for name, x in self.numbers.items() if name in names})

    def join(self, other: Descriptors) -> Descriptors:
        """Return these descriptors and others of the same molecules, with fingerprints of the same `stereo`."""
        return replace(
            self,
            counts={**other.counts, **self.counts},
            numbers={**other.numbers, **self.numbers},
            stereo=self.stereo if self.counts else other.stereo,
        )

    @staticmethod
    def stack(parts: Sequence[Descriptors]) -> Descriptors:
        """Concatenate the descriptors of the molecules of some parts.

        Raises:
            ValueError: if the parts have different descriptors.
        """
        first, kinds = parts[0], {part.kind for part in parts}
        if len(kinds) > 1:
            raise ValueError(f"Expected parts with equal names of descriptors, `stereo` and `left_out`. Got {kinds}.")
        return replace(
            first,
            length=sum(map(len, parts)),
            counts={name: Counts.stack([part.counts[name] for part in parts]) for name in first.counts},
            numbers={name: np.concatenate([part.numbers[name] for part in parts]) for name in first.numbers},
        )

    def arrays(self) -> dict[str, Array]:
        """Return the arrays by name, for storage in a file.

        The counts of a fingerprint are three arrays: "atom_pairs.offsets" `(K + 1,)` int64, "atom_pairs.bins" and
        "atom_pairs.counts" `(E,)` uint16. "properties" and "rdkit" are one array each, `(K, 13)` and `(K, 78)` float32.
        """
        entries = {f"{name}.{entry}": getattr(self.counts[name], entry) for name in self.counts for entry in ENTRIES}
        return {**entries, **self.numbers}

    @staticmethod
    def from_arrays(arrays: Mapping[str, Array], stereo: bool = False, left_out: Sequence[str] = ()) -> Descriptors:
        """Make descriptors from a result of `arrays`.

        Args:
            arrays: of at least one descriptor.
            stereo: as above.
            left_out: as above.
        """
        prints = [name for name in FINGERPRINTS if f"{name}.bins" in arrays]
        counts = {name: Counts(*(arrays[f"{name}.{entry}"] for entry in ENTRIES)) for name in prints}
        numbers = {name: array for name, array in arrays.items() if "." not in name}
        length, *_ = *map(len, counts.values()), *map(len, numbers.values())
        return Descriptors(length, counts, numbers, stereo, tuple(left_out))


def compute_descriptors(
    smiles: Sequence[str],
    names: Collection[str] = DESCRIPTORS,
    stereo: bool = False,
    left_out: Collection[str] = (),
) -> Descriptors:
    """Compute descriptors of molecules by RDKit, which reads each SMILES once, and by encoders.

    Equal SMILES, such as canonical ones, give equal descriptors. Other SMILES of the same molecule may not, because
    sums over atoms are rounded in the order of the atoms.

    Args:
        smiles: SMILES of K molecules.
        names: descriptors to compute, out of `DESCRIPTORS` and the names of encoders.
        stereo: distinguish stereoisomers in the fingerprints.
        left_out: descriptors that agents must not compute for these molecules, as in `Descriptors`.

    Raises:
        ImportError: if RDKit, or a package required by an encoder, is not installed.
        ValueError: if RDKit cannot read a SMILES, or a name is unknown.
    """
    if unknown := [name for name in left_out if name not in DESCRIPTORS]:
        raise ValueError(
            f"Expected a list of names of descriptors, of {', '.join(DESCRIPTORS)}. Got {', '.join(unknown)}."
        )
    encoded = {name: encode(name, tuple(smiles)) for name in sorted({*names}.difference(DESCRIPTORS))}
    counts: dict[Kind, list[Counts]] = {kind: [] for kind in FINGERPRINTS if kind in names}
    numbers: dict[str, list[Numbers]] = {name: [] for name in NUMBERS if name in names}
    for start in range(0, max(1, len(smiles)), AT_A_TIME):
        molecules = read_molecules(smiles[start : start + AT_A_TIME], start)
        for kind, parts in counts.items():
            parts.append(count_features(molecules, kind, stereo))
        for name, rows in compute_numbers(molecules, numbers).items():
            numbers[name].append(rows)
    return Descriptors(
        len(smiles),
        {kind: Counts.stack(parts) for kind, parts in counts.items()},
        {name: np.concatenate(rows) for name, rows in numbers.items()} | encoded,
        stereo,
        tuple(name for name in DESCRIPTORS if name in left_out),
    )


def mask_atoms(smiles: str, names: Collection[str], stereo: bool = False) -> Descriptors:
    """Return the descriptors of a molecule, then those without each atom, to attribute a prediction to atoms.

    Masking an atom removes the features that contain it: pairs, paths and neighbourhoods. The numbers of the whole
    molecule stay, because they are not attributed to atoms.

    Args:
        smiles: a canonical SMILES, which defines the order of the atoms.
        names: descriptors to compute, out of `DESCRIPTORS`.
        stereo: distinguish stereoisomers in the fingerprints.

    Returns:
        Descriptors of 1 + A rows for A heavy atoms: the first row for the molecule, row 1 + a for the molecule without
        atom a.

    Raises:
        ValueError: if RDKit cannot read the SMILES, or a name is unknown.
    """
    whole, (molecule,) = compute_descriptors([smiles], names, stereo), read_molecules([smiles])
    rows = 1 + molecule.GetNumAtoms()
    without = {kind: count_without_each_atom(molecule, kind, stereo) for kind in whole.counts}
    counts = {kind: Counts.stack([whole.counts[kind], without[kind]]) for kind in without}
    numbers = {name: np.repeat(values, rows, axis=0) for name, values in whole.numbers.items()}
    return replace(whole, length=rows, counts=counts, numbers=numbers)


def compute_numbers(molecules: Sequence[Mol], names: Collection[str] = NUMBERS) -> dict[str, Numbers]:
    """Compute "properties" `(K, 13)` and "rdkit" `(K, 78)` of K molecules, or one of them."""
    from rdkit.Chem import rdMolDescriptors

    rd: Any = rdMolDescriptors
    found = dict[str, Numbers]()
    for name in names:
        functions = [getattr(rd, function) for function in OF_RDKIT[name]]
        rows = [np.hstack([function(molecule) for function in functions]) for molecule in molecules]
        found[name] = np.array(rows, np.float32).reshape(len(molecules), 11 if name == "properties" else 78)
    if "properties" in names:
        counted = found.get("rdkit")
        bonds = [*map(rd.CalcNumRotatableBonds, molecules)] if counted is None else counted[:, QUANTUM_NUMBER]
        logp = np.array([rd.CalcCrippenDescriptors(molecule)[0] for molecule in molecules], np.float32)
        others = np.insert(found["properties"], ROTATABLE, bonds, axis=1)
        found["properties"] = np.concatenate([others, logp.reshape(-1, 1)], axis=1)
    return found


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
    for number, (text, molecule) in enumerate(zip(smiles, molecules, strict=True), start=first):
        if molecule is None:
            raise ValueError(f"Expected SMILES. Got number {number}, {text!r}, which RDKit cannot read.")
    return molecules
