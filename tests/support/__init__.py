"""What tests share."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
"""Of the repository."""
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
"""Its metadata."""
PRODUCT = (
    "gntk",
    "graph_bandit_env",
    "agents",
    "registry",
    "graph_bandit_lab",
    "graph_bandit_campaign",
    "graph_bandit_bridges",
    "graph_bandit_serve",
    "graph_bandit_cli",
)
"""Packages that are installed, and one module."""
