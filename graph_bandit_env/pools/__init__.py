"""Pools of graphs with identifiers and measured values, above all molecules. The extra `chem` installs RDKit."""

from graph_bandit_env.pools.graph_pool import GraphPool, KernelPool
from graph_bandit_env.pools.library import enumerate_library
from graph_bandit_env.pools.molecule_parser import MOST_ATOMS, canonical_smiles, smiles_problem
from graph_bandit_env.pools.molecule_set import MoleculeSet
from graph_bandit_env.pools.molecule_sources import from_smiles, from_smiles_csv, read_molecule_table
from graph_bandit_env.pools.other_sources import from_networkx, from_pyg_dataset
from graph_bandit_env.pools.parents import Salts, is_bare_salt, may_be_form, parent_smiles

__all__ = [
    "MOST_ATOMS",
    "GraphPool",
    "KernelPool",
    "MoleculeSet",
    "Salts",
    "canonical_smiles",
    "enumerate_library",
    "from_networkx",
    "from_pyg_dataset",
    "from_smiles",
    "from_smiles_csv",
    "is_bare_salt",
    "may_be_form",
    "parent_smiles",
    "read_molecule_table",
    "smiles_problem",
]
