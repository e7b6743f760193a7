"""Measure how often 95 % intervals of logged data hold what a policy is paid when it plays itself.

python -m benchmarks.logged --markdown
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import cast

import gymnasium as gym
import numpy as np
import pandas as pd
import torch
import tyro
from numpy.typing import NDArray

import registry
from benchmarks.kept_rows import Row
from benchmarks.kept_tasks import do_missing
from graph_bandit_env import GraphActionBandit
from graph_bandit_lab import run_bandit
from graph_bandit_lab.logged import METHODS, FixedPolicy, Log, evaluate, log_episode, replay
from graph_bandit_lab.reports import print_columns

Floats = NDArray[np.float64]
GRAPHS, Z = 8, 1.959964
ITSELF, FIXED = "the policy itself", "a fixed policy"
LOGS = (ITSELF, FIXED, "gaussian-ts", "ucb1")
KEY = ["log", "seed", "rounds", "noise", "floor"]
COLUMNS = [*KEY, "target", "estimate", "truth", "value", "low", "high", "is_valid"]
REPLAYED, PREDICTS = "gaussian-ts", "gntk-greedy"
POLICIES = 6  # key of the stream from which policies are drawn


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is logged, and how often."""

    logs: tuple[str, ...] = LOGS
    """Who plays the logs: the policy that is judged; or, with a floor, a fixed policy or an agent that learns."""
    seeds: int = 200
    """Logs of each, each on graphs of its own."""
    rounds: int = 300
    """T."""
    noise: float = 2.0
    """Standard deviation of the noise; mean rewards of the eight graphs have one of 1."""
    floor: float = 0.2
    """Share of random plays."""
    workers: int = 1
    """Processes, each on one thread."""
    markdown: bool = False
    """Print a Markdown table."""

    def __post_init__(self) -> None:
        if not set(self.logs) <= set(LOGS) or not self.logs:
            raise ValueError(f"Expected logs of {', '.join(LOGS)}. Got {self.logs!r}.")
        for name in ("seeds", "rounds", "workers"):
            if getattr(self, name) < 1:
                raise ValueError(f"Expected `{name}` to be at least 1. Got {getattr(self, name)}.")


def make_env(rounds: int, noise: float) -> gym.Env[object, object]:
    """Return a bandit whose seed draws graphs and mean rewards."""
    small = {"num_graphs": GRAPHS, "num_nodes": 8, "feature_dim": 4, "observe": "indices"}
    env: gym.Env[object, object] = registry.make_environment(
        **small, horizon=rounds, reward_scale="unit", noise_std=noise
    )
    return env


def world_of(env: gym.Env[object, object]) -> GraphActionBandit:
    """Return the bandit within the wrappers of `make_env`."""
    return cast(GraphActionBandit, env.unwrapped)


