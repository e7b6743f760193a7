"""Pass on the columns of a pool that nothing else reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from graph_bandit_campaign.pool.block import Cells

DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")
OTHER_FORMS = "other_forms"
BETWEEN = " | "  # what rows of one molecule say differently


def other_columns(names: Iterable[str], shown: Iterable[str | None]) -> tuple[str, ...]:
    """Return the columns that nothing else in the suggestions shows, whose capitals do not count.

    Args:
        names: columns of the pool, without those of names and SMILES.
        shown: columns that are shown, and those of measured values: what the pool has there does not count as results.
    """
    taken = {name.casefold() for name in shown if name}
    return tuple(name for name in names if name and name.casefold() not in taken)


def list_forms(forms: Sequence[Sequence[tuple[str, str]]]) -> dict[str, list[str]]:
    """Return a column of the suggestions with names and SMILES of their other rows in the pool; none without any."""
    texts = [
        ", ".join(name if name == smiles else f"{name} ({smiles})" for name, smiles in sorted(rows)) for rows in forms
    ]
    return {OTHER_FORMS: texts} if any(texts) else {}


def join_cells(cells: Cells, count: int) -> dict[str, list[str]]:
    """Return a text for each of some molecules in each column; what its rows say differently stands side by side.

    Args:
        cells: cells of the columns.
        count: how many molecules there are.
    """
    joined = {}
    for name in cells.texts:
        different: list[dict[str, None]] = [{} for _ in range(count)]
        for owner, text in zip(cells.owners.tolist(), cells.words(name), strict=True):
            if cells.table.decimal == "," and DECIMAL_COMMA.fullmatch(text):
                text = text.replace(",", ".")
            if text:
                different[owner][text] = None
        joined[name] = list(map(BETWEEN.join, different))
    return joined
