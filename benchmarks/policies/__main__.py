"""Train policies on random graph sets and test them on unseen ones: python -m benchmarks.policies --out FILE.csv.

Bandit agents that play on graphs that change learn the same task online, from nothing.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import tyro

import registry
from agents.contract import plays_changing_graphs
from benchmarks.kept_tasks import do_missing
from benchmarks.policies.learners import LEARNERS
from benchmarks.policies.online import learn
from benchmarks.policies.train import COLUMNS, KEY
from graph_bandit_lab.analysis import mean_interval
from graph_bandit_lab.reports import print_columns


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The learners, and how long and how often they are trained."""

    learners: tuple[str, ...] = ("ppo", "maskable-ppo:10", "dqn", "flat-ppo")
    """Names, also of bandit agents; a number after a colon says how many of the 20 graphs each round offers."""
    steps: int = 100_000
    """Rounds that each policy is trained."""
    rounds: int = 500
    """Rounds that each bandit agent plays."""
    seeds: int = 5
    """Trainings of each learner, each with another reward function."""
    test_sets: int = 500
    """Graph sets of a test, none of them seen in training."""
    workers: int = 1
    """Processes, each on one thread."""
    out: Path | None = None
    """CSV file of the tests of finished trainings, which are not run again; None: nothing is kept."""
    markdown: bool = False
    """Print the table in Markdown."""

    def __post_init__(self) -> None:
        for learner, offered in map(read_learner, self.learners):
            can_play = learner in LEARNERS or (learner in registry.list_agents() and plays_changing_graphs(learner))
            if not can_play or learner == "random" or not 1 <= offered <= 20:
                raise ValueError(
                    f"Expected learners of {', '.join(LEARNERS)}, or agents that play on graphs that change, as in ppo "
                    f"or gntk-ucb:10. Got {learner!r}."
                )
        for name in ("steps", "rounds", "seeds", "test_sets", "workers"):
            if getattr(self, name) < 1:
                raise ValueError(f"Expected `{name}` to be at least 1. Got {getattr(self, name)}.")


def read_learner(text: str) -> tuple[str, int]:
    """Return the name and the number of graphs on offer from "name" or "name:number"."""
    name, _, offered = text.partition(":")
    return name, int(offered or 20) if (offered or "20").isdigit() else 0


def run(settings: Settings) -> tuple[pd.DataFrame, int]:
    """Run the trainings that are not finished yet; return the tests of all requested trainings, and how many failed."""
    tasks = [
        (learner, seed, offered, settings.steps if learner in LEARNERS else settings.rounds, settings.test_sets)
        for seed in range(settings.seeds)
        for learner, offered in map(read_learner, settings.learners)
    ]
    tests, failed = do_missing(learn, tasks, COLUMNS, len(KEY), settings.workers, settings.out)
    return tests.astype({"steps": int, "masked": int}), failed


def overtaking(tests: pd.DataFrame) -> list[str]:
    """Say for each agent and each policy from which tested round on the agent is at least as good as the policy ended.

    Regret is compared in mean over the seeds of each.
    """
    curves = {
        (learner, offered): rows.groupby("steps")["relative_regret"].mean()
        for (learner, offered), rows in tests.groupby(["learner", "actions_per_round"], sort=False)
    }
    lines = []
    for (agent, offered), curve in curves.items():
        for policy, trained in curves.items():
            if agent in LEARNERS or policy[0] not in LEARNERS or policy[1] != offered:
                continue
            as_good = (curve <= trained.iloc[-1])[::-1].cummin()[::-1]
            since = f"from round {as_good.idxmax():,} on" if as_good.any() else f"never in {curve.index[-1]:,} rounds"
            lines.append(f"{agent} is as good as {policy[0]} after {trained.index[-1]:,} rounds: {since}.")
    return lines


def summarize(tests: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return the header and rows of a table of the final test of each learner."""
    table: list[tuple[str, ...]] = [
        ("learner", "on offer", "rounds", "regret, % of random [95 % interval]", "masked played", "seconds", "seeds")
    ]
    for (learner, offered), rows in tests.groupby(["learner", "actions_per_round"], sort=False):
        last = rows.groupby("seed").last()
        regrets = 100 * last["relative_regret"].to_numpy(float)
        low, high = mean_interval(regrets)
        interval = f" [{low:.2f}, {high:.2f}]" if np.isfinite(low) else ""
        table.append(
            (
                str(learner),
                f"{offered} of 20",
                f"{int(last['steps'].max()):,}",
                f"{regrets.mean():.2f}{interval}",
                str(int(rows["masked"].sum())),
                f"{last['seconds'].mean():.0f}",
                str(len(last)),
            )
        )
    return table


def main(args: list[str] | None = None) -> int:
    """Train, print the table, and return the exit code."""
    try:
        settings = tyro.cli(Settings, args=args, prog="python -m benchmarks.policies", description=__doc__)
        tests, failed = run(settings)
        if tests.empty:
            return 1
        rows = summarize(tests)
        print_columns(rows, markdown=settings.markdown)
        print("", *overtaking(tests), sep="\n")
    except KeyboardInterrupt:
        print("\nStopped. Finished trainings are kept if `--out` names a file.", file=sys.stderr)
        return 130
    except (ValueError, OSError) as error:
        print(f"benchmarks.policies: {error}", file=sys.stderr)
        return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
