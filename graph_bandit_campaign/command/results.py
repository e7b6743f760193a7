"""Read the results of a command, and find its goals and limits from the columns of its tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from graph_bandit_campaign.checks import Kind
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.constraints.goals.goal import Goal, check_goals
from graph_bandit_campaign.constraints.limits.limits import Limits
from graph_bandit_campaign.constraints.limits.requirements import Requirement, find_property
from graph_bandit_campaign.results.classes import read_classes
from graph_bandit_campaign.results.rows import Columns, MeasuredRow, NoResultsError, ResultTables
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.text import find_column


def split_limits(
    settings: SuggestSettings,
    columns: Sequence[str],
    tables: ResultTables,
    earlier: CampaignState | None,
    has_properties: bool,
) -> tuple[Limits, tuple[Goal, ...]]:
    """Return the limits on known properties of molecules, and the goals, including limits on measured quantities.

    A limit is on a measured quantity if neither a column of the pool nor a property has its name, but a table of
    results or the campaign does. With a single goal and no such limit, the goals are empty.
    """
    on_columns, measured, known = list[str](), list[Goal](), earlier.quantities if earlier else ()
    for limit in map(Requirement.parse, settings.require):
        column = find_column(limit.name, filter(None, columns), str(settings.pool))
        column = column or (find_property(limit.name) if has_properties else "")
        if column or not (tables.having(limit.name) or limit.name in known):
            on_columns.append(limit.text)
        else:
            measured.append(Goal(limit.name, "limit", *limit.ends, limit.strict))
    goals = (*settings.goals, *measured)
    several = len(goals) > 1 or goals[0].aim == "target"
    return Limits(on_columns, settings.forbid, settings.filter), check_goals(goals) if several else ()


def read_results(
    tables: ResultTables,
    columns: Columns,
    goals: Sequence[Goal],
    earlier: CampaignState | None,
    said: Callable[[str], Kind],
) -> tuple[dict[str, list[MeasuredRow]], Kind, list[str]]:
    """Read the results of each goal. A table may lack some of the columns.

    Returns the rows of each goal, by its name, the kind of the values of a single goal, if known, and remarks about the
    tables, for people.

    Args:
        tables: the tables.
        columns: names of the columns, including that of the values for a single goal.
        goals: the goals, if there are several.
        earlier: state of the campaign.
        said: returns the declared kind of a column.

    Raises:
        NoResultsError: a ValueError, if no row has a result.
        ValueError: if a column is missing, or rows cannot be understood.
    """
    names = [goal.name for goal in goals] or [columns.value]
    ranges = {goal.name for goal in goals if goal.aim in ("target", "limit")}
    remarks, words = list[str](), dict[str, Mapping[str, float]]()
    kind: Kind = ""
    for name in names:
        kind = said(name) or (earlier.kind if earlier and not goals else "")
        known = {each.value for each in earlier.measured if each.goal in ("", name)} if earlier else set()
        if not kind and (known - {0, 1} or columns.noise or name in ranges):
            continue  # a word among numbers is rejected
        words[name], kind, remark = read_classes(tables, name, kind)
        remarks += [remark] * bool(remark)
        if goals and kind == "class":
            raise ValueError(f"`{name}` is a class: make it the only goal, or pass `--goal-kind {name}=number`.")
    if not tables:
        return {name: [] for name in names}, kind, []
    results, problem = dict[str, list[MeasuredRow]](), ""
    for name in names:
        having, of_goal = tables.having(name), replace(columns, value=name, words=words.get(name, {}))
        try:  # without a table that has it, the error about the first one lists the columns
            read = (having or tables.like(tables.tables[:1])).read(of_goal)
            results[name] = read.rows
            remarks += read.remarks
        except NoResultsError as error:
            results[name], problem = [], str(error)
    unused = [table.path for table in tables.tables if not any(tables.like([table]).having(name) for name in names)]
    if unused and goals:
        raise ValueError(f"{min(unused)} has no column of a goal: {', '.join(names)}.")
    if not any(results.values()):
        raise NoResultsError(f"{problem} Leave out `--measured` to get a first batch from the structures alone.")
    return results, kind, [*dict.fromkeys(remarks)]
