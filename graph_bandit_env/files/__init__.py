"""Read a pool of graphs from a file of any form, or by its name, and compute the digest of what is in it."""

from graph_bandit_env.files.nas_cells import from_nas_cells
from graph_bandit_env.files.pool_digest import digest
from graph_bandit_env.files.reading import is_name, read_pool

__all__ = ["digest", "from_nas_cells", "is_name", "read_pool"]
