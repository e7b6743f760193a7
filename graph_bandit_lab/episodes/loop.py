"""Play one episode: the loop between one agent and one environment."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from graph_bandit_lab.episodes.feedback import AT_ONCE, DIFFERENT, Feedback, Schedule, check_batch, check_diagnosable
from graph_bandit_lab.episodes.records import BanditResult, Journal, RoundRecord

if TYPE_CHECKING:
    import gymnasium as gym

    from agents.contract import Agent


def run_bandit(
    env: gym.Env[Any, Any],  # any spaces
    agent: Agent,
    seed: int = 0,
    on_round: Callable[[RoundRecord], object] = lambda record: None,
    diagnose: bool = False,
    feedback: Feedback = AT_ONCE,
) -> BanditResult:
    """Play one episode. Equal seeds give every agent equal instances and noise.

    Args:
        env: a graph bandit. It is reset with the first of `episode_seeds(seed)`.
        agent: the agent, reset with the second. It never sees means or regret.
        seed: seed of the whole episode.
        on_round: called with the record of each played round after the agent's update, including a round in which the
            fit diverged. Its time does not count.
        diagnose: record diagnostics of each round. The actions stay the same.
        feedback: batches, delays of rewards, and initial random rounds. The agent does not receive rewards due after
            the last round.

    Returns:
        Actions, rewards, regret and findings of each round.

    Raises:
        TypeError: if `env` is not an environment, or `agent` is not an agent.
        ValueError: if there are batches and rounds offer different graphs, or diagnostics are requested with batches,
            random rounds or announced rewards.
    """
    _check_inputs(env, agent, diagnose, feedback)
    env_seed, agent_seed = episode_seeds(seed)
    observation, info = env.reset(seed=env_seed)
    agent.reset(observation, seed=agent_seed, graph_set=getattr(env.unwrapped, "graph_set", None))
    schedule, journal = Schedule(feedback, env.unwrapped, seed), Journal(env.unwrapped, agent, seed, diagnose)
    clock, over = _Clock(), False
    status: Literal["finished", "diverged"] = "finished"
    while not over:
        record: RoundRecord | None = None
        try:
            action = schedule.choose(agent, observation, info["action_mask"])
            with clock.paused():
                journal.expect(action, info["action_mask"])
            seen = observation
            observation, observed, terminated, truncated, info = env.step(action)
            reward, over = float(observed), terminated or truncated
            with clock.paused():
                record = journal.add(action, reward, info)
            schedule.add_reward(seen, action, reward)
            for due in schedule.take_due(over):
                journal.tell(*due[1:])
                agent.update(*due)
        except FloatingPointError:  # agents raise it when a fit turns non-finite
            status, over = "diverged", True
        if record is not None:
            with clock.paused():
                on_round(record)
    return journal.close(status, clock.seconds())


def episode_seeds(seed: int) -> tuple[int, int]:
    """Return the seeds with which `run_bandit` resets the environment and the agent, derived from its own."""
    env_seed, agent_seed = np.random.SeedSequence(seed).generate_state(2).tolist()
    return env_seed, agent_seed


class _Clock:
    """Clock of wall time since its creation, without pauses."""

    def __init__(self) -> None:
        self._begin, self._pauses = time.perf_counter(), 0.0

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Exclude the time of a `with` block."""
        begin = time.perf_counter()
        yield
        self._pauses += time.perf_counter() - begin

    def seconds(self) -> float:
        return time.perf_counter() - self._begin - self._pauses


def _check_inputs(env: object, agent: object, diagnose: bool, feedback: Feedback) -> None:
    for name, value, method, example in (
        ("env", env, "unwrapped", '`gymnasium.make("graph_bandit_env:GraphActionBandit-v0")`'),
        ("agent", agent, "select_action", '`registry.make_agent("gnn-ts")`'),
    ):
        if isinstance(value, type) or not hasattr(value, method):
            raise TypeError(f"Expected `{name}` to be an instance, such as {example}. Got {value!r:.80}.")
    if diagnose:
        check_diagnosable(feedback)
    bandit = getattr(getattr(env, "unwrapped", None), "bandit", None)
    if bandit:
        if feedback.batch > 1 and (bandit.each_round or bandit.offers_some):
            raise ValueError(DIFFERENT)
        check_batch(feedback, bandit.num_graphs, bandit.replacement)
