"""The command `graph-bandit`."""

from importlib.metadata import version

import _graph_bandit_strangers  # noqa: F401 - refuses to run if another `agents` or `registry` is installed
from graph_bandit_cli.main import main

__all__ = ["main"]
__version__ = version("graph-bandit-env")
