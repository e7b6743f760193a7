"""The wishes of a command, once the columns of its tables are known: limits, goals, prices and groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from graph_bandit_campaign.assays.tables import OtherTable, read_other_tables
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.constraints.batch.offers import find_offer_columns
from graph_bandit_campaign.constraints.goals.goal import Goal, check_goals, spell
from graph_bandit_campaign.constraints.limits.columns import ColumnNames
from graph_bandit_campaign.constraints.limits.limits import Limits
from graph_bandit_campaign.constraints.limits.wishes import Requirement, find_property
from graph_bandit_campaign.names import find_column
from graph_bandit_campaign.results.reading import Read, read_results
from graph_bandit_campaign.results.rows import Columns, ResultTables
from graph_bandit_campaign.state import CampaignState


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
    names = ColumnNames(numbers | prices, texts | groups, next(iter(prices), ""))
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
