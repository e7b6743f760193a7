"""Serve the campaigns of a folder to a team: pages in a browser, JSON for programs and tools for language models."""

from importlib.metadata import version

import lazy_loader

import registry  # noqa: F401 - rejects an `agents` module of another package

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__version__ = version("graph-bandit-env")
