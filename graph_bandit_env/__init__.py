"""Graph sets, reward functions and the environment `GraphActionBandit-v0`.

Importing this package registers the environment, and `GraphActionBanditPadded-v0` with array observations. With names
such as "graph_bandit_env:GraphActionBandit-v0", `gymnasium.make` imports the package. torch and `gntk` are imported
only if a reward model or `GraphSet.to_pyg` needs them.
"""

from importlib.metadata import version

from gymnasium.envs.registration import register

from graph_bandit_env.bandit.arguments import BanditArguments
from graph_bandit_env.env import GraphActionBandit, GraphActionBanditVector, spread_seeds
from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.graphs.random_graphs import RandomGraphs
from graph_bandit_env.pools.actions import SlotSet, from_slots
from graph_bandit_env.pools.graph_pool import GraphPool
from graph_bandit_env.pools.library import enumerate_library
from graph_bandit_env.pools.molecule_parser import canonical_smiles
from graph_bandit_env.pools.molecule_set import MoleculeSet
from graph_bandit_env.pools.molecule_sources import from_smiles, from_smiles_csv
from graph_bandit_env.pools.other_sources import from_networkx, from_pyg_dataset

__all__ = [
    "BanditArguments",
    "GraphActionBandit",
    "GraphActionBanditVector",
    "GraphPool",
    "GraphSet",
    "MoleculeSet",
    "RandomGraphs",
    "SlotSet",
    "__version__",
    "canonical_smiles",
    "enumerate_library",
    "from_networkx",
    "from_pyg_dataset",
    "from_slots",
    "from_smiles",
    "from_smiles_csv",
    "spread_seeds",
]

__version__ = version("graph-bandit-env")

register(
    id="GraphActionBandit-v0",
    entry_point="graph_bandit_env.env:GraphActionBandit",
    vector_entry_point="graph_bandit_env.env:GraphActionBanditVector",
)

register(
    id="GraphActionBanditPadded-v0",
    entry_point="graph_bandit_env.wrappers.padded:padded_bandit",
    vector_entry_point="graph_bandit_env.wrappers.padded:padded_bandits",
)
