"""Features that molecules may share: functional groups, elements, environments of atoms, and large properties."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graph_bandit_campaign.constraints.limits.properties import property_function
from graph_bandit_campaign.pool.parsing import molecule_of

if TYPE_CHECKING:
    from rdkit.Chem import Atom, Mol
    from rdkit.Chem.rdFingerprintGenerator import FingerprintGenerator64

RADIUS = 2  # bonds, of an environment
LEVELS = 10  # a property has thresholds at so many quantiles
NUMBERS = (
    "mw", "logp", "tpsa", "hbd", "hba", "rotatable_bonds", "rings", "aromatic_rings", "fraction_sp3", "charge"
)  # fmt: skip
SHARES = {"group": 0.4, "environment": 0.4, "property": 0.2}  # of the prior, for all features of a kind together
BONDS = {"SINGLE": "-", "DOUBLE": "=", "TRIPLE": "#", "AROMATIC": ":"}
SPELLING = {"piperdine": "piperidine", "piperzine": "piperazine"}  # of RDKit


class Feature(NamedTuple):
    """Something that a molecule has or has not."""

    kind: Literal["group", "environment", "property"]
    """A functional group or element, the environment of an atom, or a property that reaches a threshold."""
    name: str
    """Name of the group in RDKit, symbol of the element, number of the environment, or name of the property."""
    threshold: float = 0.0
    """Least value of the property."""


def describe(molecules: Sequence[Mol]) -> tuple[list[Feature], NDArray[np.bool_]]:
    """Return the features that some of n molecules have and others have not, and who has them: `(n, F)`.

    The thresholds of a property are the values of these molecules that lie at its deciles.
    """
    owners: dict[Feature, list[int]] = {}
    numbers = np.array([[_number_of(name)(molecule) for name in NUMBERS] for molecule in molecules], np.float64)
    for column, name in enumerate(NUMBERS):
        values = numbers[:, column]
        known = values[~np.isnan(values)]
        levels = np.quantile(known, np.arange(1, LEVELS) / LEVELS, method="higher") if len(known) else known
        for threshold in np.unique(levels).tolist():
            owners[Feature("property", name, threshold)] = np.flatnonzero(values >= threshold).tolist()
    for index, molecule in enumerate(molecules):
        groups = [name for name, count in _groups().items() if count(molecule)]
        for name in (*groups, *_elements_of(molecule)):
            owners.setdefault(Feature("group", name), []).append(index)
        for name in _environments_of(molecule):
            owners.setdefault(Feature("environment", name), []).append(index)
    features = [feature for feature, those in owners.items() if 0 < len(those) < len(molecules)]
    has = np.zeros((len(molecules), len(features)), np.bool_)
    for column, feature in enumerate(features):
        has[owners[feature], column] = True
    return features, has


def look_up(features: Sequence[Feature], smiles: Iterable[str], count: int) -> NDArray[np.bool_]:
    """Return which of K molecules have some features, `(K, F)`; nothing else is computed.

    Args:
        features: F features.
        smiles: K SMILES.
        count: K.
    """
    from rdkit import rdBase

    has = np.zeros((count, len(features)), np.bool_)
    column_of = {(feature.kind, feature.name): at for at, feature in enumerate(features)}
    groups = {name: find for name, find in _groups().items() if ("group", name) in column_of}
    names = list(dict.fromkeys(feature.name for feature in features if feature.kind == "property"))
    numbers = np.zeros((count, len(names)))
    by_environment = any(feature.kind == "environment" for feature in features)
    with rdBase.BlockLogs():
        for index, text in enumerate(smiles):
            molecule = molecule_of(text)
            numbers[index] = [_number_of(name)(molecule) for name in names]
            keys = [("group", name) for name, find in groups.items() if find(molecule)]
            keys += [("group", name) for name in _elements_of(molecule)]
            keys += [("environment", name) for name in (_environments_of(molecule) if by_environment else ())]
            has[index, [column_of[key] for key in keys if key in column_of]] = True
    for at, feature in enumerate(features):
        if feature.kind == "property":
            has[:, at] = numbers[:, names.index(feature.name)] >= feature.threshold
    return has


def log_prior(features: Sequence[Feature]) -> NDArray[np.float64]:
    """Return the logarithm of the prior of each feature, `(F,)`: alike within a kind, whose share is in `SHARES`."""
    sizes = {kind: sum(feature.kind == kind for feature in features) for kind in SHARES}
    total = sum(share for kind, share in SHARES.items() if sizes[kind])
    return np.log([SHARES[feature.kind] / total / sizes[feature.kind] for feature in features])


def name_of(feature: Feature, molecules: Iterable[Mol]) -> str:
    """Return the name of a feature for people.

    Args:
        feature: the feature.
        molecules: molecules of which one has it, if it is an environment.
    """
    if feature.kind == "property":
        return f"{feature.name} >= {feature.threshold:.4g}"
    if feature.kind == "environment":
        return f"the fragment {_fragment(feature.name, molecules)}"
    if feature.name not in _groups():
        return f"{feature.name} atoms"
    words = (_groups()[feature.name].__doc__ or feature.name).removeprefix("Number of ")
    return " ".join(SPELLING.get(word, word) for word in words.split())


@cache
def _groups() -> dict[str, Callable[[Mol], int]]:
    return dict(import_module("rdkit.Chem.Fragments").fns)


@cache
def _number_of(name: str) -> Callable[[Mol], float]:
    compute = property_function(name)

    def number(molecule: Mol) -> float:
        try:
            return float(compute(molecule))
        except (ValueError, RuntimeError):  # RDKit cannot compute it
            return math.nan

    return number


@cache
def _generator() -> FingerprintGenerator64:
    generator: FingerprintGenerator64 = import_module("rdkit.Chem.rdFingerprintGenerator").GetMorganGenerator(RADIUS)
    return generator


def _elements_of(molecule: Mol) -> set[str]:
    return {atom.GetSymbol() for atom in molecule.GetAtoms()}


def _environments_of(molecule: Mol) -> list[str]:
    return list(map(str, _generator().GetSparseCountFingerprint(molecule).GetNonzeroElements()))


def _fragment(name: str, molecules: Iterable[Mol]) -> str:
    """Return an environment as a SMARTS, from the first molecule that has it."""
    chem = import_module("rdkit.Chem")
    for molecule in molecules:
        output = import_module("rdkit.Chem.rdFingerprintGenerator").AdditionalOutput()
        output.AllocateBitInfoMap()
        _generator().GetSparseCountFingerprint(molecule, additionalOutput=output)
        places = output.GetBitInfoMap().get(int(name))
        if places:
            centre, radius = places[0]
            bonds = list(chem.FindAtomEnvironmentOfRadiusN(molecule, radius, centre)) if radius else []
            ends = [molecule.GetBondWithIdx(bond) for bond in bonds]
            atoms = {centre, *(bond.GetBeginAtomIdx() for bond in ends), *(bond.GetEndAtomIdx() for bond in ends)}
            symbols = [_smarts(atom) for atom in molecule.GetAtoms()]
            kinds = [BONDS.get(str(bond.GetBondType()), "~") for bond in molecule.GetBonds()]
            return str(chem.MolFragmentToSmiles(molecule, sorted(atoms), bonds, symbols, kinds))
    return name


def _smarts(atom: Atom) -> str:
    """Return what an environment knows of an atom: element, neighbours, hydrogens, charge, and whether in a ring."""
    symbol = atom.GetSymbol().lower() if atom.GetIsAromatic() else atom.GetSymbol()
    charge = f"{atom.GetFormalCharge():+d}" if atom.GetFormalCharge() else ""
    ring = "R" if atom.IsInRing() else "!R"
    return f"[{symbol}X{atom.GetTotalDegree()}H{atom.GetTotalNumHs()}{charge};{ring}]"
