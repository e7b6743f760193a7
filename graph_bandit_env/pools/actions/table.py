"""Read actions of several parts from a table with a row for each action and some columns as slots."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.pools.actions.slots import SlotSet, slot_of
from graph_bandit_env.pools.molecule_parser import MOST_ATOMS, canonical_smiles, smiles_problem
from graph_bandit_env.pools.molecule_rows import BadRowsError
from graph_bandit_env.pools.molecule_sources import OnError
from graph_bandit_env.tables import Table, describe_shared, find_naming, open_table
from graph_bandit_env.tables.entries import differing_columns, refuse_differing

LOOKED_AT = 200  # rows for detecting columns of structures
STRUCTURE = re.compile(r"[()=#\[\]]|[a-zA-Z]1")  # a bond, a branch or a ring
PLURALS = {"structure": "structures", "category": "categories", "number": "numbers"}


@dataclass(frozen=True, eq=False)
class ActionTable:
    """A table with R rows of K unique actions."""

    actions: SlotSet
    """The actions in the order of their first rows, which name them. Other names are `aliases`. Targets are the means
    of the measured values."""
    owners: NDArray[np.int64]
    """`(R,)`. Index of the action of each row."""
    lines: NDArray[np.int64]
    """`(R,)`. Line number of each row in the file."""
    cells: Mapping[str, Sequence[str]]
    """R cells of each column that is not a slot."""
    body: Table
    """The table without rows, for parsing numbers in its format."""
    columns: Mapping[str, str]
    """The column of each slot, by slot name."""
    bad: Sequence[tuple[int, str]]
    """Number and problem of each skipped row."""
    remarks: Sequence[str]
    """Remarks for users on the interpretation of columns."""

    @property
    def differing(self) -> list[str]:
        """Return the columns in which rows of one action differ."""
        return differing_columns(self.owners.tolist(), self.cells)


def read_actions(
    path: str | Path | Table,
    slots: Mapping[str, str] | None = None,
    target: str | None = None,
    identifier: str | None = None,
    sheet: str | None = None,
    on_error: OnError = "raise",
    most_atoms: int = MOST_ATOMS,
    ignore_columns: Collection[str] | None = (),
) -> ActionTable:
    """Read a table of actions.

    A text slot contains structures if RDKit reads most texts, and some have a bond, a branch or a ring, or the column
    name contains "smiles". Otherwise, it contains categories. A slot with only numbers contains numbers. An empty cell
    is the empty category or structure.

    Args:
        path: an open table, or the path of a table for `graph_bandit_env.tables.open_table`.
        slots: columns of slots, by slot name. Unless a column of structures is among them, all such columns are also
            slots.
        target: column of measured values. None if there are none.
        identifier: column of names. If None, `id` or another usual name, and names shared by different actions are
            ignored.
        sheet: sheet of a workbook. If None, the first.
        on_error: "raise" an error if a row is bad, or "skip" the row and list it in `bad`.
        most_atoms: maximum number of atoms of a structure, without hydrogens.
        ignore_columns: as in `from_smiles_csv`. If None, rows of one action may differ in every column.

    Raises:
        FileNotFoundError: if there is no such file.
        ImportError: if RDKit, or the package that reads the file, is not installed.
        BadRowsError: a ValueError, with each unreadable row.
        ValueError: if the file cannot be read, a column is missing, there is no slot, no row is left, or rows of one
            action differ in a column outside `ignore_columns`.
    """
    with nullcontext(path) if isinstance(path, Table) else open_table(path, sheet) as table:
        given = [*dict.fromkeys((slots or {}).values()), *filter(None, [target])]
        others = [name for name in table.columns if name and name not in given]
        rows = [(number, dict(zip((*given, *others), row, strict=True))) for number, row in table.rows(given, others)]
    found, slots = find_slots([row for _, row in rows[:LOOKED_AT]], table), dict(slots or {})
    if not any(column in found for column in slots.values()):
        slots = {**found, **slots}
    if not slots:
        raise ValueError(f"Expected columns of structures in {table.path}. Name slots by `--slot COLUMN`.")
    name_column = find_naming(table, "", identifier, {*slots.values(), target or ""}).identifier
    bad, kinds = dict(table.problems), dict[str, str]()
    for name, column in slots.items():
        kinds[name], problem_of = _kind_of(column, [row[column] for _, row in rows], table, most_atoms)
        bad |= {number: problem_of[row[column]] for number, row in rows if row[column] in problem_of}
    values, good = list[float](), list[tuple[int, dict[str, str]]]()
    for number, row in rows:
        try:
            value = math.nan if target is None else table.side_value(row[target], target)
        except ValueError as error:
            bad[number] = str(error)
        if number not in bad:
            good.append((number, row))
            values.append(value)
    if not good:
        raise ValueError(f"Expected at least one action in {table.path}. Got none ({len(bad)} bad rows).")
    columns = {name: [table.plain(row[column]) for _, row in good] for name, column in slots.items()}
    numbers = {name: [*map(float, columns[name])] for name in slots if kinds[name] == "number"}
    read = [slot_of(name, numbers.get(name, columns[name]), kinds[name] == "structure") for name in slots]
    every = np.stack([place for _, place in read], axis=1)
    _, first, owners = np.unique(every, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    owners, first = np.argsort(order)[owners.reshape(-1)], first[order]
    names = [row.get(name_column, "") for _, row in good]
    owner_of, shared = dict[str, int](), set[str]()
    for name, owner, (number, _) in zip(names, owners.tolist(), good, strict=True):
        if name and owner_of.setdefault(name, owner) != owner:
            shared.add(name)
            bad |= {} if identifier is None else {number: f"`{name}` is another action above."}
    if (bad and on_error == "raise") or (shared and identifier is not None):
        raise BadRowsError(str(table.path), table.unit, sorted(bad.items()))
    plain = SlotSet([slot for slot, _ in read], every[first])
    own = [names[k] if names[k] not in shared else "" for k in first.tolist()]
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):  # missing values give 0 / 0 = NaN
        means = np.bincount(owners, np.where(known, values, 0)) / np.bincount(owners, known)
    plain._label([name or other for name, other in zip(own, plain.ids, strict=True)], means)
    plain.aliases = {name: plain.ids[k] for name, k in owner_of.items() if name not in shared and name != plain.ids[k]}
    counts = [f"{s.name} ({n:,} {s.kind if n == 1 else PLURALS[s.kind]})" for s in plain.slots if (n := len(s.choices))]
    remarks = [f"slots {', '.join(counts)}"]
    remarks += [f"names from `{name_column}` of {table.path.name}"] * (name_column not in ("", "id", identifier))
    made = ActionTable(
        plain,
        owners,
        np.array([number for number, _ in good], np.int64),
        {name: [row[name] for _, row in good] for name in others if name not in (*slots.values(), name_column)},
        replace(table, records=(), problems=[]),
        slots,
        tuple(sorted(bad.items())),
        [*remarks, *(text.replace("their SMILES", "others") for text in describe_shared(shared))],
    )
    if ignore_columns is not None:
        refuse_differing(made.differing, ignore_columns, str(table.path))
    return made


def find_slots(rows: Sequence[Mapping[str, str]], table: Table) -> dict[str, str]:
    """Return the columns of structures of a table, each by its name.

    Args:
        rows: some rows of the table, by column.
        table: the table.
    """
    every = {name: [row[name] for row in rows] for name in table.columns if name and table.has_header}
    return {name: name for name, cells in every.items() if _kind_of(name, cells, table, MOST_ATOMS)[0] == "structure"}


def _kind_of(column: str, cells: Sequence[str], table: Table, most_atoms: int) -> tuple[str, dict[str, str]]:
    """Return the kind of a slot, and the problems of its cells."""
    different = {*cells}
    problem_of = {cell: str(cell) for cell in different if type(cell) is not str}
    texts = sorted(different - problem_of.keys() - {""})
    if texts and all(map(table.is_number, texts)):
        return "number", problem_of | {"": f"expected a number in `{column}`. Got nothing."}
    are_read = [text for text in texts if canonical_smiles(text, most_atoms)]
    are_meant = "smiles" in column.casefold() or any(STRUCTURE.search(text) for text in are_read)
    if 2 * len(are_read) <= len(texts) or not are_meant:
        return "category", problem_of
    unread = {*texts}.difference(are_read)
    return "structure", problem_of | {text: f"`{column}`: {smiles_problem(text, most_atoms)}" for text in unread}
