"""Read users' tables in one way: text, spreadsheets, Parquet and SDF. No torch."""

from graph_bandit_env.tables.entries import (
    NO_ENTRY,
    EntryColumns,
    are_structures,
    differing_columns,
    is_part,
    refuse_differing,
    same_cell,
    split_entry,
    write_entry,
)
from graph_bandit_env.tables.naming import Naming, describe_shared, find_naming
from graph_bandit_env.tables.opening import open_table
from graph_bandit_env.tables.table import Table

__all__ = [
    "NO_ENTRY",
    "EntryColumns",
    "Naming",
    "Table",
    "are_structures",
    "describe_shared",
    "differing_columns",
    "find_naming",
    "is_part",
    "open_table",
    "refuse_differing",
    "same_cell",
    "split_entry",
    "write_entry",
]
