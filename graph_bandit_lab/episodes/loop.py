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
    env: gym.Env[Any, Any],  # whatever its spaces
    agent: Agent,
    seed: int = 0,
    on_round: Callable[[RoundRecord], object] = lambda record: None,
    diagnose: bool = False,
    feedback: Feedback = AT_ONCE,
) -> BanditResult:
    """Play one episode; equal seeds give equal instances and noise to every agent.

    Args:
        env: a graph bandit. It is reset with the first of `episode_seeds(seed)`.
        agent: is reset with the second, and never sees means or regret.
        seed: seed of the whole episode.
        on_round: is called with the record of each round that was played, after the agent has learned from it; also of
            one at which its fit diverged. Its time does not count.
        diagnose: record diagnostics of each round. The actions stay the same.
        feedback: when the agent is told its rewards, and how many rounds are played at random before it chooses.
            Rewards that come after the last round are not told.

    Returns:
        Actions, rewards and regret of each round, and what was found by then.

    Raises:
        TypeError: if `env` is not an environment, or `agent` is not an agent.
        ValueError: if batches are to be chosen where rounds do not offer the same graphs, or diagnostics recorded of
            batches, random rounds or announced rewards.
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
    """Return the seeds with which `run_bandit` resets the environment and the agent: two children of its own."""
    env_seed, agent_seed = np.random.SeedSequence(seed).generate_state(2).tolist()
    return env_seed, agent_seed


class _Clock:
    """Measure wall time from now on, without pauses."""

    def __init__(self) -> None:
        self._begin, self._pauses = time.perf_counter(), 0.0

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave out the time of a `with` block."""
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
