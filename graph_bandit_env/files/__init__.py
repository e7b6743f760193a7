"""Read pools of graphs from files of any form, or by name, and embeddings; compute the digest of a pool."""

from graph_bandit_env.files.architectures import from_architectures
from graph_bandit_env.files.embeddings import Embeddings, read_embeddings
from graph_bandit_env.files.nas_cells import CELL_COLUMN, from_nas_cells
from graph_bandit_env.files.pool_digest import digest
from graph_bandit_env.files.reading import (
    holds_molecules,
    is_file_of_graphs,
    is_name,
    lists_molecules,
    read_pool,
)

__all__ = [
    "CELL_COLUMN",
    "Embeddings",
    "digest",
    "from_architectures",
    "from_nas_cells",
    "holds_molecules",
    "is_file_of_graphs",
    "is_name",
    "lists_molecules",
    "read_embeddings",
    "read_pool",
]
