"""Find the graph of a row of results by its id alone."""

from __future__ import annotations

from collections.abc import Sequence

from graph_bandit_campaign.checks import nearest_id
from graph_bandit_campaign.tables.matching import Match
from graph_bandit_campaign.tables.measured_rows import MeasuredRow
from graph_bandit_campaign.tables.spreadsheets import unshield


class IdMatcher:
    """Find the graphs of rows, as `Matcher` finds molecules.

    Args:
        ids: ids of the graphs of the pool.
    """

    outside: dict[str, str]
    """Nothing: the agent cannot learn from a graph that it does not have."""

    def __init__(self, ids: Sequence[str]) -> None:
        self.ids, self.outside = frozenset(ids), {}
        self._first = ids[0]

    def find(self, row: MeasuredRow) -> Match:
        """Return the graph of a row.

        Raises:
            ValueError: if the pool does not have it, or the row has no id.
        """
        name = row.identifier if row.identifier in self.ids else unshield(row.identifier)
        if not name:
            raise ValueError("graphs are found by their ids, and this row has none. `--id` names their column.")
        if name not in self.ids:
            nearest = nearest_id(name, self.ids)
            hint = (
                f" Did you mean `{nearest}`?" if nearest else f" Its ids are like `{self._first}`; `--id` names others."
            )
            raise ValueError(f"the pool has no `{name}`, and the agent cannot learn from a graph that it lacks.{hint}")
        return Match(name)
