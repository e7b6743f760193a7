"""Read the columns of a prepared pool that limits, prices and groups are in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.limits.columns import LimitColumns
from graph_bandit_campaign.prepared import Cells
from graph_bandit_campaign.tables.spreadsheets import unshield


@dataclass(frozen=True)
class ColumnNames:
    """Columns of the pool's table, by their name in a limit, or in the options of prices and groups."""

    numbers: Mapping[str, str] = field(default_factory=dict)
    """Columns of numbers."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Columns of text."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns, each once."""
        return tuple(dict.fromkeys((*self.numbers.values(), *self.texts.values())))


def read_cells(cells: Cells, names: ColumnNames, settings: SuggestSettings) -> LimitColumns:
    """Read columns of some molecules, row by row.

    Args:
        cells: cells of these columns.
        names: the columns.
        settings: settings of the command.

    Raises:
        ValueError: if a cell of numbers is not a number, or a price not above 0, and `--skip-bad-rows` is not set. If
            it is set, the value counts as not known.
    """
    numbers: dict[str, list[float]] = {}
    for name, column in names.numbers.items():
        values = []
        for row, text in zip(cells.rows.tolist(), cells.texts[column], strict=True):
            try:
                value = cells.table.side_value(text.strip(), column)
                if name == settings.price and value <= 0:
                    raise ValueError(f"expected a price above 0 in `{column}`. Got {value:g}.")
            except ValueError as error:
                if not settings.skip_bad_rows:
                    raise ValueError(
                        f"Expected numbers in columns of {settings.pool} that are asked for. "
                        f"{cells.table.place(row)}: {error} Correct the table and prepare it again, or pass "
                        "--skip-bad-rows to count such values as not known."
                    ) from error
                value = math.nan
            values.append(value)
        numbers[name] = values
    texts = {name: [unshield(text.strip()) for text in cells.texts[column]] for name, column in names.texts.items()}
    return LimitColumns(cells.owners.tolist(), numbers, texts)
