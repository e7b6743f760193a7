"""The pools by name: the file of each, its column of values, and which values are wanted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rdkit.Chem import MolFromSmarts, MolFromSmiles
from rdkit.Chem.rdMolDescriptors import CalcCrippenDescriptors

from graph_bandit_env import GraphPool, from_smiles
from graph_bandit_env.pools import read_actions

Kind = Literal["computed", "measured"]
Wanted = Literal["large", "small", "potent"]

WAVELENGTH = "E isomer pi-pi* wavelength in nm"
SOLUBILITY = "measured log solubility in mols per litre"
DRAWN = 10_000  # molecules drawn from the docking pool
MADE = "logP with noise and a cliff"  # a target that no table has
DOCKING = re.compile(r"docking-(\d{1,6})")  # with the seed of the draw


@dataclass(frozen=True)
class Pool:
    """A pool of molecules with a value for each, read from a table."""

    name: str
    """Unique name."""
    kind: Kind
    """Origin of the values: "computed" from the structure (also by docking or simulation), or "measured" in a
    laboratory."""
    file: str
    """Path of the table in the folder of the data."""
    target: str
    """Column of the values; rows without one are left out."""
    wanted: Wanted = "large"
    """The values that are wanted: "large" or "small" ones, or concentrations of "potent" molecules."""
    graphs: str = "smiles"
    """Column of the SMILES; empty: all columns of SMILES are slots of actions."""
    draw: int | None = None
    """Seed by which 10,000 rows are drawn; None: all rows are taken."""
    columns: tuple[str, ...] = ()
    """Columns that the molecules bring along, as a user's own do; empty cells are not known."""

    @property
    def molecules(self) -> str:
        """Return the name without what follows a `+`: pools with other columns are split and started alike."""
        return self.name.partition("+")[0]

    def read(self, folder: Path) -> GraphPool:
        """Read the graphs; their targets are the values, of which large ones are wanted.

        Equal molecules are one, with the mean of their values. Molecules of more than 250 atoms are left out.
        """
        if not self.graphs:
            return read_actions(folder / self.file, target=self.target).actions
        table = pd.read_csv(folder / self.file)
        if self.target == MADE:
            table[MADE] = logp_with_a_cliff(list(table[self.graphs]))
        table = table.dropna(subset=[self.target])
        if self.draw is not None:
            table = table.iloc[np.random.default_rng(self.draw).choice(len(table), DRAWN, replace=False)]
        raw = table[self.target].to_numpy(np.float64)
        values = raw if self.wanted == "large" else -raw if self.wanted == "small" else -np.log10(raw)
        own = {name: table[name].to_numpy(np.float64) for name in self.columns}
        return from_smiles(list(table[self.graphs]), list(values), on_error="skip", columns=own, salts="separate")


CHEMBL = """
    1862_Ki 1871_Ki 2034_Ki 2047_EC50 204_Ki 2147_Ki 214_Ki 218_EC50 219_Ki 228_Ki 231_Ki 233_Ki 234_Ki 235_EC50
    236_Ki 237_EC50 237_Ki 238_Ki 239_EC50 244_Ki 262_Ki 264_Ki 2835_Ki 287_Ki 2971_Ki 3979_EC50 4005_Ki 4203_Ki
    4616_EC50 4792_Ki
"""
ZINC = """
    Amlodipine_MPO Aripiprazole_Similarity Celecoxib_Rediscovery Fexofenadine_MPO LogP Median_1 Osimertinib_MPO
    Perindopril_MPO QED Ranolazine_MPO Scaffold_Hop Zaleplon_MPO
"""
ADME: dict[str, tuple[str, Wanted]] = {  # slow clearance and little efflux are wanted
    "HLM": ("LOG HLM_CLint (mL/min/kg)", "small"),
    "RLM": ("LOG RLM_CLint (mL/min/kg)", "small"),
    "efflux": ("LOG MDR1-MDCK ER (B-A/A-B)", "small"),
    "solubility": ("LOG SOLUBILITY PH 6.8 (ug/mL)", "large"),
    "unbound-human": ("LOG PLASMA PROTEIN BINDING (HUMAN) (% unbound)", "large"),
    "unbound-rat": ("LOG PLASMA PROTEIN BINDING (RAT) (% unbound)", "large"),
}
ENDPOINTS = ("RLM", "efflux", "solubility")
HLM = Pool("HLM", "measured", "adme.csv", *ADME["HLM"], "SMILES")
ESOL = Pool("ESOL", "measured", "delaney-processed.csv", SOLUBILITY)

