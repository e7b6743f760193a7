"""Refuse what needs a package that is not installed, and name the extra that installs it."""

from __future__ import annotations

from importlib.util import find_spec

__all__ = ["EXTRAS", "MissingExtraError", "is_installed", "require"]

EXTRAS = {
    "rdkit": ("RDKit", "chem"),
    "openpyxl": ("openpyxl", "chem"),
    "fastapi": ("FastAPI", "serve"),
    "uvicorn": ("uvicorn", "serve"),
    "mcp": ("mcp", "serve"),
    "pebble": ("Pebble", "serve"),
    "sklearn": ("scikit-learn", "sklearn"),
    "optuna": ("Optuna", "optuna"),
    "botorch": ("BoTorch", "botorch"),
    "ax": ("ax-platform", "ax"),
    "pyarrow": ("pyarrow", "parquet"),
    "duckdb": ("DuckDB", "chem"),
    "tensorboard": ("tensorboard", "tensorboard"),
    "distributed": ("distributed", "distributed"),
}
"""Name of the project that brings a module, and the extra that installs it."""


class MissingExtraError(ImportError):
    """A package is not installed that an extra of graph-bandit-env installs; the message says which."""


def is_installed(module: str) -> bool:
    """Return whether a module of an extra is installed, without importing it."""
    return find_spec(module) is not None


def require(module: str, purpose: str) -> None:
    """Refuse to go on without a module of an extra.

    Args:
        module: a key of `EXTRAS`.
        purpose: what needs it, as the beginning of a sentence: "Reading hits.xlsx".

    Raises:
        MissingExtraError: if it is not installed.
    """
    if not is_installed(module):
        project, extra = EXTRAS[module]
        here = f"pip install 'graph-bandit-env[{extra}]', or in a clone '.[{extra}]'"
        raise MissingExtraError(f"{purpose} needs {project}: {here}.")
