"""Replace files atomically, and keep what was computed in the user's cache folder. No torch."""

from graph_bandit_env.storage.array_cache import ArrayCache
from graph_bandit_env.storage.cache_folder import CacheWarning, cache_path, clear_cache, measure_cache, warn_of_earlier
from graph_bandit_env.storage.replacing import find_file, replace_file

__all__ = [
    "ArrayCache",
    "CacheWarning",
    "cache_path",
    "clear_cache",
    "find_file",
    "measure_cache",
    "replace_file",
    "warn_of_earlier",
]
