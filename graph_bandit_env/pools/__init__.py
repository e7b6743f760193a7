"""Pools of graphs with identifiers and measured values, mainly molecules. The extra `chem` installs RDKit."""

from graph_bandit_env.pools.actions import (
    ActionTable,
    Slot,
    SlotSet,
    every_action,
    find_slots,
    from_slots,
    read_actions,
)
from graph_bandit_env.pools.graph_pool import GraphPool, KernelPool
from graph_bandit_env.pools.library import enumerate_library
from graph_bandit_env.pools.molecule_parser import MOST_ATOMS, canonical_smiles, smiles_problem, unread_graphs
from graph_bandit_env.pools.molecule_rows import BadRowsError, check_known
from graph_bandit_env.pools.molecule_set import MoleculeSet
from graph_bandit_env.pools.molecule_sources import from_smiles, from_smiles_csv
from graph_bandit_env.pools.other_sources import from_networkx, from_pyg_dataset
from graph_bandit_env.pools.parents import Salts, is_bare_salt, may_be_form, parent_smiles

__all__ = [
    "MOST_ATOMS",
    "ActionTable",
    "BadRowsError",
    "GraphPool",
    "KernelPool",
    "MoleculeSet",
    "Salts",
    "Slot",
    "SlotSet",
    "canonical_smiles",
    "check_known",
    "enumerate_library",
    "every_action",
    "find_slots",
    "from_networkx",
    "from_pyg_dataset",
    "from_slots",
    "from_smiles",
    "from_smiles_csv",
    "is_bare_salt",
    "may_be_form",
    "parent_smiles",
    "read_actions",
    "smiles_problem",
    "unread_graphs",
]
