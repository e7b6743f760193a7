"""A sampler over the graphs of a pool, for OptunaHub; the code is in graph-bandit-env."""

from graph_bandit_bridges import PoolSampler
from graph_bandit_env.pools import KernelPool, from_networkx, from_pyg_dataset, from_smiles

__all__ = ["KernelPool", "PoolSampler", "from_networkx", "from_pyg_dataset", "from_smiles"]
