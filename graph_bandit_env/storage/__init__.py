"""Replace files atomically, cache results in the user's cache folder, and inspect archives. No torch."""

from graph_bandit_env.storage.cache_folder import (
    MOST_DEFLATED,
    cache_path,
    clear_cache,
    make_room,
    measure_cache,
    open_cache,
    unpacked_size,
)
from graph_bandit_env.storage.replacing import find_file, replace_file

__all__ = [
    "MOST_DEFLATED",
    "cache_path",
    "clear_cache",
    "find_file",
    "make_room",
    "measure_cache",
    "open_cache",
    "replace_file",
    "unpacked_size",
]
