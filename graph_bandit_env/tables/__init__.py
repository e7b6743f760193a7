"""Common interface to users' tables: text, spreadsheets, Parquet and SDF. No torch."""

from graph_bandit_env.tables.entries import (
    differing_columns,
    is_part,
    refuse_differing,
    same_cell,
)
from graph_bandit_env.tables.naming import Naming, describe_shared, find_naming
from graph_bandit_env.tables.opening import is_table, open_table
from graph_bandit_env.tables.table import Table

__all__ = [
    "Naming",
    "Table",
    "describe_shared",
    "differing_columns",
    "find_naming",
    "is_part",
    "is_table",
    "open_table",
    "refuse_differing",
    "same_cell",
]
