"""Read a file of graphs that are not molecules, and tables of their results."""

from __future__ import annotations

import dataclasses

import numpy as np

from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.limits.limits import Limits
from graph_bandit_campaign.limits.names import find_identifier
from graph_bandit_campaign.limits.selection import Selection
from graph_bandit_campaign.plates import Plate
from graph_bandit_campaign.roster import structure_of
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.tables.books import match_rows
from graph_bandit_campaign.tables.inputs import Inputs
from graph_bandit_campaign.tables.measured_rows import Columns, Results, read_measured
from graph_bandit_env import GraphPool
from graph_bandit_env.files import CELL_COLUMN, holds_molecules, read_pool
from graph_bandit_env.tables import open_table

UNDERSTOOD = {
    *("pool", "out", "measured", "n", "maximize", "minimize", "id", "sheet", "measured_sheet", "predictions", "html"),
    *("agent", "seed", "undo", "forget", "again", "more", "overwrite", "directed"),
}
"""Settings that do not need molecules. All others are refused, so that none is ignored in silence."""


def are_other_graphs(settings: SuggestSettings) -> bool:
    """Return whether the pool is a file of graphs that are not molecules."""
    return not holds_molecules(settings.pool, settings.smiles, settings.sheet)


def read_graph_inputs(settings: SuggestSettings, earlier: CampaignState | None = None) -> Inputs[GraphPool]:
    """Read graphs and their results. Values in the file of graphs are not results.

    Args:
        settings: settings of the command.
        earlier: state of the campaign.

    Raises:
        ValueError, OSError: if a file cannot be read, an option needs molecules, or an id is that of another graph than
            in earlier rounds.
        ImportError: if a package that reads a file is not installed.
    """
    _refuse_options(settings)
    for name, path in (("out", settings.out), ("predictions", settings.predictions)):
        if path is not None and path.suffix.lower() == ".sdf":
            raise ValueError(f"Expected molecules for `--{name} {path}`. {settings.pool} holds other graphs.")
    identifier = settings.id or _default_identifier(settings)
    given = read_pool(settings.pool, identifier=identifier, sheet=settings.sheet, directed=settings.directed)
    pool = given.without_targets()  # the agent must not see what it is to find out
    results = Results([], [])
    if settings.measured:
        results = read_measured(settings.measured, Columns(settings.target, identifier), settings.measured_sheet)
    books = match_rows(results.rows, pool)
    _refuse_other_graphs(pool, earlier, settings)
    remarks = [f"the values in {settings.pool.name} are not used as results"] * bool(given.known.any())
    everything = Selection((), np.full(len(pool), -1), np.zeros(len(pool), np.bool_))
    return Inputs(pool, books, pool, remarks + results.remarks, [], Limits(), everything, Plate())


def _refuse_options(settings: SuggestSettings) -> None:
    fields = dataclasses.fields(SuggestSettings)
    changed = [field.name for field in fields if getattr(settings, field.name) != field.default]
    if len(settings.goals) > 1:
        raise ValueError(f"Expected molecules for several goals. {settings.pool} holds other graphs. Give one goal.")
    bad = [f"--{name.replace('_', '-').replace('near', 'target')}" for name in changed if name not in UNDERSTOOD]
    if bad:
        raise ValueError(
            f"Expected molecules for {', '.join(bad)}. {settings.pool} holds other graphs. Leave out what needs "
            "molecules."
        )


def _default_identifier(settings: SuggestSettings) -> str | None:
    """Return the column of the names in a table: `id` or, if it has none, that of cells; None: there is none."""
    if settings.pool.name.lower().endswith((".jsonl", ".jsonl.gz", ".pt")):
        return None
    with open_table(settings.pool, settings.sheet) as table:
        cells = CELL_COLUMN if CELL_COLUMN in table.columns else None
        return find_identifier(None, table.columns, str(table.path)) or cells


def _refuse_other_graphs(pool: GraphPool, earlier: CampaignState | None, settings: SuggestSettings) -> None:
    """Refuse a pool that gives the id of a graph of earlier rounds to another graph."""
    known = earlier.structures if earlier else {}
    for k, identifier in enumerate(pool.ids):
        if identifier in known and known[identifier] != structure_of(pool, k):
            undirected = " If the campaign began with undirected graphs, give `--directed False`." * pool.directed
            raise ValueError(
                f"Expected `{identifier}` to be the same graph as in earlier rounds. {settings.pool} has another "
                "one. Give each graph a name of its own, which `--id` finds, or use another --out to start a new "
                f"campaign.{undirected}"
            )
