"""Play a part of an entry again: does a registered agent choose what its rows say?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
    plays may part at a near tie; then R_T must lie in the interval in which one more repetition of this agent on this
    task does, by those of the entry (`prediction_interval`, 99 %).

    Args:
        entry: keeps the rules.
        chosen: those of its repetitions that are played, by agents of this package.
        rules: those of the board.
        open_workers: opens the workers that play.

    Returns:
        What became of each, in the order in which they were finished.
    """
    specs = {play.player: spec_of(play) for play in chosen}
    planned: dict[tuple[str, int], Repetition] = {}
    for spec in specs.values():
        planned |= rules.plan([spec])
    stored = {play.identity: play for play in chosen}
    done: list[Replayed] = []

    def keep(repetition: Repetition, outcome: Outcome) -> None:
        play = stored[repetition.identity]
        if outcome.error:
            last = outcome.error.strip().splitlines()[-1]
            done.append(Replayed(play, fault=f"it fails when it is played again: {last[:200]}"))
        else:
            done.append(compare(play, outcome.result, _total_regrets(entry, play)))

    if chosen:
        repetitions = [planned[play.identity] for play in chosen]
        workers = open_workers()
        workers.share(repetitions)
        execute(repetitions, workers, keep)
    return done


def compare(play: Play, result: BanditResult, total_regrets: Sequence[float]) -> Replayed:
    """Compare a stored repetition with one that was played just now, under the same settings and seed.

    Args:
        play: the stored one.
        result: the other one.
        total_regrets: R_T of all stored repetitions of this agent on this task.

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
    if not parted:
        return Replayed(play)
    low, high = prediction_interval(np.array(total_regrets), LEVEL)
    total = float(result.regret.sum())
    if low <= total <= high:
        return Replayed(play, parted=True)
    return Replayed(
        play,
        True,
        f"it plays another graph in round {until + 1}, and its R_T, {total:.1f}, is outside of the interval of the "
        f"entry's own repetitions, {low:.1f} to {high:.1f}",
    )


def _total_regrets(entry: Entry, play: Play) -> list[float]:
    same = [other for other in entry.players[play.player] if other.key == play.key and other.status == "finished"]
    return [other.total_regret for other in same]
