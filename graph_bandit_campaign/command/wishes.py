"""The wishes of a command, once the columns of its tables are known: limits, goals, prices and groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from graph_bandit_campaign.assays.tables import OtherTable, read_other_tables
from graph_bandit_campaign.checks import Kind
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.constraints.batch.offers import find_offer_columns
from graph_bandit_campaign.constraints.goals.goal import Goal, check_goals, spell
from graph_bandit_campaign.constraints.limits.limits import ColumnNames, Limits
from graph_bandit_campaign.constraints.limits.wishes import Requirement, find_property
from graph_bandit_campaign.results.classes import read_classes
from graph_bandit_campaign.results.rows import Columns, MeasuredRow, NoResultsError, ResultTables
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.text import find_column


@dataclass(frozen=True)
class Read:
    """The rows of results of tables."""

    rows: dict[str, list[MeasuredRow]]
    """Those of each goal, by its name."""
    kind: Kind = ""
    """What the values of the one goal are, if it is known."""
    remarks: tuple[str, ...] = ()
    """Remarks about the tables, for people."""


@dataclass(frozen=True, eq=False)
class Wishes:
    """What is asked of a pool, with the columns that it names; and what the tables say."""

    limits: Limits
    """Limits that are known of each graph of the pool."""
    goals: tuple[Goal, ...]
    """The aim for each measured quantity, limits on results included; empty with one goal."""
    names: ColumnNames
    """The columns of the pool that limits, prices and groups are in."""
    read: Read
    """The rows of results."""
    others: Sequence[OtherTable]
    """The rows of results of other assays."""


def spell_goals(settings: SuggestSettings, earlier: CampaignState | None, tables: ResultTables) -> SuggestSettings:
    """Return the settings with each goal spelt as `spell` does.

    Args:
        settings: settings of the command.
        earlier: state of the campaign.
        tables: the tables of results.

    Raises:
        ValueError: if two goals are the same column.
    """
    measured, headers = earlier.quantities if earlier else (), tables.headers
    ranges = [*map(Requirement.parse, settings.near)]
    return replace(
        settings,
        maximize=tuple(spell(name, measured, headers) for name in settings.maximize),
        minimize=tuple(spell(name, measured, headers) for name in settings.minimize),
        near=tuple(spell(limit.name, measured, headers) + limit.text[len(limit.name) :] for limit in ranges),
    )


def read_wishes(
    settings: SuggestSettings,
    earlier: CampaignState | None,
    tables: ResultTables,
    columns: Sequence[str],
    of_results: Columns,
    has_properties: bool = True,
) -> Wishes:
    """Read the results of a command, and find the columns that its limits, prices and groups name.

    Args:
        settings: settings of the command.
        earlier: state of the campaign.
        tables: the tables of results.
        columns: columns of the pool.
        of_results: columns of the tables of results.
        has_properties: whether the pool holds molecules, of which limits may name properties.

    Raises:
        ValueError: if a column is missing, no row has a result, or rows of results cannot be understood.
    """
    source = str(settings.pool)
    limits, goals = _split_limits(settings, columns, tables, earlier, has_properties)
    if goals and settings.noise:
        raise ValueError("Expected `--noise` with one goal, whose values it is the noise of. Got several.")
    numbers, texts = limits.find_columns(columns, source)
    prices, groups = find_offer_columns(settings.terms, columns, source)
    names = ColumnNames(numbers | prices, texts | groups)
    measured = [goal.name for goal in goals] or [of_results.value]
    own = [path for path in (settings.pool, *settings.measured, settings.out, settings.predictions) if path is not None]
    others = read_other_tables(settings.also, of_results.identifier, of_results.smiles, measured, own)
    return Wishes(limits, goals, names, read_results(tables, of_results, goals, earlier, settings.kind_of), others)


def _split_limits(
    settings: SuggestSettings,
    columns: Sequence[str],
    tables: ResultTables,
    earlier: CampaignState | None,
    has_properties: bool,
) -> tuple[Limits, tuple[Goal, ...]]:
    """Return the limits that are known of each molecule, and the goals with those limits that have to be measured.

    A limit is on a measured quantity if neither the pool has a column of its name, nor is there a property of it, and a
    table of results or the campaign has it. With one goal and no such limit there are no goals.
    """
    on_columns, measured, known = list[str](), list[Goal](), earlier.quantities if earlier else ()
    for limit in map(Requirement.parse, settings.require):
        column = find_column(limit.name, filter(None, columns), str(settings.pool))
        column = column or (find_property(limit.name) if has_properties else "")
        name = spell(limit.name, known, tables.headers)
        if column or not (tables.having(limit.name) or name in known):
            on_columns.append(limit.text)
        else:
            measured.append(Goal(name, "limit", *limit.ends, limit.strict))
    goals = (*settings.goals, *measured)
    several = len(goals) > 1 or goals[0].aim == "target"
    return Limits(on_columns, settings.forbid, settings.only), check_goals(goals) if several else ()


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
