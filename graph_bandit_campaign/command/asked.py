"""The wishes of a command, once the columns of its tables are known: results, limits, goals, prices and groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from graph_bandit_campaign.assays.tables import OtherTable, read_other_tables
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.constraints.batch.offers import find_offer_columns
from graph_bandit_campaign.constraints.goals.goal import Goal, check_goals, spell
from graph_bandit_campaign.constraints.limits.columns import ColumnNames
from graph_bandit_campaign.constraints.limits.limits import Limits
from graph_bandit_campaign.constraints.limits.wishes import Requirement, find_property
from graph_bandit_campaign.flags import Kind
from graph_bandit_campaign.names import find_column
from graph_bandit_campaign.results.classes import read_classes
from graph_bandit_campaign.results.rows import Columns, MeasuredRow, NoResultsError, Results, ResultTables
from graph_bandit_campaign.state import CampaignState


@dataclass(frozen=True, eq=False)
class Asked:
    """The results, limits and goals of a command, with the columns of the pool that they name."""

    limits: Limits
    """Limits that are known of each graph of the pool."""
    goals: tuple[Goal, ...]
    """The aim for each measured quantity, limits on results included; empty with one goal."""
    names: ColumnNames
    """The columns of the pool that limits, prices and groups are in."""
    results: Mapping[str, Results]
    """The rows of results of each goal, by its name."""
    others: Sequence[OtherTable]
    """The rows of results of other assays."""
    kind: Kind = ""
    """What the values of the one goal are, if it is known."""
    classes: Sequence[str] = ()
    """Remarks about words that are read as 0 and 1."""

    @property
    def rows(self) -> dict[str, list[MeasuredRow]]:
        """Return the rows of results of each goal, by its name."""
        return {name: results.rows for name, results in self.results.items()}

    @property
    def count(self) -> int:
        """Return how many rows there are."""
        return sum(map(len, self.rows.values()))

    @property
    def remarks(self) -> list[str]:
        """Return remarks about the tables of results, for people."""
        every = (remark for results in self.results.values() for remark in results.remarks)
        return [*dict.fromkeys((*self.classes, *every))]


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


def read_asked(
    settings: SuggestSettings,
    earlier: CampaignState | None,
    tables: ResultTables,
    columns: Sequence[str],
    of_results: Columns,
    has_properties: bool = True,
) -> Asked:
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
    columns_of_pool = ColumnNames(numbers | prices, texts | groups, next(iter(prices), ""))
    names = [goal.name for goal in goals] or [of_results.value]
    own = [path for path in (settings.pool, *settings.measured, settings.out, settings.predictions) if path is not None]
    others = read_other_tables(settings.also, of_results.identifier, of_results.smiles, names, own)
    kind: Kind = ""
    classes, measured = list[str](), earlier.measured if earlier else ()
    ranges = {goal.name for goal in goals if goal.aim in ("target", "limit")}
    for name in names:
        said = settings.kind_of(name) or (earlier.kind if earlier and not goals else "")
        values = {result.value for result in measured if result.goal in ("", name)} - {0, 1}
        if not said and (values or settings.noise or name in ranges):
            continue  # a word among numbers is refused
        tables, kind, remark = read_classes(tables, name, said)
        classes += [remark] * bool(remark)
        if goals and kind == "class":
            raise ValueError(
                f"Expected numbers with several goals. `{name}` is a class. Make it the only goal, or pass "
                f"`--goal-kind {name}=number` to take its values as the numbers 0 and 1."
            )
    return Asked(limits, goals, columns_of_pool, _read_results(tables, of_results, goals), others, kind, classes)


def _split_limits(
    settings: SuggestSettings,
    columns: Sequence[str],
    tables: ResultTables,
    earlier: CampaignState | None,
    has_properties: bool,
) -> tuple[Limits, tuple[Goal, ...]]:
    """Return the limits that are known of each molecule, and the goals with those limits that have to be measured.

    A limit is on a measured quantity if neither the pool has a column of its name, nor is there a property of it, and a
    table of results has it. With one goal and no such limit there are no goals.
    """
    on_columns, measured = [], []
    for limit in map(Requirement.parse, settings.require):
        column = find_column(limit.name, filter(None, columns), str(settings.pool))
        column = column or (find_property(limit.name) if has_properties else "")
        if column or not tables.having(limit.name):
            on_columns.append(limit.text)
        else:
            name = spell(limit.name, earlier.quantities if earlier else (), tables.headers)
            measured.append(Goal(name, "limit", *limit.ends, limit.strict))
    goals = (*settings.goals, *measured)
    several = len(goals) > 1 or goals[0].aim == "target"
    return Limits(on_columns, settings.forbid, settings.only), check_goals(goals) if several else ()


def _read_results(tables: ResultTables, columns: Columns, goals: Sequence[Goal]) -> dict[str, Results]:
    """Return the rows of results of each goal, by its name; a table may lack some of the columns."""
    nothing = Results([], [])
    if not tables:
        return dict.fromkeys([goal.name for goal in goals] or [columns.value], nothing)
    if not goals:
        return {columns.value: tables.read(columns)}
    results, used = {}, set[int]()
    for goal in goals:
        having = tables.having(goal.name)
        used |= set(map(id, having.tables))
        try:  # without a table that has it, the first one says which columns there are
            results[goal.name] = (having or tables.like(tables.tables[:1])).read(replace(columns, value=goal.name))
        except NoResultsError:
            results[goal.name] = nothing
    unused = [table.path for table in tables.tables if id(table) not in used]
    if unused:
        raise ValueError(
            f"Expected a column of one of the goals in each table. {min(unused)} has none of {', '.join(results)}."
        )
    if not any(read.rows for read in results.values()):
        raise NoResultsError(
            f"Expected at least one value in the columns {', '.join(results)}. Got none. Leave out `--measured` to get "
            "a first batch, suggested from the structures alone."
        )
    return results
