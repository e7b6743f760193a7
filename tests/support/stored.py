"""Results files that another program has changed."""

import sqlite3
from contextlib import closing

from graph_bandit_lab.storage.results import read_rows
from graph_bandit_lab.storage.rows import checksum


def execute(path, *statements):
    """Execute statements of SQL, texts or pairs of a text and its values."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(*((statement,) if isinstance(statement, str) else statement))


def forge(path, *statements):
    """Execute statements, and make the checksums of all rows right again, as someone can who knows how."""
    execute(path, *statements)
    with closing(sqlite3.connect(path)) as connection, connection:
        for rowid, row in list(read_rows(connection)):
            connection.execute("UPDATE repetitions SET checksum = ? WHERE rowid = ?", (checksum(row), rowid))
