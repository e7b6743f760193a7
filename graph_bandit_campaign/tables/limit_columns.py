"""Read the columns of the pool that limits, prices and groups are in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property

from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.limits.columns import LimitColumns
from graph_bandit_campaign.tables.measured_rows import Columns
from graph_bandit_campaign.tables.spreadsheets import unshield
from graph_bandit_env import MoleculeSet, canonical_smiles
from graph_bandit_env.tables import open_table

SHOWN = 10  # bad rows in a message


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
        return place if place is not None else self._place_of_smiles.get(canonical_smiles(smiles, self._most_atoms))

    @cached_property
    def _place_of_smiles(self) -> dict[str, int]:
        return {text: place for place, text in enumerate(self._pool.smiles)}
