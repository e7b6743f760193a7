"""Choose what to measure next from a pool of graphs, and take in what came back."""

from importlib.metadata import version

import lazy_loader

import _graph_bandit_strangers  # noqa: F401 - refuses to run beside another `agents` or `registry`

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__version__ = version("graph-bandit-env")
