"""The command `graph-bandit`."""

from graph_bandit_cli.main import main

__all__ = ["main"]
