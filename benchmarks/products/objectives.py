"""Libraries that can be listed, with the value of every product: one set to choose settings on, one to report."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, product
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rdkit import Chem, DataStructs
from rdkit.Chem import rdMolDescriptors
from sklearn.ensemble import RandomForestClassifier

from agents.products import BlockKernel
from benchmarks.products.similarities import PRINTS, similarities
from graph_bandit_env.pools.products import Part, ProductLibrary, Reaction, Slot
from graph_bandit_env.storage import ArrayCache

Purpose = Literal["choose", "report"]
Floats = NDArray[np.float64] | NDArray[np.float32]
SEEDS: dict[Purpose, int] = {"choose": 0, "report": 1}
QUERIES: dict[Purpose, str] = {
    "choose": "CC(C)Cn1c(CCc2ccncc2)nc2cc(F)ccc2c1=O",
    "report": "O=C(NC1CC1)CCc1nc2ccc(Cl)cc2c(=O)n1Cc1ccccn1",
}
QUINAZOLINE = "N[c:4][c:3]C(O)=O.[#6:1][NH2].[#6:2]C(=O)[OH]>>[C:2]c1n[c:4][c:3]c(=O)n1[C:1]"
AMIDE = "[#6:1]C(=O)[OH].[NH2:2][#6:3]>>[#6:1]C(=O)[N:2][#6:3]"
ACIDS, AMINES, AMINOBENZOIC = "carboxylic_acids_ok", "primary_amines_ok", "aminobenzoic_ok"
ASSAY, INACTIVE, TREES = "MAPK1.csv.gz", 5000, 200
PROFILE = ((3.0, 1.0), (80.0, 20.0), (400.0, 50.0))  # of logP, polar area and mass: what is wanted, and how nearly
FACTORS, CALM = 2, 0.35  # of interactions between slots; share of the variance that sums over slots have
CHUNK = 4096
MOST_BYTES = 1 << 29  # of the values of an objective


@dataclass(frozen=True)
class Objective:
    """A library, and the value of each product."""

    library: ProductLibrary
    values: Floats
    """`(N,)`; NaN where there is no such product."""
    additive: float
    """Share of the variance that sums over slots explain."""

    def count_found(self, numbers: Iterable[int], most: int = 100) -> int:
        """Return how many of the best products are among some; of those that tie for the last place any counts."""
        best = np.empty(0)
        for chunk in np.array_split(self.values, 1 + len(self.values) // 1_000_000):
            best = np.sort(np.concatenate([best, chunk[~np.isnan(chunk)]]))[-most:]
        return min(most, int((self.values[[*numbers]] >= best[0]).sum()))


def make_objective(name: str, purpose: Purpose, data: Path) -> Objective:
    """Return one of `OBJECTIVES`; the values are computed once, and kept in the cache folder.

    Args:
        name: its name.
        purpose: of the set of blocks, queries and interactions.
        data: folder of the tables.
    """
    kind, rate = OBJECTIVES[name]
    library = _library(kind, purpose, data)
    key = json.dumps([name, purpose, library.digest, VERSION]).encode()
    cache = ArrayCache(key, MOST_BYTES)
    kept = cache.load()
    if kept is None:
        values = rate(library, purpose, data)
        kept = {"values": values, "additive": np.array([share_of_sums(values.reshape(library.parts[0].sizes))])}
        cache.save(kept)
    known: Any = kept["values"]  # of either precision
    return Objective(library, known, float(kept["additive"][0]))


def share_of_sums(values: Floats) -> float:
    """Return the share of the variance of values that sums over their axes explain; NaN counts as missing."""
    left = values - np.nanmean(values)
    total = np.nanvar(left)
    for axis in range(values.ndim):
        others = tuple(other for other in range(values.ndim) if other != axis)
        left -= np.nanmean(left, axis=others, keepdims=True)
    return float(1 - np.nanvar(left) / total)


@lru_cache(maxsize=2)
def _library(kind: str, purpose: Purpose, data: Path) -> ProductLibrary:
    """Return 250,000 products of blocks that the other purpose does not have, or all quinazolines of the literature."""
    names, size, smarts = {
        "quinazoline": ((AMINOBENZOIC, AMINES, ACIDS), 63, QUINAZOLINE),
        "amide": ((ACIDS, AMINES), 500, AMIDE),
        "quinazolines": ((AMINOBENZOIC, "primary_amines_500", "carboxylic_acids_500"), None, QUINAZOLINE),
    }[kind]
    return make_library(kind, smarts, [(data / f"{name}.smi", size) for name in names], SEEDS[purpose])


def make_library(name: str, smarts: str, slots: Iterable[tuple[Path, int | None]], number: int = 0) -> ProductLibrary:
    """Return a library of blocks drawn at random from files, of those that can react at one place alone.

    Args:
        name: of the reaction.
        smarts: the reaction.
        slots: file of the blocks of each slot, and how many are drawn; None: all.
        number: which draw; the blocks of two draws differ.
    """
    reaction, drawn = Reaction(name, smarts), list[Slot]()
    for path, size in slots:
        table = pd.read_csv(path, sep=" ", names=["smiles", "id"]).drop_duplicates("smiles").drop_duplicates("id")
        blocks = [*map(Chem.MolFromSmiles, table["smiles"])]
        good = [k for k, block in enumerate(blocks) if reaction.count_sites(len(drawn), block) == 1]
        if size is not None:
            order = np.random.default_rng(0).permutation(len(good))
            good = [good[k] for k in np.sort(order[number * size : (number + 1) * size])]
        ids, smiles = ([*map(str, table["id"])][k] for k in good), (Chem.MolToSmiles(blocks[k]) for k in good)
        drawn.append(Slot(name=f"{path.stem}{len(drawn)}", ids=tuple(ids), smiles=tuple(smiles)))
    return ProductLibrary([Part(reaction=reaction, slots=tuple(drawn))])


def _of_molecules(library: ProductLibrary, rate: Callable[[list[Chem.Mol]], Floats]) -> Floats:
    """Return the values of all products that can be made, a chunk at a time."""
    values, part = np.full(len(library), np.nan), library.parts[0]
    blocks = [[*map(Chem.MolFromSmiles, slot.smiles)] for slot in part.slots]
    tuples = product(*(range(len(slot)) for slot in part.slots))
    made, numbers = list[Chem.Mol](), list[int]()
    for number, chosen in enumerate(tuples):
        try:
            text = part.reaction.product([of_slot[k] for of_slot, k in zip(blocks, chosen, strict=True)])
        except ValueError:
            continue
        made.append(Chem.MolFromSmiles(text))
        numbers.append(number)
        if len(made) == CHUNK:
            values[numbers] = rate(made)
            made.clear()
            numbers.clear()
    if made:
        values[numbers] = rate(made)
    return values


def _similarity(library: ProductLibrary, purpose: Purpose, data: Path) -> Floats:
    """Return the Tanimoto similarity to a query."""
    query = PRINTS.GetFingerprint(Chem.MolFromSmiles(QUERIES[purpose]))
    return _of_molecules(
        library, lambda made: np.array(DataStructs.BulkTanimotoSimilarity(query, [*map(PRINTS.GetFingerprint, made)]))
    )


def _similarity_of_all(library: ProductLibrary, purpose: Purpose, data: Path) -> Floats:
    """Return the same by pairs of blocks; aromatic atoms of an aminobenzoic acid are alike where rings join."""
    return similarities(library, Chem.MolFromSmiles(QUERIES[purpose]), same=(3, 4))


def _profile(library: ProductLibrary, purpose: Purpose, data: Path) -> Floats:
    """Return how nearly logP, polar area and mass are as wanted: a product of three bell curves."""

    def rate(made: list[Chem.Mol]) -> Floats:
        read = (
            lambda molecule: rdMolDescriptors.CalcCrippenDescriptors(molecule)[0],
            rdMolDescriptors.CalcTPSA,
            rdMolDescriptors.CalcExactMolWt,
        )
        numbers = np.array([[of(molecule) for of in read] for molecule in made])
        centres, widths = np.array(PROFILE).T
        return np.asarray(np.exp(-np.square((numbers - centres) / widths).sum(axis=1) / 2))

    return _of_molecules(library, rate)


def _forest(library: ProductLibrary, purpose: Purpose, data: Path) -> Floats:
    """Return the share of the trees of a random forest that call a product active; another forest for each purpose."""
    assay = pd.read_csv(data / ASSAY)
    generator = np.random.default_rng(SEEDS[purpose])
    inactive = assay[assay["active"] == 0]
    some = pd.concat([assay[assay["active"] == 1], inactive.iloc[generator.permutation(len(inactive))[:INACTIVE]]])
    bits = np.array([PRINTS.GetFingerprintAsNumPy(Chem.MolFromSmiles(text)) for text in some["SMILES"]])
    forest = RandomForestClassifier(TREES, random_state=SEEDS[purpose]).fit(bits, some["active"])
    return _of_molecules(
        library,
        lambda made: np.asarray(forest.predict_proba(np.array([*map(PRINTS.GetFingerprintAsNumPy, made)]))[:, 1]),
    )


def _interactions(library: ProductLibrary, purpose: Purpose, data: Path) -> Floats:
    """Return sums over slots and over pairs of slots.

    What a block adds, and the factors by which two blocks interact, are half structure and half chance.
    """
    generator = np.random.default_rng([SEEDS[purpose], 7])
    slots, drawn = library.parts[0].slots, list[Floats]()
    for slot in slots:
        kernel = BlockKernel.of_smiles(slot.smiles)
        covariance = kernel.columns(np.arange(len(kernel))).astype(np.float64)
        root = np.linalg.cholesky(covariance + 1e-9 * np.eye(len(kernel)))
        drawn.append(root @ generator.normal(size=(len(kernel), 1 + FACTORS * (len(slots) - 1))))
    shape = [len(slot) for slot in slots]
    alone, together = np.zeros(shape), np.zeros(shape)
    taken = [1] * len(slots)
    for s, values in enumerate(drawn):
        alone += _along(values[:, 0], s, len(slots))
    for s, t in combinations(range(len(slots)), 2):
        first = drawn[s][:, taken[s] : taken[s] + FACTORS]
        second = drawn[t][:, taken[t] : taken[t] + FACTORS]
        taken[s], taken[t] = taken[s] + FACTORS, taken[t] + FACTORS
        pairs = (first - first.mean(0)) @ (second - second.mean(0)).T
        together += np.expand_dims(pairs, tuple(axis for axis in range(len(slots)) if axis not in (s, t)))
    values = np.sqrt(CALM) * alone / alone.std() + np.sqrt(1 - CALM) * together / together.std()
    return np.asarray(values.reshape(-1))


def _along(values: Floats, axis: int, axes: int) -> Floats:
    return values.reshape([-1 if k == axis else 1 for k in range(axes)])


VERSION = 2  # of the values; raise it when they change
OBJECTIVES: dict[str, tuple[str, Callable[[ProductLibrary, Purpose, Path], Floats]]] = {
    "similarity": ("quinazoline", _similarity),
    "forest": ("amide", _forest),
    "profile": ("quinazoline", _profile),
    "interactions": ("quinazoline", _interactions),
    "similarity-93M": ("quinazolines", _similarity_of_all),
}
"""Kind of library, and how products are rated, by name."""
