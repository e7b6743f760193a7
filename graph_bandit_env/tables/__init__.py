"""Read users' tables in one way: text, spreadsheets, Parquet and SDF. No numpy, no torch."""

from graph_bandit_env.tables.opening import open_table
from graph_bandit_env.tables.table import Table, TooManyRowsError

__all__ = ["Table", "TooManyRowsError", "open_table"]
