"""Handle delayed rewards, batches of graphs, and initial random rounds."""

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
"""Arguments of `Agent.update`: observation, actions and rewards."""

RANDOM_ROUNDS = 3  # key of the stream from which the graphs of random rounds are drawn
DIFFERENT = (
    "Expected batches where all rounds offer the same graphs. These rounds differ: play one graph at a time, with "
    "`batch=1`."
)


@dataclass(frozen=True, kw_only=True)
class Feedback:
    """Batches, reward delays and initial random rounds. Regret counts each round as it is played.

    Raises:
        ValueError: if a number is out of range.
    """

    batch: int = 1
    """b, the number of graphs that an agent chooses together. Their rewards arrive after the last of them. Agents
    without batches choose one graph after another."""
    delay: int | tuple[int, int] = 0
    """d, the number of rounds between an action and its reward. With (least, most), a delay is drawn for each
    reward."""
    random_rounds: int = 0
    """Number of initial rounds with random graphs. They are the same for all agents, which learn from them."""
    announced: bool = True
    """Announce pending graphs to agents when they choose, if the graphs stay the same. Agents with `select_awaiting`
    take them into account."""
    distinct: bool = True
    """Require different graphs in a batch. Otherwise a batch may repeat a graph."""

    def __post_init__(self) -> None:
        for name, least in (("batch", 1), ("random_rounds", 0)):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
                raise ValueError(f"Expected `{name}` to be an integer >= {least}. Got {value!r}.")
            object.__setattr__(self, name, int(value))
        for name in ("announced", "distinct"):
            value = getattr(self, name)
            if not isinstance(value, bool | np.bool_):
                raise ValueError(f"Expected `{name}` to be True or False. Got {value!r}.")
            object.__setattr__(self, name, bool(value) or (name == "distinct" and self.batch == 1))
        object.__setattr__(self, "delay", check_delay(self.delay))  # equal settings are equal

    @property
    def announces(self) -> bool:
        """Return True if pending rewards can be announced to agents."""
        return self.announced and self.delay != 0


class Schedule:
    """Schedule of choices and rewards according to `Feedback`.

    Args:
        feedback: the batches, delays and random rounds.
        world: the unwrapped environment.
        seed: seed of the episode.
    """

    def __init__(self, feedback: Feedback, world: object, seed: int) -> None:
        self._draws = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(RANDOM_ROUNDS,)))
        self._feedback, self._world = feedback, world
        # graphs, observation, action and reward of each round whose reward is pending
        self._late: RewardQueue[tuple[object, Any, int, float]] = RewardQueue(feedback.delay, delays_rng(seed))
        self._random_left = feedback.random_rounds
        self._chosen: list[int] = []  # of a batch, still to be played
        self._graphs: object = None  # from which they were chosen

    def choose(self, agent: Agent, observation: object, action_mask: NDArray[np.int8]) -> int:
        """Return the graph to play now: the next one of the batch, or the first of a new batch.

        Raises:
            ValueError: if a graph of a batch is no longer on offer.
        """
        graphs, batch = getattr(self._world, "graph_set", None), self._feedback.batch
        distinct = self._feedback.distinct
        if not self._chosen:
            self._graphs = graphs
            if self._random_left > 0:
                offered = np.flatnonzero(action_mask)
                count = min(batch, self._random_left, len(offered) if distinct else batch)
                self._chosen = self._draws.choice(offered, count, replace=not distinct).tolist()
                self._random_left -= count
            else:
                announced = self._feedback.announced and graphs is not None  # unless the graphs are unknown
                awaiting = [action for among, _, action, _ in self._late.waiting if announced and among is graphs]
                self._chosen = choose(agent, observation, action_mask, batch, awaiting, distinct)
        action = self._chosen.pop(0)
        if batch > 1 and not (action_mask[action] and graphs is self._graphs):
            raise ValueError(DIFFERENT)
        return action

    def add_reward(self, observation: object, action: int, reward: float) -> None:
        """Add the reward of the round just played."""
        self._late.add((self._graphs, observation, action, reward))

    def take_due(self, over: bool) -> Iterator[Told]:
        """Yield the due arguments of `Agent.update` in round order, with the results of a batch together.

        Nothing is due within a batch, unless the episode is over.
        """
        due = [] if self._chosen and not over else [result for _, *result in self._late.take()]
        if self._feedback.batch == 1 or len(due) == 1:
            yield from ((observation, action, reward) for observation, action, reward in due)
        elif due:
            observations, actions, rewards = zip(*due, strict=True)
            yield observations[-1], np.array(actions, np.int64), np.array(rewards, np.float64)


def check_diagnosable(feedback: Feedback) -> None:
    """Reject diagnostics unless each round is one choice of the agent, based only on the rewards it has received.

    Raises:
        ValueError: if there are batches, random rounds or announced rewards.
    """
    if feedback.batch > 1 or feedback.random_rounds:
        raise ValueError("Expected diagnostics without batches and random rounds: they explain a choice of one graph.")
    if feedback.announces:
        raise ValueError(
            "Expected diagnostics without announced rewards, the default of delays. Use `announced=False`, "
            "`--no-announced`, or `announced = false` in a sweep file."
        )


def check_batch(feedback: Feedback, num_graphs: int | Sequence[int], replacement: bool) -> None:
    """Reject batches that cannot be played.

    Raises:
        ValueError: if a batch of different graphs is larger than the (smallest) number of graphs, or a batch may repeat
            graphs that can be played only once.
    """
    fewest = min(num_graphs) if isinstance(num_graphs, Sequence) else num_graphs
    if not (feedback.distinct or replacement):
        raise ValueError("Expected `distinct=True` without replacement: no graph can be played twice. Got False.")
    if feedback.distinct and feedback.batch > max(1, fewest):
        raise ValueError(
            f"Expected `batch` to be at most {fewest}, the number of graphs. Got {feedback.batch}. With "
            "`distinct=False` (`--no-distinct`), a batch may repeat a graph."
        )


def choose(
    agent: Any,
    observation: Any,
    action_mask: ArrayLike,
    count: int,
    awaiting: Sequence[int] = (),
    distinct: bool = True,
) -> list[int]:
    """Let an agent choose graphs, one by one if they may repeat or if it has no `select_batch`.

    Args:
        agent: an agent with `select_action`, and optionally `select_batch` and `select_awaiting`.
        observation: observation of the round.
        action_mask: `(K,)`. 1 for each graph on offer.
        count: number to choose. If they must differ and fewer are on offer, all of these are chosen.
        awaiting: graphs whose rewards are announced as pending.
        distinct: require different graphs.

    Returns:
        Indices of graphs, in the order of choice.

    Raises:
        ValueError: if a method for several graphs does not return that many different graphs on offer.
    """
    mask: NDArray[np.int8] = np.array(action_mask)
    if not distinct:
        repeated: list[int] = []
        for _ in range(count):
            repeated += choose(agent, observation, mask, 1, [*awaiting, *repeated])
        return repeated
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


def _check(method: str, actions: Sequence[int], mask: NDArray[np.int8], count: int) -> list[int]:
    chosen = [int(action) for action in actions]
    if len(set(chosen)) != count or not all(0 <= action < len(mask) and mask[action] for action in chosen):
        raise ValueError(f"Expected `{method}` to return {count} different graphs on offer. Got {chosen}.")
    return chosen


AT_ONCE = Feedback()