def policies_of(seed: int) -> tuple[Floats, dict[str, Floats]]:
    """Draw the fixed policy of a log, and the policies that are judged by it."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(POLICIES,)))
    logged, mixed = rng.dirichlet(np.ones(GRAPHS), 2)
    return logged, {"a mixture": mixed, "one graph": np.eye(GRAPHS)[rng.integers(GRAPHS)]}


def judge(name: str, seed: int, rounds: int, noise: float, floor: float) -> list[Row]:
    """Play a log, and compare what is estimated from it with the truth."""
    torch.set_num_threads(1)
    env = make_env(rounds, noise)
    logged, policies = policies_of(seed)
    key, rows = (name, *map(str, (seed, rounds, noise, floor))), list[Row]()
    if name == ITSELF:
        for target, policy in policies.items():
            rewards = run_bandit(env, FixedPolicy(policy), seed).rewards
            half = Z * rewards.std(ddof=1) / np.sqrt(len(rewards))
            mean, truth = rewards.mean(), float(policy @ world_of(env).mean_rewards)
            rows.append((target, "mean reward", truth, mean, mean - half, mean + half, True))
        return [(*key, *row) for row in rows]
    log = log_episode(env, FixedPolicy(logged) if name == FIXED else registry.make_agent(name), seed, floor)
    means = world_of(env).mean_rewards
    for target, policy in policies.items():
        truth = float(policy @ means)
        for method in METHODS:
            if method == "snips" and not policy[log.actions].any():
                continue  # the log never plays what the policy plays
            estimate = evaluate(log, policy, method)
            rows.append((target, method, truth, estimate.value, estimate.low, estimate.high, estimate.is_valid))
        if target == "one graph":
            graphs = world_of(env).graph_set
            method = "weighted" if log.learns else "dr"
            estimate = evaluate(log, policy, method, registry.make_agent(PREDICTS), graphs)
            label = f"{method}, {PREDICTS}"
            rows.append((target, label, truth, estimate.value, estimate.low, estimate.high, estimate.is_valid))
    rows += _replay(env, log, seed, means, noise)
    return [(*key, *row) for row in rows]


def _replay(env: gym.Env[object, object], log: Log, seed: int, means: Floats, noise: float) -> list[Row]:
    """Replay a log to an agent, and let it play as many rounds itself."""
    target = f"{REPLAYED}, learning"
    graphs = world_of(env).graph_set
    result = replay(registry.make_agent(REPLAYED), log, graphs, seed)
    if not len(result.rounds):
        return []
    low, high = result.interval()
    played = run_bandit(make_env(len(result.rounds), noise), registry.make_agent(REPLAYED), seed)
    own = float(means.max() - played.regret.mean())
    truth = float(means[result.actions].mean())
    return [
        (target, "replay: of its own rounds", truth, result.value, low, high, True),
        (target, "replay: of the agent itself", own, result.value, np.nan, np.nan, False),
    ]


def run(settings: Settings) -> tuple[pd.DataFrame, int]:
    """Judge the logs that are not finished yet; return the rows of all, and how many failed."""
    same = settings.rounds, settings.noise, settings.floor
    tasks = [(log, seed, *same) for log in settings.logs for seed in range(settings.seeds)]
    return do_missing(judge, tasks, COLUMNS, len(KEY), settings.workers, None)


def summarize(rows: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return header and rows: how often intervals hold the truth, bias, error and width, of each estimate."""
    table: list[tuple[str, ...]] = [
        ("log", "policy", "estimate", "holds, %", "standard error", "bias / error", "root mean square", "half width")
    ]
    for (log, target, estimate), group in rows.groupby(["log", "target", "estimate"], sort=False):
        errors, count = (group["value"] - group["truth"]).to_numpy(float), len(group)
        inside = ((group["low"] <= group["truth"]) & (group["truth"] <= group["high"])).mean()
        known = bool(np.isfinite(group["low"]).all())
        promised = "" if bool(group["is_valid"].all()) or not known else " (not promised)"
        of_mean = errors.std(ddof=1) / np.sqrt(count) if count > 1 else np.nan
        table.append(
            (
                str(log),
                str(target),
                str(estimate),
                f"{100 * inside:.1f}{promised}" if known else "–",
                f"{100 * np.sqrt(0.95 * 0.05 / count):.1f}" if known else "–",
                f"{errors.mean():+.3f} / {of_mean:.3f}",
                f"{np.sqrt(np.mean(errors**2)):.3f}",
                f"{(group['high'] - group['low']).mean() / 2:.3f}" if known else "–",
            )
        )
    return table


def main(args: list[str] | None = None) -> int:
    """Print the table, and return the exit code."""
    try:
        settings = tyro.cli(Settings, args=args, prog="python -m benchmarks.logged", description=__doc__)
        rows, failed = run(settings)
        if rows.empty:
            return 1
        print_columns(summarize(rows), markdown=settings.markdown)
    except (ValueError, OSError) as error:
        print(f"benchmarks.logged: {error}", file=sys.stderr)
        return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
