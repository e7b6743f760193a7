"""Play a part of an entry again: does a registered agent choose what its rows say?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from graph_bandit_lab.analysis.statistics import prediction_interval
from graph_bandit_lab.board.accounts import find_difference
from graph_bandit_lab.board.entries import Entry, Play
from graph_bandit_lab.board.rules import Rules, find_replayable, spec_of
from graph_bandit_lab.design.plan import Repetition
from graph_bandit_lab.episodes.records import BanditResult
from graph_bandit_lab.execution.execute import execute
from graph_bandit_lab.execution.executors import InProcess, Workers
from graph_bandit_lab.execution.worker import Outcome

Result: TypeAlias = BanditResult | str
"""What came of a repetition that was played again, or the last line of its error."""
LEVEL = 0.99  # of the interval in which R_T must lie after plays have parted


@dataclass(frozen=True, kw_only=True)
class Replays:
    """Which part of each entry is played again."""

    share: float = 0.1
    """Share of the repetitions of each agent, of which one is played at least."""
    seed: int = 0
    """With the digest of the file, it decides which. Nobody can prepare a file for a seed that is not known yet."""

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ValueError(f"Expected `share` to be above 0, and at most 1. Got {self.share}.")
        if not (isinstance(self.seed, int) and self.seed >= 0):
            raise ValueError(f"Expected `seed` to be an integer >= 0. Got {self.seed!r}.")


@dataclass(frozen=True, eq=False)
class Replayed:
    """One repetition that was played again."""

    play: Play
    parted: bool = False
    """Whether it chose another graph from some round on."""
    fault: str = ""
    """What shows that the row is not what the agent does; empty if nothing does."""


def choose_replays(entry: Entry, replays: Replays) -> list[Play]:
    """Draw the repetitions of an entry that are played again: a share of each agent's that this version can play.

    Args:
        entry: keeps the rules.
        replays: the share, and the seed of the draw.

    Returns:
        The repetitions, the same ones for the same file and seed.
    """
    rng = np.random.default_rng(np.random.SeedSequence([int(entry.digest, 16), replays.seed]))
    chosen: list[Play] = []
    for _, plays in sorted(entry.players.items()):
        ours = sorted(find_replayable(plays)[0], key=lambda play: play.identity)
        count = min(len(ours), math.ceil(replays.share * len(plays)))
        chosen += [ours[k] for k in sorted(rng.choice(len(ours), count, replace=False).tolist())] if ours else []
    return chosen


def play_again(
    entry: Entry,
    chosen: Sequence[Play],
    rules: Rules,
    open_workers: Callable[[], Workers] = InProcess,
) -> list[Replayed]:
    """Play repetitions of an entry again, and compare.

    As long as the same graphs are played, rewards and regret must be the same, up to rounding. On another type of CPU
    plays may part at a near tie. That is rare: of an agent, at most one or half of them may. Then all repetitions of
    this agent on this task are played again, and the R_T of the row must lie in the interval in which one more of
    these does (`prediction_interval`, 99 %). Nothing that an entry says makes that interval wider.

    Args:
        entry: keeps the rules.
        chosen: those of its repetitions that are played, by agents of this package.
        rules: those of the board.
        open_workers: opens the workers that play.

    Returns:
        What became of each.
    """
    first = _play(chosen, rules, open_workers)
    done = [_judge(play, first[play.identity]) for play in chosen]
    too_many = {player for player in entry.players if _too_many_part(player, done)}
    same = {
        other.identity: other
        for replayed in done
        if replayed.parted and not replayed.fault and replayed.play.player not in too_many
        for other in find_replayable(entry.players[replayed.play.player])[0]
        if other.key == replayed.play.key
    }
    rest = _play([play for play in same.values() if play.identity not in first], rules, open_workers)
    known = {**first, **rest}
    for k, replayed in enumerate(done):
        if replayed.parted and not replayed.fault:
            key = replayed.play.key
            fresh = [known[other.identity] for other in same.values() if other.key == key]
            totals = [float(result.regret.sum()) for result in fresh if isinstance(result, BanditResult)]
            done[k] = (
                replace(replayed, fault="it plays another graph, as do most of this agent's that were played again")
                if replayed.play.player in too_many
                else _judge(replayed.play, known[replayed.play.identity], totals)
            )
    return done


def _play(plays: Sequence[Play], rules: Rules, open_workers: Callable[[], Workers]) -> dict[tuple[str, int], Result]:
    """Play repetitions again; return what came of each, or its error, by its hash and seed."""
    planned: dict[tuple[str, int], Repetition] = {}
    for spec in {play.player: spec_of(play) for play in plays}.values():
        planned |= rules.plan([spec])
    results: dict[tuple[str, int], Result] = {}

    def keep(repetition: Repetition, outcome: Outcome) -> None:
        error = outcome.error.strip().splitlines()[-1:] if outcome.error else []
        results[repetition.identity] = error[0] if error else outcome.result

    if plays:
        repetitions = [planned[play.identity] for play in plays]
        workers = open_workers()
        workers.share(repetitions)
        execute(repetitions, workers, keep)
    return results


def _judge(play: Play, result: Result, total_regrets: Sequence[float] | None = None) -> Replayed:
    if isinstance(result, str):
        return Replayed(play, fault=f"it fails when it is played again: {result[:200]}")
    return compare(play, result, total_regrets)


def _too_many_part(player: str, done: Sequence[Replayed]) -> bool:
    mine = [replayed for replayed in done if replayed.play.player == player]
    return sum(replayed.parted for replayed in mine) > max(1, len(mine) // 2)


def compare(play: Play, result: BanditResult, total_regrets: Sequence[float] | None = None) -> Replayed:
    """Compare a stored repetition with one that was played just now, under the same settings and seed.

    Args:
        play: the stored one.
        result: the other one.
        total_regrets: R_T of repetitions of this agent on this task that were played just now; None: where the two
            part, R_T is not looked at.

    Returns:
        Whether they part, and what is wrong.
    """
    if result.status != play.status:
        return Replayed(play, fault=f"it is {result.status} when it is played again, and {play.status} in its row")
    length = min(len(play.actions), len(result.actions))
    others = np.flatnonzero(play.actions[:length] != result.actions[:length])
    parted = bool(len(others)) or len(play.actions) != len(result.actions)
    until = int(others[0]) if len(others) else length
    difference = find_difference(play, result, until)
    if difference:
        return Replayed(play, parted, f"its row has {difference}")
    if not parted or total_regrets is None:
        return Replayed(play, parted)
    low, high = prediction_interval(np.array(total_regrets), LEVEL)
    if low <= play.total_regret <= high:
        return Replayed(play, parted=True)
    return Replayed(
        play,
        True,
        f"it plays another graph in round {until + 1}, and the R_T of its row, {play.total_regret:.1f}, is outside of "
        f"the interval of repetitions that were played again, {low:.1f} to {high:.1f}",
    )
