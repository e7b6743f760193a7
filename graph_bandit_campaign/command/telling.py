"""Match what a command tells with the pool, and take it into the campaign: tables of results, and marks."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from graph_bandit_campaign.command.pools.rounds import Rounds
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.pool.forms import parent_of
from graph_bandit_campaign.pool.index import structure_of
from graph_bandit_campaign.results.matched import Matched, match_rows
from graph_bandit_campaign.results.matching import Matcher
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.store import Store
from graph_bandit_campaign.text import listed
from graph_bandit_campaign.verbs import Told, drop, mark, tell
from graph_bandit_env import GraphPool, MoleculeSet, canonical_smiles


def find_sources(settings: SuggestSettings, store: Store) -> dict[str, str]:
    """Return what the campaign calls each table of results, by its path.

    Raises:
        ValueError: if a table that was told before is neither named nor dropped; the message has both ways out.
    """
    sources = {str(path): store.name_of(path) for path in settings.measured}
    dropped, state = {store.name_of(path) for path in settings.drop_source}, store.state
    told = {each for result in state.results for each in result.sources} if state else set()
    if missing := sorted(told - {"", *sources.values(), *dropped}):
        folder = settings.state.parent
        paths = [os.path.relpath(folder / name) for name in missing]
        raise ValueError(
            f"Expected all tables of which results are known. {listed(missing)} is not named. To keep its results, "
            f"pass `--measured {' '.join([*sources, *paths])}`. To remove them, pass `--drop-source {' '.join(paths)}`."
        )
    return sources


def match(
    rounds: Rounds, state: CampaignState, settings: SuggestSettings, sources: Mapping[str, str]
) -> tuple[CampaignState, Matched, GraphPool]:
    """Find the graphs of rows in the pool, and graphs of the campaign that have other ids there now.

    Args:
        rounds: the pool, with the rows of results.
        state: the campaign.
        settings: settings of the command.
        sources: what the campaign calls each table, by its path.

    Returns:
        The campaign with the ids of today, the results, and the graphs of the pool that were looked at.

    Raises:
        ValueError: if the pool gives the id of a graph of the campaign to another one, or a row is not understood.
    """
    every = [row for read in rounds.rows.values() for row in read]
    names = {row.identifier for row in every} | state.known | settings.marked
    smiles = {row.smiles for row in every} | {*state.structures.values()}
    pool = rounds.search(names, smiles)
    structures = dict(state.structures)
    if isinstance(pool, MoleculeSet):
        structures = _standard(pool, structures, settings)
        id_of = dict(zip(pool.smiles, pool.ids, strict=True))
        state = state.renamed({key: id_of[text] for key, text in structures.items() if id_of.get(text, key) != key})
    matcher = Matcher(pool, structures, settings.trust_ids, settings.most_atoms)
    matched = match_rows(rounds.rows, matcher.find, rounds.own, bool(rounds.goals), sources)
    if settings.best_of is not None:
        matched = matched.best(settings.goals[0].sign > 0)
    ids = dict.fromkeys(each.id for each in matched.results)
    place_of = {name: k for k, name in enumerate(pool.ids)}
    known = {key: structure_of(pool, place_of[key]) for key in ids if key in place_of}
    outside = {key: text for key, text in matcher.outside.items() if key in ids}
    return state, replace(matched, structures=known | outside, outside=frozenset(matcher.outside)), pool


def _standard(pool: MoleculeSet, structures: Mapping[str, str], settings: SuggestSettings) -> dict[str, str]:
    """Return structures that the campaign knows, as the pool describes them."""
    standard = {
        key: pool.standard_smiles(canonical_smiles(text, settings.most_atoms) or text)
        for key, text in structures.items()
    }
    for key, text in zip(pool.ids, pool.smiles, strict=True):
        before = standard.get(key, text)
        if text != before and not settings.trust_ids and parent_of(text) != parent_of(before):
            raise ValueError(
                f"Expected `{key}` to be {before}, as in earlier rounds. The pool has {text}. Correct the pool; "
                "pass --trust-ids if it was corrected; or use another --out to start a new campaign."
            )
        if key in standard:
            standard[key] = text
    return standard


def tell_tables(
    state: CampaignState, rounds: Rounds, settings: SuggestSettings, store: Store, has_tables: bool
) -> tuple[CampaignState, Told]:
    """Take in the tables of a command, and its marks.

    Raises:
        MissingRowsError: a ValueError, if a table lacks rows that it had.
        ValueError: as `find_sources`, `match` and `mark`.
    """
    sources = find_sources(settings, store) if has_tables else {}
    for path in settings.drop_source:
        state = drop(state, store.name_of(path))
    state, matched, pool = match(rounds, state, settings, sources)
    if rounds.kind == "class" and not state.kind:  # though there may be one class alone, or words
        state = replace(state, kind="class")
    if settings.again:
        state = replace(state, pending=())
    told = Told()
    if sources:
        state, told = tell(state, matched, [*sources.values()], settings.drop_missing, at=store.clock())
    return mark_all(state, settings, pool), told


def mark_all(state: CampaignState, settings: SuggestSettings, pool: GraphPool) -> CampaignState:
    """Return the campaign with the vetoes, pins and comments of a command.

    Args:
        state: the campaign.
        settings: settings of the command.
        pool: the graphs of the pool that they may name.

    Raises:
        ValueError: as `mark`, if there is no such graph, or one is named twice.
    """
    ids = {key: key for key in (*state.known, *pool.ids)} | dict(getattr(pool, "aliases", {}))
    lifted, pinned = ([find_id(text, ids)[0] for text in texts] for texts in (settings.lift, settings.pin))
    vetoed = [find_id(text, ids) for text in settings.veto]
    every = Counter([*lifted, *pinned, *(key for key, _ in vetoed)])
    if twice := next((key for key, count in every.items() if count > 1), None):
        raise ValueError(f"Expected each id once in `--veto`, `--pin` and `--lift`. Got {twice} again.")
    for key in lifted:
        state = mark(state, key, veto=False, pin=False)
    for key, reason in vetoed:
        state = mark(state, key, veto=reason or True, by=settings.by)
    for key in pinned:
        state = mark(state, key, pin=True)
    for key, said in (find_id(text, ids) for text in settings.comment):
        state = mark(state, key, comment=said, by=settings.by)
    marked = {*every, *(find_id(text, ids)[0] for text in settings.comment)}
    structures = {key: structure_of(pool, k) for k, key in enumerate(pool.ids) if key in marked}
    return replace(state, structures={**state.structures, **structures})


def find_id(text: str, ids: Mapping[str, str]) -> tuple[str, str]:
    """Return the id at the begin of `ID` or `ID=TEXT`, and the text; ids may have an `=`.

    Raises:
        ValueError: if there is no such id.
    """
    places = [len(text), *(place for place in reversed(range(len(text))) if text[place] == "=")]
    found = next((place for place in places if text[:place] in ids), None)
    if found is None:
        raise ValueError(f"Expected the id of a candidate. Got {text!r}.")
    return ids[text[:found]], text[found + 1 :].strip()
