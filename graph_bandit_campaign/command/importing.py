"""Match the tables of results and the annotations of a command with the pool, and add them to the campaign."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

from graph_bandit_campaign.command.pools.rounds import Rounds
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.pool.forms import parent_of
from graph_bandit_campaign.pool.index import PoolIndex
from graph_bandit_campaign.results.matching import Matcher, match_rows
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.store import Store
from graph_bandit_campaign.text import listed
from graph_bandit_campaign.verbs import Told, annotate, drop, tell
from graph_bandit_env import MoleculeSet, canonical_smiles


def find_sources(settings: SuggestSettings, store: Store) -> dict[str, str]:
    """Return the name of each table of results in the campaign, by its path.

    Raises:
        ValueError: if a table from an earlier call is neither passed nor dropped. The message has both remedies.
    """
    sources = {str(path): store.name_of(path) for path in settings.measured}
    dropped, state = {store.name_of(path) for path in settings.drop_source}, store.state
    told = {each for result in state.results for each in result.sources} if state else set()
    if missing := sorted(told - {"", *sources.values(), *dropped}):
        folder = settings.state.parent
        paths = [os.path.relpath(folder / name) for name in missing]
        raise ValueError(
            f"The campaign has results from {listed(missing)}, which was not passed. To keep them, "
            f"pass `--measured {' '.join([*sources, *paths])}`. To remove them, pass `--drop-source {' '.join(paths)}`."
        )
    return sources


def _standard(pool: MoleculeSet, structures: Mapping[str, str], settings: SuggestSettings) -> dict[str, str]:
    """Return the structures in the campaign, standardized as in the pool."""
    canonical = {key: canonical_smiles(text, settings.most_atoms) or text for key, text in structures.items()}
    standard = {key: pool.standard_smiles(text) for key, text in canonical.items()}
    for key, text in zip(pool.ids, pool.smiles, strict=True):
        before = standard.get(key, text)
        if text != before and parent_of(text) != parent_of(before):
            raise ValueError(f"`{key}` was {before} in earlier rounds, and is {text} in the pool. Correct it.")
        if key in standard:
            standard[key] = text
    return standard


def tell_tables(
    state: CampaignState, rounds: Rounds, settings: SuggestSettings, store: Store, has_tables: bool
) -> tuple[CampaignState, Told]:
    """Add the tables and annotations of a command. Graphs get their current ids in the pool.

    Args:
        state: the campaign.
        rounds: the pool, with the rows of results.
        settings: settings of the command.
        store: the file of the campaign.
        has_tables: True if the settings name the tables of results.

    Raises:
        MissingRowsError: a ValueError, if a table lacks rows that it had.
        ValueError: if the pool reuses an id of the campaign for another graph, a row is invalid, or as in
            `find_sources` and `annotate`.
    """
    sources = find_sources(settings, store) if has_tables else {}
    for path in settings.drop_source:
        state = drop(state, store.name_of(path))
    every = [row for read in rounds.rows.values() for row in read]
    names = {row.identifier for row in every} | state.known | settings.marked
    structures = dict(state.structures)
    pool = rounds.search(names, {row.smiles for row in every} | {*structures.values()})
    if isinstance(pool, MoleculeSet):
        structures = _standard(pool, structures, settings)
        id_of = dict(zip(pool.smiles, pool.ids, strict=True))
        state = state.renamed({key: id_of[text] for key, text in structures.items() if id_of.get(text, key) != key})
    if rounds.kind == "class" and not state.kind:  # even with a single class, or words
        state = replace(state, kind="class")
    if settings.again:
        state = replace(state, pending=())
    told = Told()
    if sources:
        matcher = Matcher(pool, structures, settings.most_atoms)
        matched = match_rows(rounds.rows, matcher, rounds.own, bool(rounds.goals), sources)
        if settings.best_of is not None:
            matched = matched.best(settings.goals[0].sign > 0)
        state, told = tell(state, matched, [*sources.values()], settings.drop_missing, at=store.clock())
    ids = {key: key for key in (*state.known, *pool.ids)} | dict(getattr(pool, "aliases", {}))
    index = PoolIndex(pool)
    for option in ("lift", "veto", "pin", "comment"):
        for text in getattr(settings, option):
            key, said = find_id(text, ids)
            veto = {"lift": False, "veto": said or True}.get(option)
            pin = {"lift": False, "pin": True}.get(option)
            comment, structures = said * (option == "comment"), index.structures(index.present([key]))
            state = annotate(state, key, veto, pin, comment, by=settings.user, structures=structures)
    return state, told


def find_id(text: str, ids: Mapping[str, str]) -> tuple[str, str]:
    """Return the id at the start of `ID` or `ID=TEXT`, and the text. Ids may contain `=`.

    Raises:
        ValueError: if the id does not exist.
    """
    places = [len(text), *(place for place in reversed(range(len(text))) if text[place] == "=")]
    found = next((place for place in places if text[:place] in ids), None)
    if found is None:
        raise ValueError(f"Expected the id of a candidate. Got {text!r}.")
    return ids[text[:found]], text[found + 1 :].strip()
