"""Choose the graphs of a pool to measure next, and learn from the results."""

from importlib.metadata import version

import lazy_loader

import registry  # noqa: F401 - rejects the `agents` of another package

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__version__ = version("graph-bandit-env")
