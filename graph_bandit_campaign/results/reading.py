"""Read all that tables say of the goals of a campaign."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from graph_bandit_campaign.constraints.goals.goal import Goal
from graph_bandit_campaign.flags import Kind
from graph_bandit_campaign.results.classes import read_classes
from graph_bandit_campaign.results.rows import Columns, MeasuredRow, NoResultsError, ResultTables
from graph_bandit_campaign.state import CampaignState


@dataclass(frozen=True)
class Read:
    """The rows of results of tables."""

    rows: dict[str, list[MeasuredRow]]
    """Those of each goal, by its name."""
    kind: Kind = ""
    """What the values of the one goal are, if it is known."""
    remarks: tuple[str, ...] = ()
    """Remarks about the tables, for people."""


def read_results(
    tables: ResultTables,
    columns: Columns,
    goals: Sequence[Goal],
    earlier: CampaignState | None,
    said: Callable[[str], Kind],
) -> Read:
    """Read the results of each goal; a table may lack some of the columns.

    Args:
        tables: the tables.
        columns: names of the columns; that of the values, if there is one goal.
        goals: the goals, if there are several.
        earlier: state of the campaign.
        said: what the values of a column are said to be.

    Raises:
        NoResultsError: a ValueError, if no row has a result.
        ValueError: if a column is missing, or rows cannot be understood.
    """
    names = [goal.name for goal in goals] or [columns.value]
    ranges = {goal.name for goal in goals if goal.aim in ("target", "limit")}
    remarks = list[str]()
    kind: Kind = ""
    for name in names:
        kind = said(name) or (earlier.kind if earlier and not goals else "")
        known = {each.value for each in earlier.measured if each.goal in ("", name)} if earlier else set()
        if not kind and (known - {0, 1} or columns.noise or name in ranges):
            continue  # a word among numbers is refused
        tables, kind, remark = read_classes(tables, name, kind)
        remarks += [remark] * bool(remark)
        if goals and kind == "class":
            raise ValueError(
                f"Expected numbers with several goals. `{name}` is a class. Make it the only goal, or pass "
                f"`--goal-kind {name}=number` to take its values as the numbers 0 and 1."
            )
    if not tables:
        return Read({name: [] for name in names}, kind)
    results, used, problem = dict[str, list[MeasuredRow]](), set[int](), ""
    for name in names:
        having = tables.having(name)
        used |= set(map(id, having.tables))
        try:  # without a table that has it, the first one says which columns there are
            results[name], more = (having or tables.like(tables.tables[:1])).read(replace(columns, value=name))
            remarks += more
        except NoResultsError as error:
            results[name], problem = [], str(error)
    unused = [table.path for table in tables.tables if id(table) not in used]
    if unused and goals:
        raise ValueError(
            f"Expected a column of one of the goals in each table. {min(unused)} has none of {', '.join(results)}."
        )
    if not any(results.values()):
        raise NoResultsError(problem)
    return Read(results, kind, tuple(dict.fromkeys(remarks)))
