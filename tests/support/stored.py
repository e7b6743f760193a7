"""Results files that another program has changed."""

import sqlite3
from contextlib import closing


def execute(path, *statements):
    """Execute statements of SQL, texts or pairs of a text and its values."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(*((statement,) if isinstance(statement, str) else statement))
