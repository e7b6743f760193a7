"""Change a campaign for users of the page and for programs: tell, ask, annotate, undo and redo."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from graph_bandit_campaign.command.pools.opening import open_pool
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.command.suggestions import write_suggestions
from graph_bandit_campaign.operations.place import Place
from graph_bandit_campaign.pool.index import structure_of
from graph_bandit_campaign.report.answer import Answer
from graph_bandit_campaign.results.entries import Entry, read_entries
from graph_bandit_campaign.results.facts import Result
from graph_bandit_campaign.results.matching import Matcher, match_rows
from graph_bandit_campaign.results.rows import MeasuredRow
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.store import Change
from graph_bandit_campaign.verbs import Told
from graph_bandit_campaign.verbs import annotate as annotate_graph
from graph_bandit_campaign.verbs import tell as tell_results
from graph_bandit_env import GraphPool


@dataclass(frozen=True)
class Asked:
    """A round of suggestions as texts."""

    round: int
    """Its number, starting with 1."""
    suggested: tuple[str, ...]
    """Ids of the graphs, best first."""
    columns: tuple[str, ...]
    """Names of the columns of the table of suggestions."""
    rows: tuple[tuple[str, ...], ...]
    """A row for each suggestion: prediction, nearest measured molecules, explanation, price, columns of the pool."""
    notes: tuple[str, ...]
    """Sentences about tables, limits, results to check, and other remarks."""
    advice: str
    """Stopping advice. Empty if the agent has none."""


def in_texts(answer: Answer, remarks: Sequence[str]) -> Asked:
    """Convert an answer to texts.

    Args:
        answer: the answer of `suggest`.
        remarks: remarks about the tables.
    """
    columns, *rows = answer.rows()
    parts = (f"{answer.pool_size:,} {answer.noun}, {len(answer.state.measured):,} results", *remarks)
    notes = [f"{', '.join(parts)}.", *answer.notes, answer.bill.sentence(), answer.way]
    return Asked(
        round=len(answer.state.rounds),
        suggested=tuple(suggestion.id for suggestion in answer.suggested),
        columns=tuple(columns),
        rows=tuple(map(tuple, rows)),
        notes=tuple(filter(None, notes)),
        advice="" if answer.advice is None else answer.advice.sentence(answer.target),
    )


def ask(place: Place, changes: Mapping[str, object] | None = None, next_batch: bool = False) -> Asked:
    """Suggest candidates to measure next. Without changes since the last round, return the pending ones.

    Args:
        place: the campaign.
        changes: settings of the command to change, from `CHANGEABLE`.
        next_batch: if True, suggest another batch although there are no new results.

    Raises:
        ValueError, OSError, ImportError: as in `suggest`, or if another setting would be changed.
    """
    store, state = place.open()
    return in_texts(*write_suggestions(replace(place.settings(state, changes), next_batch=next_batch), store))


def tell(place: Place, results: Sequence[Entry], instead: bool = False, by: str = "") -> Told:
    """Add results, all of them or none.

    Args:
        place: the campaign.
        results: the results.
        instead: if True, values replace earlier ones of the same graphs, and empty values remove them. If False, they
            are replicates.
        by: name of the reporting person.

    Raises:
        ValueError: if a result is invalid, or its graph is not found.
    """
    store, state = place.open()
    settings = place.settings(state)
    empty = [each for each in results if instead and not str(each.value).strip()]
    results = [each for each in results if each not in empty]
    cleared = [(each.id, each.goal * bool(state.goals)) for each in empty]
    rows, kind = read_entries(results, state.quantities, state.kind)
    every = [row for read in rows.values() for row in read]
    pool = known_or_found(settings, state, {row.identifier for row in every}, {row.smiles for row in every} - {""})
    matcher = None if pool is None else Matcher(pool, state.structures, settings.most_atoms)
    matched = match_rows(rows, matcher, several=bool(state.goals))

    def change(newest: CampaignState) -> tuple[CampaignState, Told]:
        return tell_results(replace(newest, kind=kind), matched, (), False, instead, by, store.clock(), cleared)

    return store.change("tell", change, about_results([*matched.results, *empty]), by)[1]


def about_results(results: Sequence[Result | Entry]) -> str:
    """Return the number of results, or the id for a single result, as text."""
    return f"a result of {results[0].id}" if len(results) == 1 else f"{len(results):,} results"


def known_or_found(
    settings: SuggestSettings, state: CampaignState, names: Collection[str], smiles: Collection[str] = ()
) -> GraphPool | None:
    """Return the graphs of a pool that may have some names or structures, or None if the campaign knows all of them."""
    return None if not smiles and state.known.issuperset(names) else open_pool(settings).search(names, smiles)


def annotate(
    place: Place,
    id: str,  # noqa: A002 - as in the file
    veto: bool | str | None = None,
    pin: bool | None = None,
    comment: str = "",
    waits: bool | None = None,
    by: str = "",
) -> CampaignState:
    """Update the veto, the pin, the comments or the pending state of a graph, see `Campaign.annotate`.

    Raises:
        ValueError: if the graph does not exist or is measured, or a text is too long.
    """
    store, state = place.open()
    pool = known_or_found(place.settings(state), state, [id])
    key, structures = id, dict[str, str]()
    if pool is not None:
        row = MeasuredRow("", id, "", "pending")
        key = Matcher(pool).find(row)[0]
        structures = {key: structure_of(pool, pool.ids.index(key))}

    def change(newest: CampaignState) -> tuple[CampaignState, None]:
        return annotate_graph(newest, key, veto, pin, comment, waits, by, structures), None

    said = {"a veto of": veto, "a pin of": pin, "a comment on": comment}
    what = next((words for words, given in said.items() if given), "the end of an annotation of")
    return store.change("annotate", change, f"{what} {key}", by)[0]


def undo(place: Place) -> Change:
    """Undo the last change, and return it.

    Raises:
        ValueError: if there is no change to undo.
    """
    return place.open()[0].undo()


def redo(place: Place) -> Change:
    """Redo the change that was undone last, and return it.

    Raises:
        ValueError: if there is no change to redo.
    """
    return place.open()[0].redo()
