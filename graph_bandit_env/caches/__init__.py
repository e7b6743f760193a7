"""Keep what was computed from a table in a hidden file next to it."""

from graph_bandit_env.caches.array_cache import ArrayCache

__all__ = ["ArrayCache"]
