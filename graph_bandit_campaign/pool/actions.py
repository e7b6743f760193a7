"""Read tables whose rows are actions of several slots, such as reactions and their conditions."""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain, islice

from graph_bandit_campaign.pool.source import Source
from graph_bandit_env.pools import ActionTable, find_slots, read_actions
from graph_bandit_env.tables import find_naming, is_table, open_table

LOOKED_AT = 200  # rows of a table for detecting slots


def holds_actions(source: Source, ignored: Collection[str] = ()) -> bool:
    """Return True if the rows of a table are actions: slots were named, or the columns of structures suggest it.

    The columns suggest it if there is no usual column of structures but several others, or if rows with the same
    structure differ in another structure.

    Args:
        source: the table.
        ignored: columns in which replicate rows may differ.
    """
    if source.slot or source.path.is_dir() or not is_table(source.path):
        return bool(source.slot)
    with open_table(source.path, source.sheet) as table:
        columns = [*filter(None, table.columns)]
        rows = (dict(zip(columns, row, strict=True)) for _, row in table.rows((), columns))
        first = [*islice(rows, LOOKED_AT)]
        slots = [name for name in find_slots(first, table) if name not in ignored]
        main = find_naming(table, source.smiles, source.id).smiles
        if len(slots) < 2 or main not in slots:
            return len(slots) > 1 and not main
        actions = {tuple(row[name] for name in (main, *slots)) for row in chain(first, rows)}
    return len({action[0] for action in actions}) < len(actions)


def open_actions(source: Source) -> ActionTable:
    """Read a table of actions, whose rows may differ in other columns. Errors are those of `read_actions`.

    Args:
        source: the table.
    """
    pairs = (text.partition("=") for text in source.slot)
    return read_actions(
        source.path,
        {name: column or name for name, _, column in pairs},
        identifier=source.id,
        sheet=source.sheet,
        on_error="skip" if source.skip_bad_rows else "raise",
        most_atoms=source.most_atoms,
        ignore_columns=None,
    )
