"""Read the columns of the pool that limits, prices and groups are in, and those that are passed on."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.limits.columns import LimitColumns
from graph_bandit_campaign.tables.measured_rows import Columns
from graph_bandit_campaign.tables.spreadsheets import unshield
from graph_bandit_env import MoleculeSet, canonical_smiles
from graph_bandit_env.tables import Table, open_table

SHOWN = 10  # bad rows in a message
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")
OTHER_FORMS = "other_forms"
BETWEEN = " | "  # what rows of one molecule say differently


def read_limit_columns(
    settings: SuggestSettings,
    columns: Columns,
    pool: MoleculeSet,
    numbers: Mapping[str, str],
    texts: Mapping[str, str],
) -> LimitColumns:
    """Read columns of the table of the pool, row by row.

    The table is opened again: the agent must not see these columns, as it sees those of the pool.

    Args:
        settings: settings of the command.
        columns: columns of names and SMILES.
        pool: molecules of the table.
        numbers: columns of numbers by name as the limit has it. Those of prices must be positive.
        texts: columns of text by name as the limit has it.

    Raises:
        ValueError: if the table cannot be read, or a cell of `numbers` is not a number and `--skip-bad-rows` is not
            set. If it is set, the value counts as not known.
    """
    if not numbers and not texts:
        return LimitColumns(())
    finder, skipped = _Finder(pool, settings.most_atoms), {number for number, _ in pool.skipped}
    owners: list[int] = []
    values: dict[str, list[float]] = {name: [] for name in numbers}
    cells_of: dict[str, list[str]] = {name: [] for name in texts}
    problems: list[tuple[int, str]] = []
    with open_table(settings.pool, settings.sheet) as table:
        smiles = columns.smiles if table.has_header else "smiles"
        identifier = columns.identifier if table.has_header or columns.identifier is None else "id"
        known = [smiles, *([identifier] if identifier is not None else [])]
        for number, cells in table.rows([*known, *numbers.values(), *texts.values()]):
            owner = None if number in skipped else finder.find(cells[0], "" if identifier is None else cells[1])
            if owner is None:
                continue
            sides = cells[len(known) :]
            owners.append(owner)
            for (name, column), cell in zip(numbers.items(), sides, strict=False):
                try:
                    values[name].append(_checked(table.side_value(cell, column), name == settings.price, column))
                except ValueError as error:
                    problems.append((number, str(error)))
                    values[name].append(math.nan)
            for name, cell in zip(texts, sides[len(numbers) :], strict=True):
                cells_of[name].append(unshield(cell))
        problems += [problem for problem in table.problems if problem[0] not in skipped]
        place, unit = table.path, table.unit
    if problems and not settings.skip_bad_rows:
        listed = "\n".join(f"  {unit} {number}: {text}" for number, text in sorted(problems)[:SHOWN])
        more = f"\n  and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        raise ValueError(
            f"Expected columns of {place} that limits can be put on, or prices. {len(problems)} rows are bad:\n"
            f"{listed}{more}\n"
            "Correct them, or pass --skip-bad-rows to count these values as not known."
        )
    return LimitColumns(owners, values, cells_of)


def other_columns(names: Iterable[str], settings: SuggestSettings) -> tuple[str, ...]:
    """Return the columns that nothing else in the suggestions shows.

    Columns of measured values are left out too: what the pool has there does not count as results.

    Args:
        names: columns of the pool, without those of names and SMILES.
        settings: settings of the command.
    """
    shown = {name.casefold() for name in (*settings.quantities, settings.noise, settings.price, settings.per) if name}
    return tuple(name for name in names if name and name.casefold() not in shown)


def read_other_columns(
    settings: SuggestSettings, columns: Columns, pool: MoleculeSet, ids: Sequence[str]
) -> dict[str, list[str]]:
    """Return the texts of other columns of the pool's table, for some molecules.

    The table is read once more, since the pool keeps no text.

    Args:
        settings: settings of the command.
        columns: columns of names and SMILES.
        pool: molecules of the table.
        ids: their names.
    """
    finder, skipped = _Finder(pool, settings.most_atoms), {number for number, _ in pool.skipped}
    rank_of, forms = {name: rank for rank, name in enumerate(ids)}, list_forms(forms_of(pool, ids))
    wanted = {place: rank_of[name] for place, name in enumerate(pool.ids) if name in rank_of}
    like = {_letters(pool.smiles[place]) for place in wanted}
    with open_table(settings.pool, settings.sheet) as table:
        known = [columns.smiles, *([columns.identifier] if columns.identifier else [])]
        names = other_columns((name for name in table.columns if name not in known), settings)
        if not names or not table.has_header:
            return forms

        def rows() -> Iterator[tuple[int, Sequence[str]]]:
            for number, (smiles, *cells) in table.rows([*known, *names]):
                identifier = cells.pop(0) if columns.identifier else ""
                if number not in skipped and (identifier or "." in smiles or _letters(smiles) in like):
                    owner = finder.find(smiles, identifier)
                    if owner in wanted:
                        yield wanted[owner], cells

        return forms | join_rows(names, rows(), len(ids), table)


def forms_of(pool: MoleculeSet, ids: Sequence[str]) -> list[list[tuple[str, str]]]:
    """Return names and canonical SMILES of the other rows of each of some molecules that are named otherwise."""
    rows: dict[str, list[tuple[str, str]]] = {name: [] for name in ids}
    smiles_of = {name: text for name, text in zip(pool.ids, pool.smiles, strict=True) if name in rows}
    for alias, name in pool.aliases.items():
        if name in rows:
            rows[name].append((alias, pool.written.get(alias, smiles_of[name])))
    return [rows[name] for name in ids]


def list_forms(forms: Sequence[Sequence[tuple[str, str]]]) -> dict[str, list[str]]:
    """Return a column of the suggestions with names and SMILES of their other rows in the pool; none without any."""
    texts = [
        ", ".join(name if name == smiles else f"{name} ({smiles})" for name, smiles in sorted(rows)) for rows in forms
    ]
    return {OTHER_FORMS: texts} if any(texts) else {}


def join_rows(
    names: Sequence[str], rows: Iterable[tuple[int, Sequence[str]]], count: int, table: Table
) -> dict[str, list[str]]:
    """Return a text for each of some molecules in each column; what its rows say differently stands side by side.

    Args:
        names: names of the columns.
        rows: index of the molecule and cells of each row.
        count: how many molecules there are.
        table: the table, which knows how it writes numbers.
    """
    found: list[list[dict[str, None]]] = [[{} for _ in range(count)] for _ in names]
    for owner, cells in rows:
        for column, cell in zip(found, cells, strict=True):
            text = unshield(cell.strip())
            if table.decimal == "," and DECIMAL_COMMA.fullmatch(text):
                text = text.replace(",", ".")
            if text:
                column[owner][text] = None
    return {name: list(map(BETWEEN.join, column)) for name, column in zip(names, found, strict=True)}


def _checked(value: float, is_price: bool, column: str) -> float:
    if is_price and value <= 0:
        raise ValueError(f"expected a price above 0 in `{column}`. Got {value:g}.")
    return value


class _Finder:
    """Find the molecule of a row of the pool's own table."""

    def __init__(self, pool: MoleculeSet, most_atoms: int) -> None:
        self._pool, self._most_atoms = pool, most_atoms
        self._place_of = {name: place for place, name in enumerate(pool.ids)}

    def find(self, smiles: str, identifier: str) -> int | None:
        """Return the index of a molecule; None if the pool does not have it."""
        if identifier:
            return self._place_of.get(self._pool.aliases.get(identifier, identifier))
        place = self._place_of_smiles.get(smiles)
        if place is None:
            standard = self._pool.standard_smiles(canonical_smiles(smiles, self._most_atoms))
            place = self._place_of_smiles.get(standard)
        return place

    @cached_property
    def _place_of_smiles(self) -> dict[str, int]:
        return {text: place for place, text in enumerate(self._pool.smiles)}


def _letters(smiles: str) -> str:
    """Return the heavy atoms of a SMILES, letter by letter: the same for all SMILES of a molecule."""
    first, *_ = smiles.split(maxsplit=1) or [""]
    return "".join(sorted(letter for letter in first.upper() if letter.isalpha() and letter != "H"))
