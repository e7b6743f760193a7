"""Forty molecules with computed values, in a moment."""

from functools import lru_cache
from itertools import product

from rdkit import Chem
from rdkit.Chem.Crippen import MolLogP

from graph_bandit_env import from_smiles
from graph_bandit_env.pools.library import SCAFFOLDS, SUBSTITUENTS

ODD_MOLECULES = (
    "CCO",
    "c1ccccc1C(=O)[O-].[Na+]",
    "C",
    "CCCCN",
    "O=[N+]([O-])c1ccc(Br)cc1",
    "N[C@@H](C)C(=O)O",
    "[Na+]",
)
"""Salts, charges, a stereocentre, and single atoms without pairs."""


@lru_cache
def some_molecules(count=40):
    """Return different molecules with their logP as targets."""
    pairs = product(SCAFFOLDS[::2], SUBSTITUENTS[::3], SUBSTITUENTS[1::5])
    every = [Chem.MolToSmiles(Chem.MolFromSmiles(scaffold.format(*both))) for scaffold, *both in pairs]
    smiles = list(dict.fromkeys(every))
    chosen = smiles[:: len(smiles) // count][:count]
    return from_smiles(chosen, [MolLogP(Chem.MolFromSmiles(text)) for text in chosen])
