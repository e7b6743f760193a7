"""Report missing optional packages, with the extra that installs them."""

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
"""Project of each module, and the extra that installs it."""


class MissingExtraError(ImportError):
    """A package of an extra is not installed. The message names the extra."""


def is_installed(module: str) -> bool:
    """Return True if a module of an extra is installed, without importing it."""
    return find_spec(module) is not None


def require(module: str, purpose: str) -> None:
    """Raise an error if a module of an extra is missing.

    Args:
        module: a key of `EXTRAS`.
        purpose: purpose of the module, as the beginning of a sentence: "Reading hits.xlsx".

    Raises:
        MissingExtraError: if it is not installed.
    """
    if not is_installed(module):
        project, extra = EXTRAS[module]
        here = f"pip install 'graph-bandit-env[{extra}]', or in a clone '.[{extra}]'"
        raise MissingExtraError(f"{purpose} needs {project}: {here}.")
