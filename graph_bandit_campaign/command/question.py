"""Copy the results of the tables into a campaign, and recognise a question that was asked before."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.command.inputs import Inputs
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.model import failures
from graph_bandit_campaign.records import Records
from graph_bandit_campaign.results.books import Books
from graph_bandit_campaign.results.measurement import Measurement
from graph_bandit_campaign.state import CampaignState, are_enough
from graph_bandit_campaign.text import listed
from graph_bandit_env import GraphPool, MoleculeSet

MORE = "-more"  # ends the question of a batch that was asked for although no result came in


class Question(NamedTuple):
    """What a command asks of a campaign."""

    digest: str
    """The same for the same command with the same results, pool, limits, prices, caps and algorithm."""
    keep: tuple[str, ...] | None
    """Ids of graphs that are chosen in any case: the rest of a round in which some were vetoed; None: those pinned."""


def mark(campaign: Records, settings: SuggestSettings, pool: GraphPool) -> list[str]:
    """Save the vetoes, pins and comments of a command; what is saved already is left as it is.

    Args:
        campaign: the campaign to change. What is pending and marked goes on under its new ids, if they have changed.
        settings: settings of the command.
        pool: what is known of the pool.

    Returns:
        Ids of the vetoed graphs.

    Raises:
        ValueError: as `Campaign.veto`, `pin`, `lift` and `comment`, or if a graph is named twice.
    """
    campaign.rename(_renamed(campaign.state, pool))
    lifted, pinned = ([campaign.find(text)[0] for text in texts] for texts in (settings.lift, settings.pin))
    vetoed = [campaign.find(text) for text in settings.veto]
    every = Counter([*lifted, *pinned, *(key for key, _ in vetoed)])
    if twice := next((key for key, count in every.items() if count > 1), None):
        raise ValueError(f"Expected each id once in `--veto`, `--pin` and `--lift`. Got {twice} again.")
    for key in lifted:
        campaign.lift(key)
    for key, reason in vetoed:
        before = campaign.state.vetoes.get(key)
        if before is None or (reason, settings.by.strip()) != (before.reason, before.by):
            campaign.veto(key, reason, settings.by)
    for key in pinned:
        if key not in campaign.state.pinned:
            campaign.pin(key)
    for key, said in map(campaign.find, settings.comment):
        campaign.comment(key, said, settings.by)
    return [key for key, _ in vetoed]


class OtherQuestionError(ValueError):
    """The answer to a question would not be another form of the last round, but a new one."""


def take_over(
    campaign: Campaign, inputs: Inputs, settings: SuggestSettings, is_seen: bool = True, same_round: bool = False
) -> Question:
    """Replace the results of a campaign by those of the tables; suggestions without a result stay pending.

    They do so although they have left the pool. One whose id has changed goes on under its new id.

    The last round is undone if its question is asked again; and if a crash kept its table from being written, or the
    same command from writing the other files. If some of it are vetoed, the rest is kept.

    Args:
        campaign: the campaign to change.
        inputs: what is known of the pool, and the results of the tables.
        settings: settings of the command.
        is_seen: whether the table of the last round was written.
        same_round: refuse a question other than that of the last round.

    Raises:
        OtherQuestionError: a ValueError, if it is another one then.
        ValueError: if results of earlier rounds are missing from the tables.
    """
    books, pool = inputs.known.books, inputs.known.in_pool
    campaign.choose_agent(settings.n)
    state = campaign.state
    measured = measurements_of(books, {})
    tried = {result.id for result in measured}
    asked = [[dataclasses.astuple(result) for result in measured], books.failed, books.pending, settings.n]
    asked += [settings.again]
    asked += [state.agent, state.algorithm, inputs.conditions]
    asked += [[dataclasses.astuple(goal) for goal in state.goals], state.goals_algorithm] if state.goals else []
    asked += ["class"] * (state.kind == "class")
    if are_enough(len(books.failed), len(tried)) and not settings.ignore_failures:
        asked += [["failures", failures.ALGORITHM]]
    question = f"{_digest(asked)}-{_digest(inputs.content)}"
    before, is_more = state.question.removesuffix(MORE), state.question.endswith(MORE)
    is_same = before == question
    if same_round and not (is_same and state.rounds):
        raise OtherQuestionError("Expected the question of the last round. Something else is asked, or known, by now.")
    is_cut = bool(state.unwritten) and (not is_seen or (is_same and is_more == settings.more))
    keep = None
    if is_cut or settings.undo or (is_same and not settings.more):
        keep = _left_of_last(state) if is_same and not settings.undo else None
        campaign.undo_ask()  # the same question gets the same answer and does not count as another round
    take_results(campaign, books, pool, settings)
    if keep is not None:
        renamed, done = _renamed(campaign.state, pool), {*campaign.state.settled(), *campaign.state.failed}
        keep = tuple(renamed.get(key, key) for key in keep if renamed.get(key, key) not in done)
    return Question(f"{question}{MORE * settings.more}", keep)


def take_results(records: Records, books: Books, pool: GraphPool, settings: SuggestSettings) -> None:
    """Replace the results of a campaign by those of the tables.

    Args:
        records: the campaign to change.
        books: the results of the tables.
        pool: what is known of the pool.
        settings: settings of the command.

    Raises:
        ValueError: if results of earlier rounds are missing from the tables.
    """
    state = records.state
    renamed = _renamed(state, pool)
    first_round = {
        (renamed.get(result.id, result.id), result.goal): result.round for result in reversed(state.measured)
    }
    given = {(result.id, result.goal) for result in books.results}
    lost = sorted({identifier for identifier, _ in first_round.keys() - given})
    if lost and not settings.forget:
        raise ValueError(
            f"Expected the results of earlier rounds in the tables again. Missing: {listed(lost)}. Pass all tables "
            "with --measured, or --forget to continue without these."
        )
    measured = measurements_of(books, first_round, len(state.rounds))
    settled = {*CampaignState("", True, 0, measured, goals=state.goals).settled(), *books.failed}
    out = {*settled, *state.vetoes}
    waiting = [key for key in (renamed.get(key, key) for key in state.pending) if key not in out]
    pending = dict.fromkeys((*books.pending, *(() if settings.again else waiting)))
    records.replace_results(measured, books.failed, pending)


def _left_of_last(state: CampaignState) -> tuple[str, ...] | None:
    """Return the pinned graphs, and what is pending of the last round, as many as it has; None: nothing was vetoed."""
    if not any(veto.round == len(state.rounds) for veto in state.vetoed):
        return None
    last = [suggestion.id for suggestion in state.rounds[-1]]
    pinned = [key for key in state.pinned if key in (*state.waiting_pins(), *last)]
    waiting = [key for key in last if key in state.pending and key not in pinned]
    return (*pinned, *waiting)[: max(len(last), len(pinned))]


def _renamed(state: CampaignState, pool: GraphPool) -> dict[str, str]:
    """Return the ids that molecules have now, by those that the campaign knows them by."""
    id_of = dict(zip(pool.smiles, pool.ids, strict=True)) if isinstance(pool, MoleculeSet) else {}
    return {key: id_of[text] for key, text in _structures(state, pool) if text in id_of}


def _structures(state: CampaignState, pool: GraphPool) -> list[tuple[str, str]]:
    """Return ids and SMILES of the molecules that a campaign knows, as the pool describes them."""
    standard = pool.standard_smiles if isinstance(pool, MoleculeSet) else str
    return [(key, standard(text)) for key, text in state.structures.items()]


def measurements_of(books: Books, first_round: Mapping[tuple[str, str], int], now: int = 0) -> tuple[Measurement, ...]:
    """Return the results of tables as a campaign keeps them.

    Args:
        books: the results.
        first_round: in which round each came in, by id and goal.
        now: the round of those that are new.
    """
    in_order = sorted(books.results, key=lambda each: (each.noise is not None, dataclasses.astuple(each)))
    return tuple(dataclasses.replace(each, round=first_round.get((each.id, each.goal), now)) for each in in_order)


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]
