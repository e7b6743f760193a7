"""Change the state of a campaign: add results and annotations. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import SupportsIndex

from graph_bandit_campaign.checks import Kind, check_flag, check_integer
from graph_bandit_campaign.constraints.goals.goal import Goal, check_goals, list_aims
from graph_bandit_campaign.results.facts import TYPED, Comment, Fact, Failure, Measurement, Result, Veto, check_text
from graph_bandit_campaign.results.matching import Matched
from graph_bandit_campaign.state import CampaignState, Suggestion
from graph_bandit_campaign.text import listed, short

DIRECTIONS: dict[bool | None, str] = {True: "maximize", False: "minimize"}


class MissingRowsError(ValueError):
    """A table lacks rows that it had before."""


@dataclass(frozen=True)
class Told:
    """Changes made by a call of `tell`."""

    new: tuple[str, ...] = ()
    """New results, as "m1 4.5"."""
    twice: int = 0
    """Number of results that were known before, or given twice."""
    replicates: tuple[str, ...] = ()
    """Graphs with several values, one of them new."""
    gone: tuple[str, ...] = ()
    """Results that were corrected or removed."""
    forms: Mapping[str, str] = field(default_factory=dict)
    """SMILES of results that are another form of their molecule, by its id."""

    def sentences(self) -> list[str]:
        """Return sentences about unexpected changes."""
        found = "1 result was" if self.twice == 1 else f"{self.twice:,} results were"
        texts = [f"{found} known already, or given twice."] * bool(self.twice)
        texts += [f"Several values, which are averaged: {listed(self.replicates)}."] * bool(self.replicates)
        return texts + [f"Corrected or removed: {listed(self.gone)}."] * bool(self.gone)


def resume(
    saved: CampaignState | None,
    path: str,
    agent: str,
    maximize: bool | None = None,
    seed: SupportsIndex | None = None,
    target: str | None = None,
    goals: Sequence[Goal] | None = None,
    kind: Kind | None = None,
) -> CampaignState:
    """Return the campaign of a file, with the given goals, or a new campaign.

    Args:
        saved: campaign of the file, or None.
        path: path of the file.
        agent: agent of a new campaign.
        maximize: True if large values are good, False if small values are good, or None.
        seed: seed of all randomness, or None.
        target: name of the measured quantity, or None.
        goals: goals for several quantities, or None.
        kind: type of the values of a single goal, or None.

    Raises:
        ValueError: if the file holds a campaign with another direction, seed, target or goals, or goals are combined
            with arguments for one quantity.
    """
    maximize = None if maximize is None else check_flag("maximize", maximize)
    seed = None if seed is None else check_integer("seed", seed, smallest=0)
    wanted = check_goals(goals) if goals is not None else saved.goals if saved else ()
    if wanted and (maximize, target, kind) != (None, None, None):
        raise ValueError("Expected either `goals`, or `maximize`, `target` and `kind`. Got both.")
    state = saved or CampaignState(agent, maximize is not False, seed or 0, target=target or "", goals=wanted)
    pairs = {
        "direction": (DIRECTIONS.get(maximize), DIRECTIONS[state.maximize]),
        "seed": (seed, state.seed),
        "target": (target, state.target),
        "goals": (None if goals is None else list_aims(wanted), list_aims(state.goals)),
    }
    for name, (value, before) in pairs.items():
        if value not in (None, before):
            text = f"Expected a campaign with {name} {value}. {path} has {'none' if before == '' else before}."
            raise ValueError(f"{text} Use that value, or start a new campaign in another file.")
    kind = state.kind if kind is None else kind
    told = state.told or kind != state.kind or wanted != state.goals
    return replace(state.with_goals(wanted), kind=kind, told=told)


def tell(
    state: CampaignState,
    matched: Matched,
    tables: Collection[str] = (),
    drop_missing: bool = False,
    instead: bool = False,
    by: str = "",
    at: str = "",
    cleared: Collection[tuple[str, str]] = (),
) -> tuple[CampaignState, Told]:
    """Add results. Tables are read as a whole, so changed or missing rows correct earlier results.

    Args:
        state: the campaign.
        matched: the results.
        tables: sources that are read as a whole.
        drop_missing: if True, results are removed if their graphs have disappeared from such a table.
        instead: if True, a value replaces earlier typed values of its graph. Otherwise it is a replicate.
        by: name of the reporting person.
        at: time of the report.
        cleared: ids and goals whose typed values are removed.

    Raises:
        MissingRowsError: a ValueError, if such a table lacks rows that it had, and `drop_missing` is False.
        ValueError: if a measured graph is reported as failed, or a value would replace one of a table.
    """
    before: dict[Fact, Result] = {result.fact: result for result in state.results}
    given = Counter((result.fact, source) for result in matched.results for source in result.sources)
    if not drop_missing:
        _refuse_missing(before.values(), given, matched, tables)
    kept: dict[Fact, Result] = {}
    for fact, result in before.items():
        left = tuple(each for each in result.sources if each not in tables or given[fact, each])
        kept |= {fact: result if left == result.sources else replace(result, sources=left)} if left else {}
    replaced = {*cleared, *(result.fact[:2] for result in matched.results if instead)}
    valued = {result.fact[:2] for result in matched.results if isinstance(result, Measurement)}
    for fact, result in list(kept.items()):
        if fact[:2] in replaced and not given[fact, TYPED]:
            if result.sources != (TYPED,):
                raise ValueError(f"`{fact[0]}` is {result.text} in {result.sources[0]}. Correct it there.")
            del kept[fact]
        elif isinstance(result, Failure) and result.sources == (TYPED,) and fact[:2] in valued:
            del kept[fact]  # it was measured later
    for result in matched.results:
        known = kept.get(result.fact) or replace(result, round=len(state.rounds), by=by, at=at)
        sources = tuple(dict.fromkeys((*known.sources, *result.sources)))
        kept[result.fact] = replace(known, sources=sources)
    told = {fact for fact, _ in given}
    others = [
        fact
        for fact in told & before.keys()
        if given[fact, TYPED] or any(not given[fact, each] for each in before[fact].sources)
    ]
    results = sorted(kept.values(), key=_order)
    measured = tuple(result for result in results if isinstance(result, Measurement))
    failures = tuple(result for result in results if isinstance(result, Failure))
    typed = {result.id for result in matched.results if isinstance(result, Failure) and TYPED in result.sources}
    changed = before.keys() ^ kept.keys()
    after = replace(
        state,
        measured=measured,
        failures=failures,
        pending=(),
        structures={**state.structures, **matched.structures},
        features={**state.features, **matched.features},
        told=state.told or bool(changed),
    )
    if wrong := typed & after.settled().keys():
        raise ValueError(f"Expected a candidate without a value to have failed. `{min(wrong)}` is measured.")
    suggested = [each.id for batch in state.rounds for each in batch if each.id in {fact[0] for fact in changed}]
    waiting = (key for key in matched.pending if key not in matched.outside or key in state.pending)
    new = [fact for fact in kept if fact not in before]
    several = Counter(result.fact[:2] for result in measured if not result.bound)
    return after.waiting_for((*state.pending, *waiting, *suggested)), Told(
        new=tuple(f"{kept[fact].id} {kept[fact].text}" for fact in new),
        twice=given.total() - len(told) + len(others),
        replicates=tuple(dict.fromkeys(fact[0] for fact in new if several[fact[:2]] > 1)),
        gone=tuple(f"{before[fact].id} {before[fact].text}" for fact in before if fact not in kept),
        forms=matched.forms,
    )


def _refuse_missing(
    before: Iterable[Result], given: Counter[tuple[Fact, str]], matched: Matched, tables: Collection[str]
) -> None:
    """Raise an error if a table lacks rows that it had: all rows of a graph, or one of its values."""
    had = Counter((source, *result.fact[:2]) for result in before for source in result.sources if source in tables)
    have = Counter((source, *fact[:2]) for fact, source in given)
    lost = [place for place, count in had.items() if place not in matched.rows or (have[place] and have[place] < count)]
    if lost:
        names = listed([f"{name}{f' ({goal})' * bool(goal)}" for _, name, goal in sorted(lost)])
        tables_of = listed(sorted({source for source, _, _ in lost}))
        text = f"{tables_of} lacks rows that it had before: {names}."
        raise MissingRowsError(f"{text} Put them back, or pass --drop-missing to remove these results.")


def _order(result: Result) -> tuple[object, ...]:
    value = result.value if isinstance(result, Measurement) else 0.0
    return result.round, result.id, result.goal, value, result.fact[3], result.fact[4] or 0.0


def drop(state: CampaignState, source: str) -> CampaignState:
    """Remove the results that occur only in the given table.

    Args:
        state: the campaign.
        source: the table, as in `sources` of results.

    Raises:
        ValueError: if no result comes from that table.
    """
    if not any(source in result.sources for result in state.results):
        raise ValueError(f"Expected a table from which the campaign has results. It has none from {source}.")
    return tell(state, Matched(), [source], drop_missing=True)[0]


def annotate(
    state: CampaignState,
    key: str,
    veto: bool | str | None = None,
    pin: bool | None = None,
    comment: str = "",
    waits: bool | None = None,
    by: str = "",
    structures: Mapping[str, str] | None = None,
) -> CampaignState:
    """Update the veto, the pin, the comments or the pending state of a graph.

    A veto removes a pin, and vice versa. Neither affects predictions for other graphs.

    Args:
        state: the campaign.
        key: id of the graph.
        veto: True, or the reason, to exclude the graph. False removes a veto.
        pin: True to include the graph in the next batch regardless of the agent. False removes a pin.
        comment: a comment to add.
        waits: True if the graph is being measured. False if it is not, so that it can be suggested again.
        by: name of the user.
        structures: structure of the graph, by its id. None if it is known.

    Raises:
        ValueError: if it is measured, or a text is too long or has unprintable characters.
    """
    by, now, wanted = check_text("by", by), len(state.rounds), veto not in (None, False)
    vetoes, comments = state.vetoes, state.comments
    if wanted and key in state.settled():
        raise ValueError(f"Expected a candidate without a result. `{key}` has one.")
    if pin and key in {*state.settled(), *state.failed}:
        raise ValueError(f"Expected a candidate that can be suggested. `{key}` is measured, or has failed.")
    said = Veto(key, check_text("reason", veto if isinstance(veto, str) else ""), by, now)
    before = vetoes.get(key)
    if wanted and (before is None or (before.reason, before.by) != (said.reason, said.by)):
        vetoes = {**{name: each for name, each in vetoes.items() if name != key}, key: said}
    if veto is False or pin:
        vetoes = {name: each for name, each in vetoes.items() if name != key}
    out = {key} if wanted or pin is False else set()
    pinned = dict.fromkeys((*(name for name in state.pinned if name not in out), *[key] * bool(pin)))
    idle = {key} if wanted or waits is False else set()
    text = check_text("comment", comment)
    if comment and not text:
        raise ValueError(f"Expected a comment on `{key}` that says something. Got none.")
    if text and not any((key, text, by) == (each.id, each.text, each.by) for each in comments):
        comments = (*comments, Comment(key, text, by, now))
    after = replace(
        state,
        vetoed=(*vetoes.values(),),
        pinned=(*pinned,),
        pending=tuple(name for name in state.pending if name not in idle),
        comments=comments,
        structures={**state.structures, **(structures or {})},
    )
    return after.waiting_for((*after.pending, key)) if waits else after


def add_round(state: CampaignState, suggested: Sequence[Suggestion]) -> CampaignState:
    """Add a round of suggested graphs, which become pending."""
    after = replace(state, rounds=(*state.rounds, tuple(suggested)), told=False)
    return after.waiting_for((*state.pending, *(each.id for each in suggested)))


def without_last_round(state: CampaignState) -> CampaignState:
    """Return the campaign without its last round. Results are kept.

    Raises:
        ValueError: if there are no rounds.
    """
    if not state.rounds:
        raise ValueError("Expected a round to undo. Nothing was suggested yet.")
    rounds, last = state.rounds[:-1], {each.id for each in state.rounds[-1]}
    return replace(
        state,
        rounds=rounds,
        measured=tuple(replace(each, round=min(each.round, len(rounds))) for each in state.measured),
        failures=tuple(replace(each, round=min(each.round, len(rounds))) for each in state.failures),
        pending=tuple(key for key in state.pending if key not in last),
        told=True,
    )


def say_ending(state: CampaignState, every: str, best: str = "", target: str = "") -> str:
    """Explain why no graph is left to suggest, and name the best one.

    Args:
        state: the campaign.
        every: name of the graphs, such as "all 5 molecules".
        best: the best value as text. If empty, it is formatted as measured.
        target: name of the goal. If empty, that of the campaign.
    """
    kinds = {"measured": state.settled(), "failed": state.failed, "vetoed": state.vetoes, "pending": state.pending}
    why = " or ".join(kind for kind in kinds if kinds[kind]) or "ruled out"
    text = f"Nothing is left to suggest: {every} are {why}"
    leader = None if state.goals or state.is_class else state.leader()
    if leader is not None:
        text += f", and the best {target or state.target or 'value'} is {best or short(leader[1])} ({leader[0]})"
    return f"{text}{f', with {len(state.hits):,} hits' * state.is_class}."
