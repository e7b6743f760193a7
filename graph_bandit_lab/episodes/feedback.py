"""Rewards that come late, or for several graphs at once, and first rounds at random."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graph_bandit_env.wrappers import RewardQueue, check_delay, delays_rng

if TYPE_CHECKING:
    from agents.contract import Agent

Told: TypeAlias = tuple[Any, ArrayLike, ArrayLike]
"""What `Agent.update` is told: observation, actions and rewards."""

RANDOM_ROUNDS = 3  # key of the stream from which the graphs of random rounds are drawn
DIFFERENT = (
    "Expected batches where all rounds offer the same graphs. These rounds differ: play one graph at a time, with "
    "`batch=1`."
)


@dataclass(frozen=True, kw_only=True)
class Feedback:
    """When an agent begins to choose, and when it learns what it was paid. Regret counts each round as it is played.

    Raises:
        ValueError: if a number is out of its range.
    """

    batch: int = 1
    """b, the number of graphs that are chosen together; their rewards are told after the last of them."""
    delay: int | tuple[int, int] = 0
    """d, the number of rounds that are played before a reward is told; or (least, most), drawn for each reward."""
    random_rounds: int = 0
    """Number of first rounds that play random graphs, the same ones for every agent, which learns from them."""
    announced: bool = True
    """Tell agents with `select_awaiting` which rewards of the present graphs are on their way."""

    def __post_init__(self) -> None:
        if not _is_count(self.batch, 1):
            raise ValueError(f"Expected `batch` to be an integer >= 1. Got {self.batch!r}.")
        if not _is_count(self.random_rounds, 0):
            raise ValueError(f"Expected `random_rounds` to be an integer >= 0. Got {self.random_rounds!r}.")
        if not isinstance(self.announced, bool | np.bool_):
            raise ValueError(f"Expected `announced` to be True or False. Got {self.announced!r}.")
        delay = check_delay(self.delay)
        for name in ("batch", "random_rounds"):
            object.__setattr__(self, name, int(getattr(self, name)))
        object.__setattr__(self, "delay", delay)  # equal settings are equal
        object.__setattr__(self, "announced", bool(self.announced))

    @property
    def announces(self) -> bool:
        """Return whether there can be a reward on its way of which agents are told."""
        return self.announced and self.delay != 0


class LateRewards:
    """Rewards that were earned, and are not told yet.

    Args:
        feedback: how long they take.
        rng: the only source of randomness.
    """

    def __init__(self, feedback: Feedback, rng: np.random.Generator) -> None:
        self._feedback = feedback
        # the graphs, the observation, the action and the reward
        self._queue: RewardQueue[tuple[object, Any, int, float]] = RewardQueue(feedback.delay, rng)

    def add(self, graphs: object, observation: object, action: int, reward: float) -> None:
        """Add the reward of the round that was just played, of one of these graphs."""
        self._queue.add((graphs, observation, action, reward))

    def announced(self, graphs: object) -> list[int]:
        """Return which of these graphs have rewards that are not told yet, in the order of the rounds.

        It is none where nothing is announced, and where the graphs are not known (None).
        """
        announced = self._feedback.announced and graphs is not None
        return [action for among, _, action, _ in self._queue.waiting if announced and among is graphs]

    def take_due(self) -> Iterator[Told]:
        """Yield what `Agent.update` is told now, in the order of the rounds; the results of a batch are told in one."""
        due = [result for _, *result in self._queue.take()]
        if self._feedback.batch == 1 or len(due) == 1:
            yield from ((observation, action, reward) for observation, action, reward in due)
        elif due:
            observations, actions, rewards = zip(*due, strict=True)
            yield observations[-1], np.array(actions, np.int64), np.array(rewards, np.float64)


class Schedule:
    """When an agent chooses, and when it is told its rewards, as `Feedback` says.

    Args:
        feedback: the batches, delays and random rounds.
        world: the unwrapped environment.
        seed: seed of the episode.
    """

    def __init__(self, feedback: Feedback, world: object, seed: int) -> None:
        self._draws = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(RANDOM_ROUNDS,)))
        self._feedback, self._world, self._late = feedback, world, LateRewards(feedback, delays_rng(seed))
        self._random_left = feedback.random_rounds
        self._chosen: list[int] = []  # of a batch, still to be played
        self._graphs: object = None  # among which they were chosen

    def choose(self, agent: Agent, observation: object, action_mask: NDArray[np.int8]) -> int:
        """Return the graph to play now: the next one of a batch, or the first of another, which is chosen then.

        Raises:
            ValueError: if a graph of a batch is not on offer any more.
        """
        graphs, batch = getattr(self._world, "graph_set", None), self._feedback.batch
        if not self._chosen:
            self._graphs = graphs
            if self._random_left > 0:
                self._chosen = choose_at_random(self._draws, action_mask, min(batch, self._random_left))
                self._random_left -= len(self._chosen)
            else:
                self._chosen = choose(agent, observation, action_mask, batch, self._late.announced(graphs))
        action = self._chosen.pop(0)
        if batch > 1 and not (action_mask[action] and graphs is self._graphs):
            raise ValueError(DIFFERENT)
        return action

    def add_reward(self, observation: object, action: int, reward: float) -> None:
        """Add the reward of the round that was just played."""
        self._late.add(self._graphs, observation, action, reward)

    def take_due(self, over: bool) -> Iterator[Told]:
        """Yield what `Agent.update` is told now: nothing within a batch, unless the episode is over."""
        return self._late.take_due() if over or not self._chosen else iter(())


def check_diagnosable(feedback: Feedback) -> None:
    """Refuse diagnostics of rounds in which no agent makes a single choice by all that it was told.

    Raises:
        ValueError: if there are batches, random rounds or announced rewards.
    """
    if feedback.batch > 1:
        raise ValueError("Expected diagnostics without batches: an insight is one into a single choice. Got both.")
    if feedback.random_rounds:
        raise ValueError("Expected diagnostics without random rounds, which no agent has chosen. Got both.")
    if feedback.announces:
        raise ValueError(
            "Expected diagnostics without announced rewards, the default of delays. Use `announced=False`, "
            "`--no-announced`, or `announced = false` in a sweep file."
        )


def check_batch(batch: int, num_graphs: int | Sequence[int]) -> None:
    """Refuse batches of more different graphs than there are.

    Raises:
        ValueError: if `batch` is larger than the number of graphs, or than the smallest where it varies.
    """
    fewest = min(num_graphs) if isinstance(num_graphs, Sequence) else num_graphs
    if batch > max(1, fewest):
        raise ValueError(f"Expected `batch` to be at most {fewest}, the number of graphs. Got {batch}.")


def choose(agent: Any, observation: Any, action_mask: ArrayLike, count: int, awaiting: Sequence[int] = ()) -> list[int]:
    """Let an agent choose different graphs; one after the other if it has no `select_batch`.

    Args:
        agent: has `select_action`, and perhaps `select_batch` and `select_awaiting`.
        observation: that of the round.
        action_mask: `(K,)`. 1 for each graph on offer.
        count: how many to choose; all on offer, if there are fewer.
        awaiting: graphs played whose rewards the agent is told to be on their way.

    Returns:
        Indices of graphs, in the order of choice.

    Raises:
        ValueError: if a method that chooses several returns anything but that many different graphs on offer.
    """
    mask: NDArray[np.int8] = np.array(action_mask)
    count = min(count, int(np.count_nonzero(mask)))
    if awaiting and hasattr(agent, "select_awaiting"):
        return _check("select_awaiting", agent.select_awaiting(observation, count, awaiting, mask), mask, count)
    if count == 1:
        return [agent.select_action(observation, action_mask)]
    if hasattr(agent, "select_batch"):
        return _check("select_batch", agent.select_batch(observation, count, mask), mask, count)
    several = []
    for _ in range(count):
        several.append(agent.select_action(observation, mask))
        mask[several[-1]] = 0
    return several


def choose_at_random(rng: np.random.Generator, action_mask: ArrayLike, count: int) -> list[int]:
    """Draw `count` different graphs on offer; all of them, if there are fewer."""
    offered = np.flatnonzero(np.asarray(action_mask))
    drawn: list[int] = rng.choice(offered, min(count, len(offered)), replace=False).tolist()
    return drawn


def _check(method: str, actions: Sequence[int], mask: NDArray[np.int8], count: int) -> list[int]:
    chosen = [int(action) for action in actions]
    if len(set(chosen)) != count or not all(0 <= action < len(mask) and mask[action] for action in chosen):
        raise ValueError(f"Expected `{method}` to return {count} different graphs on offer. Got {chosen}.")
    return chosen


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= least


AT_ONCE = Feedback()