GROUPS: dict[str, tuple[Pool, ...]] = {
    "affinity": tuple(
        # the affinities to TYK2 are free energies by simulation [Thompson et al. 2022]
        Pool(name, "computed" if name == "TYK2" else "measured", f"affinity/{name}.csv.gz", "affinity", graphs="SMILES")
        for name in ("TYK2", "USP7", "D2R", "Mpro")
    ),
    "zinc": tuple(Pool(f"zinc_{name}", "computed", f"rbo/zinc_{name}.csv.gz", "target") for name in ZINC.split()),
    "chembl": tuple(
        Pool(f"CHEMBL{name}", "measured", f"rbo/CHEMBL{name}.csv.gz", "target", "potent") for name in CHEMBL.split()
    ),
    "adme": tuple(
        Pool(name, "measured", "adme.csv", column, wanted, "SMILES") for name, (column, wanted) in ADME.items()
    ),
    "esol": (ESOL, replace(ESOL, name="ESOL-min", wanted="small")),
    "reactions": (Pool("suzuki", "measured", "reactions/suzuki.csv.gz", "yield", graphs=""),),  # [Perera et al. 2018]
    "made": (Pool("logp-cliff", "computed", "rbo/zinc_LogP.csv.gz", MADE),),
    "switches": (Pool("photoswitches", "measured", "photoswitches.csv", WAVELENGTH, graphs="SMILES"),),
    "own-columns": (replace(HLM, name="HLM+endpoints", columns=tuple(ADME[name][0] for name in ENDPOINTS)),),
}
POOLS = {pool.name: pool for group in GROUPS.values() for pool in group}


def logp_with_a_cliff(smiles: Sequence[str]) -> NDArray[np.float64]:
    """Return Crippen logP with noise (sd 0.5) of each molecule, less 3 if it has a sulfonyl group."""
    molecules, sulfonyl = [MolFromSmiles(text) for text in smiles], MolFromSmarts("S(=O)=O")
    values = [CalcCrippenDescriptors(each)[0] - 3 * each.HasSubstructMatch(sulfonyl) for each in molecules]
    return np.array(values) + np.random.default_rng(0).normal(0, 0.5, len(values))


def docking_pool(draw: int) -> Pool:
    """Return the pool of 10,000 molecules with docking scores, drawn by a seed; low scores are the best."""
    return Pool(f"docking-{draw}", "computed", "docking_pool.csv.gz", "score", "small", draw=draw)


def find_pools(names: Sequence[str]) -> tuple[Pool, ...]:
    """Return pools by their names and those of groups, each pool once.

    Args:
        names: keys of `POOLS` and `GROUPS`, or `docking-D` for the molecules of draw D.

    Raises:
        ValueError: if there is no name, or one is unknown.
    """
    if not names:
        raise ValueError(f"Expected names of pools. Got none. Groups of pools: {', '.join(GROUPS)}.")
    chosen: dict[str, Pool] = {}
    for name in names:
        draw = DOCKING.fullmatch(name)
        pools = GROUPS.get(name) or ((docking_pool(int(draw[1])),) if draw else (_find_pool(name),))
        chosen.update({pool.name: pool for pool in pools})
    return tuple(chosen.values())


def _find_pool(name: str) -> Pool:
    if name not in POOLS:
        raise ValueError(f"Unknown pool `{name}`. Groups: {', '.join(GROUPS)}. Pools: docking-1, {', '.join(POOLS)}.")
    return POOLS[name]
