"""The command `graph-bandit`."""

from importlib.metadata import version

import registry  # noqa: F401 - rejects an `agents` module of another package
from graph_bandit_cli.main import main

__all__ = ["main"]
__version__ = version("graph-bandit-env")
