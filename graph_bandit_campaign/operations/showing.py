"""Show a campaign: tables written by its command, explanations, and stopping advice."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

import pandas as pd

from graph_bandit_campaign.command.suggestions import Opened, open_campaign
from graph_bandit_campaign.constraints.limits.requirements import smarts_problem
from graph_bandit_campaign.model.explanations import nearest_measured, score_atoms
from graph_bandit_campaign.operations.place import Place
from graph_bandit_campaign.operations.verbs import known_or_found
from graph_bandit_campaign.pool.block import molecule_of
from graph_bandit_campaign.pool.index import structure_of
from graph_bandit_campaign.report.answer import Quantities
from graph_bandit_campaign.report.tables import KINDS, check_kind, write_table
from graph_bandit_campaign.results.matching import Matcher
from graph_bandit_campaign.results.rows import MeasuredRow
from graph_bandit_campaign.store import read_digest
from graph_bandit_campaign.text import unshield
from graph_bandit_env import MoleculeSet
from graph_bandit_env.tables import open_table

Which = Literal["suggestions", "predictions"]


@dataclass(frozen=True)
class Rows:
    """Some rows of a table."""

    columns: tuple[str, ...]
    """Names of the columns."""
    rows: tuple[tuple[str, ...], ...]
    """The cells of each row."""
    count: int
    """Total number of rows that match the query."""


def find_rows(
    place: Place, which: Which, sort: str, falling: bool, contains: str, part: str, start: int, count: int
) -> Rows:
    """Return some rows of a table, sorted by a column.

    Args:
        place: the campaign.
        which: the table.
        sort: name of a column. Numbers come before texts. If empty, the rows are not sorted.
        falling: if True, the largest come first.
        contains: text that a cell must contain, ignoring case. Empty for any.
        part: SMARTS of a substructure that each molecule must have. Empty for any.
        start: number of rows to skip.
        count: maximum number of rows to return.

    Raises:
        ValueError: if the command does not write the table, the file was changed, the column does not exist, or the
            SMARTS cannot be read.
    """
    _, state = place.open()
    settings = place.settings(state)
    path = settings.out if which == "suggestions" else settings.predictions
    if path is None:
        raise ValueError("Expected a command with --predictions. This one writes none: give it once with that option.")
    if (digest := read_digest(path)) not in state.written:
        raise ValueError(f"Expected {path.name} as `suggest` wrote it. It is gone, or was changed since.")
    table = _read(path, digest)
    columns = tuple(map(str, table))
    last = {each.id for each in state.rounds[-1]} if state.rounds else set()
    if which == "suggestions" and last != {*map(unshield, table["id"])}:
        raise ValueError(f"{path.name} is of another round, which was undone. Ask for suggestions again.")
    if wrong := {*filter(None, (sort, "smiles" * bool(part)))}.difference(columns):
        raise ValueError(f"Expected a column of the table: {', '.join(columns)}. Got {min(wrong)!r}.")
    if contains:
        table = table[table.apply(lambda cells: cells.str.contains(contains, case=False, regex=False)).any(axis=1)]
    if part:
        table = table[_having(part, table["smiles"])]
    if sort:
        numbers = pd.to_numeric(table[sort], errors="coerce")
        order = pd.DataFrame({"number": numbers, "text": table[sort].str.casefold().replace("", None)})
        table = table.loc[order.sort_values([*order], ascending=not falling).index]
    rows = table[start : start + count].itertuples(index=False, name=None)
    return Rows(columns, tuple(rows), len(table))


def export(
    place: Place, which: Which, kind: str, sort: str = "", falling: bool = False, contains: str = "", part: str = ""
) -> bytes:
    """Return a table, or some of its rows, as a file of another format.

    Args:
        place: the campaign.
        which: the table.
        kind: ending of the file, one of `.csv`, `.tsv` and `.xlsx`.
        sort: as in `find_rows`.
        falling: as in `find_rows`.
        contains: as in `find_rows`.
        part: as in `find_rows`.

    Raises:
        ValueError: as in `find_rows`, or if the table cannot be written in this format.
        MissingExtraError: if a package for writing it is not installed.
    """
    if kind not in KINDS:
        raise ValueError(f"Expected one of {', '.join(KINDS)}. Got {kind!r}.")
    table, path = find_rows(place, which, sort, falling, contains, part, 0, sys.maxsize), Path(f"{which}{kind}")
    check_kind(path)
    return write_table(path, [table.columns, *table.rows])


@dataclass(frozen=True)
class Similar:
    """A measured molecule that is similar to another one."""

    id: str
    """Its id."""
    smiles: str
    """Its structure."""
    similarity: float
    """Tanimoto similarity of atom-pair counts, from 0 to 1."""
    value: float
    """Mean of its results for the first goal."""


@dataclass(frozen=True)
class ExplainedGraph:
    """The prediction for a graph, and its explanations."""

    id: str
    """Its id."""
    smiles: str
    """Its structure. Empty if it is not a molecule."""
    predictions: Mapping[str, str]
    """Predictions by the column names of the table of suggestions. Empty texts without predictions."""
    explanations: Mapping[str, str]
    """Explanation of the score of each goal as text, by its name. Empty if the agent has no explanations."""
    nearest: tuple[Similar, ...]
    """The most similar measured molecules, most similar first."""
    atoms: Mapping[str, tuple[float, ...]]
    """Contribution of each atom to the score of each goal, in the order of `smiles`. Empty without explanations."""


def open_to_look(place: Place, ids: Sequence[str] = ()) -> tuple[Opened, list[str]]:
    """Open a campaign and its pool without saving, and return it with the current ids of some graphs.

    Args:
        place: the campaign.
        ids: ids of graphs.

    Raises:
        ValueError: if a graph does not exist.
    """
    store, state = place.open()
    settings, store, names = place.settings(state), store.twin(), list(ids)
    if (pool := known_or_found(settings, state, ids)) is not None:
        finder = Matcher(pool)
        names = [finder.find(MeasuredRow("", key, "", "pending"))[0] for key in ids]
        structures = {key: structure_of(pool, pool.ids.index(key)) for key in names}
        store.state = replace(state, structures={**state.structures, **structures})
    return open_campaign(settings, store), names


def explain(place: Place, ids: Sequence[str]) -> tuple[ExplainedGraph, ...]:
    """Explain the predictions of some graphs of the pool, from the results in the campaign.

    For the last suggestions, the predictions are those of the time of the suggestion.

    Args:
        place: the campaign.
        ids: their ids.

    Raises:
        ValueError: if a graph does not exist.
    """
    opened, names = open_to_look(place, ids)
    campaign, settings, graphs = opened.campaign, opened.settings, opened.campaign.graph_set
    state = campaign.state
    suggested = {suggestion.id: suggestion for suggestions in state.rounds[-1:] for suggestion in suggestions}
    predicted = {**campaign.predict(), **suggested}  # these were corrected for the number of candidates
    quantities = Quantities(settings.quantity, state.goals, state.is_class)
    goals = {goal.name: goal.name for goal in state.goals} or {settings.quantity: ""}
    explanations = {name: campaign.explain(names, goal) for name, goal in goals.items()}
    smiles_of, near = dict[str, str](), dict[str, tuple[Similar, ...]]()
    atoms: dict[str, dict[str, tuple[float, ...]]] = {}
    if isinstance(graphs, MoleculeSet):
        smiles_of = dict(zip(graphs.ids, graphs.smiles, strict=True))
        values = state.views()[0].means()
        found = nearest_measured(names, values, smiles_of) if values else {}
        near = {
            key: tuple(
                Similar(each.id, smiles_of[each.id], each.similarity, each.value) for each in those if each.id != key
            )
            for key, those in found.items()
        }
    if isinstance(graphs, MoleculeSet) and any(explanations.values()):
        for key in names:
            columns = graphs.columns[graphs.ids.index(key)] if graphs.column_names else None
            scores = {name: score_atoms(campaign.model(goal), smiles_of[key], columns) for name, goal in goals.items()}
            atoms[key] = {name: those for name, those in scores.items() if those}
    return tuple(
        ExplainedGraph(
            id=key,
            smiles=smiles_of.get(key, ""),
            predictions=quantities.cells(predicted[key]),
            explanations={name: those[key].sentence() for name, those in explanations.items() if key in those},
            nearest=near.get(key, ()),
            atoms=atoms.get(key, {}),
        )
        for key in names
    )


def stopping_advice(place: Place) -> str:
    """Return the stopping advice in sentences.

    Args:
        place: the campaign.
    """
    opened, _ = open_to_look(place)
    campaign, offer = opened.campaign, opened.offer()
    sound = offer.among & ~campaign.failing().likely
    advice = campaign.stopping_advice(sound if sound.any() else offer.among)
    if advice is not None:
        return advice.sentence(opened.settings.quantity)
    if campaign.state.goals:
        return "No rule says when to stop with several goals. Look at the front."
    return "It cannot be said yet: there are too few different results, or the agent has no exact model."


@lru_cache(maxsize=2)
def _read(path: Path, digest: str) -> pd.DataFrame:
    with open_table(path) as table:
        return pd.DataFrame([cells for _, cells in table.rows(table.columns)], columns=table.columns, dtype=str)


def _having(part: str, smiles: Iterable[str]) -> list[bool]:
    from rdkit import Chem

    if problem := smarts_problem(part):
        raise ValueError(f"Expected a SMARTS, such as c1ccncc1. {problem}")
    pattern = Chem.MolFromSmarts(part)
    return [molecule_of(text).HasSubstructMatch(pattern) for text in smiles]
