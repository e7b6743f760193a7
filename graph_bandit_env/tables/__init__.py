"""Read users' tables in one way: text, spreadsheets, Parquet and SDF. No numpy, no torch."""

from graph_bandit_env.tables.opening import is_table, open_table
from graph_bandit_env.tables.table import Table, TooManyRowsError, UnknownCell

__all__ = ["Table", "TooManyRowsError", "UnknownCell", "is_table", "open_table"]
