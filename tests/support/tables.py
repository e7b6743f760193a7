"""Tables of text, as tests write and read them."""

import csv
from pathlib import Path


def write(path, rows, delimiter=","):
    """Write rows, the first of them the names of the columns; return the path."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
    return Path(path)


def read(path="out.csv"):
    """Return a row a dictionary."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
