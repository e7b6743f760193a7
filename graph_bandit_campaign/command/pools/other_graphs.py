"""Read a file of graphs that are not molecules, whose results are found by ids."""

from __future__ import annotations

import dataclasses

from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.pool.index import structure_of
from graph_bandit_campaign.state import CampaignState
from graph_bandit_env import GraphPool
from graph_bandit_env.files import read_pool

UNDERSTOOD = {
    *(
        "pool",
        "out",
        "measured",
        "n",
        "maximize",
        "minimize",
        "near",
        "weights",
        "require",
        "noise",
        "goal_kind",
        "id",
        "sheet",
    ),
    *("measured_sheet", "predictions", "html", "agent", "seed", "undo", "forget", "again", "more", "overwrite"),
    *("directed", "price", "budget", "budget_only", "also", "veto", "pin", "lift", "comment", "by"),
}
"""Settings that do not need molecules. All others are refused, so that none is ignored in silence."""


def read_other_graphs(settings: SuggestSettings, earlier: CampaignState | None) -> tuple[GraphPool, str | None, bool]:
    """Read graphs.

    Args:
        settings: settings of the command.
        earlier: state of the campaign.

    Returns:
        The graphs without values, for the agent must not see what it is to find out; the column of their names; and
        whether the file has values.

    Raises:
        ValueError, OSError: if the file cannot be read, an option needs molecules, or an id is that of another graph
            than in earlier rounds.
        ImportError: if a package that reads the file is not installed.
    """
    _refuse_options(settings)
    given = read_pool(settings.pool, identifier=settings.id, sheet=settings.sheet, directed=settings.directed)
    pool = given.without_targets()
    _refuse_other_graphs(pool, earlier, settings)
    return pool, settings.id, bool(given.known.any())


def _refuse_options(settings: SuggestSettings) -> None:
    fields = dataclasses.fields(SuggestSettings)
    changed = [field.name for field in fields if getattr(settings, field.name) != field.default]
    bad = [f"--{name.replace('_', '-')}" for name in changed if name not in UNDERSTOOD]
    if settings.price is not None and settings.terms.one_price is None:
        bad.append(f"--price {settings.price}")
    if bad:
        raise ValueError(
            f"Expected molecules for {', '.join(bad)}. {settings.pool} holds other graphs. Leave out what needs "
            "molecules."
        )
    for name, path in (("out", settings.out), ("predictions", settings.predictions)):
        if path is not None and path.suffix.lower() == ".sdf":
            raise ValueError(f"Expected molecules for `--{name} {path}`. {settings.pool} holds other graphs.")


def _refuse_other_graphs(pool: GraphPool, earlier: CampaignState | None, settings: SuggestSettings) -> None:
    """Refuse a pool that gives the id of a graph of earlier rounds to another graph."""
    structures = earlier.structures if earlier else {}
    for k, identifier in enumerate(pool.ids):
        if identifier in structures and structures[identifier] != structure_of(pool, k):
            undirected = " If the campaign began with undirected graphs, give `--directed False`." * pool.directed
            raise ValueError(
                f"Expected `{identifier}` to be the same graph as in earlier rounds. {settings.pool} has another "
                "one. Give each graph a name of its own, which `--id` finds, or use another --out to start a new "
                f"campaign.{undirected}"
            )
