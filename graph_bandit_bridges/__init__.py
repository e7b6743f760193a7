"""Integrations with other libraries, through their interfaces. None of them is needed to import this package."""

from importlib.metadata import version

import lazy_loader

import registry  # noqa: F401 - rejects an `agents` module of another package

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__version__ = version("graph-bandit-env")
