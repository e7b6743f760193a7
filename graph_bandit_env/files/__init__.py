"""Read pools of graphs from files or by name, read embeddings, and compute the digest of a pool."""

from graph_bandit_env.files.embeddings import Embeddings, read_embeddings
from graph_bandit_env.files.pool_digest import digest
from graph_bandit_env.files.reading import as_pool, is_file_of_graphs, is_name, read_pool

__all__ = [
    "Embeddings",
    "as_pool",
    "digest",
    "is_file_of_graphs",
    "is_name",
    "read_embeddings",
    "read_pool",
]
