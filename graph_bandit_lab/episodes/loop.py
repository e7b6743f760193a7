"""Play one episode: the loop between one agent and one environment."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from graph_bandit_lab.episodes.diagnostics import Diagnostics
from graph_bandit_lab.episodes.feedback import AT_ONCE, Feedback, LateRewards, check_batch, choose, choose_at_random
from graph_bandit_lab.episodes.findings import Findings
from graph_bandit_lab.episodes.records import RoundRecord

DIFFERENT = "These rounds differ: play one graph at a time, with `batch=1`."
DELAYS, RANDOM_ROUNDS = 2, 3  # keys of the streams from which delays, and graphs of random rounds, are drawn

if TYPE_CHECKING:
    import gymnasium as gym

    from agents.contract import Agent


@dataclass(frozen=True, eq=False, repr=False)
class BanditResult:
    """Record of one episode; shorter than the horizon if the agent diverged.

    Attributes:
        actions: `(T,)` int64. Graphs played.
        rewards: `(T,)` float64. Rewards observed.
        regret: `(T,)` float64. mu(G*_t) - mu(G_t) of each round, noise-free.
        status: "finished", "diverged" if a fit turned non-finite, or "failed" if the repetition raised
            an exception (sweeps store it and go on; `run_bandit` itself raises).
        seconds: wall time of the rounds, without drawing the instance, the agent's `reset`, diagnostics, what was
            found, or `on_round`. The first episode of a process includes what its rounds import and compile; a
            laboratory warms up before it.
        diagnostics: `(T,)` float64 arrays by the names of `episodes.diagnostics.DIAGNOSTICS`; empty if the agent has no
            insight, None if they were not recorded.
        simple_regret: `(T,)` float64. mu(G*) - mu of the graph that the agent would recommend after each round, G* the
            best of all graphs; `episodes.findings.Findings` says which graph that is. This and the next two are by the
            means of that round, if they drift, and None where the graphs change from round to round, or the
            environment does not tell `mean_rewards`.
        best_found: `(T,)` float64. The largest mu of the graphs played so far.
        top_share: `(T,)` float64. Share of the 1 % of graphs with the largest mu that were played so far.
    """

    actions: NDArray[np.int64]
    rewards: NDArray[np.float64]
    regret: NDArray[np.float64]
    status: Literal["finished", "diverged", "failed"] = "finished"
    seconds: float = 0.0
    diagnostics: dict[str, NDArray[np.float64]] | None = None
    simple_regret: NDArray[np.float64] | None = None
    best_found: NDArray[np.float64] | None = None
    top_share: NDArray[np.float64] | None = None

    def __repr__(self) -> str:
        return f"BanditResult({self.status}, {len(self.actions)} rounds, total regret {self.regret.sum():.4g})"

    @property
    def cumulative_regret(self) -> NDArray[np.float64]:
        """Return R_t, the running sum of the regret, `(T,)`."""
        return self.regret.cumsum()


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
    rounds: list[tuple[int, float, float]] = []
    status: Literal["finished", "diverged"] = "finished"
    diagnostics, findings, watching = Diagnostics(), Findings(env.unwrapped), 0.0
    delays, draws = (
        np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(key,))) for key in (DELAYS, RANDOM_ROUNDS)
    )
    late = LateRewards(feedback, delays)
    chosen: list[int] = []  # of a batch, still to be played
    graphs: object = None  # among which they were chosen
    total = 0.0  # R_t
    begin = time.perf_counter()
    over = False
    while not over:
        record: RoundRecord | None = None
        try:
            if not chosen:
                mask, left = info["action_mask"], feedback.random_rounds - len(rounds)
                graphs = getattr(env.unwrapped, "graph_set", None)
                if left > 0:
                    chosen = choose_at_random(draws, mask, min(feedback.batch, left))
                else:
                    chosen = choose(agent, observation, mask, feedback.batch, late.announced(graphs))
            action = chosen.pop(0)
            if feedback.batch > 1 and not (
                info["action_mask"][action] and graphs is getattr(env.unwrapped, "graph_set", None)
            ):
                raise ValueError(f"Expected batches where all rounds offer the same graphs. {DIFFERENT}")
            paused = time.perf_counter()
            findings.recommend(agent)  # after the round before; the choice has computed the prediction already
            means: Any = getattr(env.unwrapped, "mean_rewards", None)  # of this round: they may drift in `step`
            if diagnose:
                diagnostics.record(agent, means, action, info["action_mask"])
            watching += time.perf_counter() - paused
            played = observation
            observation, observed, terminated, truncated, info = env.step(action)
            reward = float(observed)
            rounds.append((action, reward, info["regret"]))
            total += info["regret"]
            mean = info.get("mean_reward")
            paused = time.perf_counter()
            record = RoundRecord(
                seed=seed,
                round=len(rounds),
                action=int(action),
                reward=reward,
                mean_reward=None if mean is None else float(mean),
                regret=float(info["regret"]),
                cumulative_regret=float(total),
                best_found=findings.play(action, means),
            )
            watching += time.perf_counter() - paused
            late.add(graphs, played, action, reward)
            over = terminated or truncated
            for told in late.take_due() if over or not chosen else ():
                findings.tell(*told[1:])
                agent.update(*told)
        except FloatingPointError:  # agents raise it when a fit turns non-finite
            status, over = "diverged", True
        if record is not None:
            paused = time.perf_counter()
            on_round(record)
            watching += time.perf_counter() - paused
    seconds = time.perf_counter() - begin - watching
    findings.recommend(agent if status == "finished" else None)
    actions, rewards, regret = zip(*rounds, strict=True) if rounds else ((), (), ())
    return BanditResult(
        np.array(actions, np.int64),
        np.array(rewards, np.float64),
        np.array(regret, np.float64),
        status,
        seconds,
        diagnostics.arrays() if diagnose else None,
        **findings.arrays(),
    )


def episode_seeds(seed: int) -> tuple[int, int]:
    """Return the seeds with which `run_bandit` resets the environment and the agent: two children of its own."""
    env_seed, agent_seed = np.random.SeedSequence(seed).generate_state(2).tolist()
    return env_seed, agent_seed


def _check_inputs(env: object, agent: object, diagnose: bool, feedback: Feedback) -> None:
    if diagnose and feedback.batch > 1:
        raise ValueError("Expected `diagnose` without batches: an insight is one into a single choice. Got both.")
    if diagnose and feedback.random_rounds:
        raise ValueError("Expected `diagnose` without random rounds, which no agent has chosen. Got both.")
    if diagnose and feedback.announces:
        raise ValueError("Expected `diagnose` without announced rewards, the default of delays. Use `announced=False`.")
    bandit = getattr(getattr(env, "unwrapped", None), "bandit", None)
    if feedback.batch > 1 and bandit and (bandit.each_round or bandit.actions_per_round < bandit.num_graphs):
        raise ValueError(f"Expected batches where all rounds offer the same graphs. {DIFFERENT}")
    if bandit:
        check_batch(feedback.batch, bandit.num_graphs)
    for name, value, method, example in (
        ("env", env, "unwrapped", '`gymnasium.make("graph_bandit_env:GraphActionBandit-v0")`'),
        ("agent", agent, "select_action", '`registry.make_agent("gnn-ts")`'),
    ):
        if isinstance(value, type):
            raise TypeError(
                f"Expected `{name}` to be an instance. Got the class {value.__name__}: call it first, "
                f"`{value.__name__}(...)`."
            )
        if not hasattr(value, method):
            raise TypeError(f"Expected `{name}` to have `{method}`. Got {value!r:.80}. Make one, as {example} does.")
