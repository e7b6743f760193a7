"""Measure the effect of a setting on regret, all else equal: python -m benchmarks.sweeps.claims FOLDER [SETTING ...].

A setting of the environment (num_graphs, num_nodes, ...) is compared between environments that agree in all others; a
setting of an agent (width, gradients_at, ...) also between equal instances. It prints ratios of regret from one value
to the next; with `--settled`, how often each agent plays only one graph at the end.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from graph_bandit_lab import load_results
from graph_bandit_lab.analysis import paired_interval
from graph_bandit_lab.reports import print_columns


def ratios(results: pd.DataFrame, setting: str) -> list[tuple[str, ...]]:
    """Return header and rows of the factor by which each step of a setting multiplies regret.

        exp(mean over environments of (mean over seeds of log R_T(after) - log R_T(before)))

    For a setting of an agent, the pairs on one instance, with its other settings, are averaged first.

    The 95 % bootstrap interval is over environments, or over seeds if there is only one environment. Instances of
    different environments have nothing in common, so for a setting of the environment R_T is its mean over seeds. Pairs
    without any regret on one side have no ratio and are left out.

    Args:
        results: of `load_results`.
        setting: a setting of the environments or of the agents.

    Raises:
        ValueError: if the setting does not vary.
    """
    of_agents = any(setting in settings for settings in results["agent_settings"])
    records = results.to_dict("records")
    rows = pd.DataFrame(
        {
            "value": [_value(row, setting, of_agents) for row in records],
            "agent": results["agent"] if of_agents else results["label"],
            "environment": [_without(row["environment"], setting) for row in records],
            "variant": [_without(row["agent_settings"], setting) if of_agents else "" for row in records],
            "seed": results["seed"] if of_agents else 0,
            "regret": results["total_regret"],
        }
    )
    table_rows: list[tuple[str, ...]] = [("agent", setting, "regret multiplied by [95 % interval]", "pairs")]
    for agent, mine in rows.groupby("agent", sort=False):
        table = mine.groupby(["environment", "seed", "variant", "value"])["regret"].mean().unstack("value")
        for before, after in itertools.pairwise(sorted(map(str, table), key=_rank)):
            pairs = table[[before, after]].dropna()
            kept = pairs[(pairs > 0).all(axis=1)]
            if kept.empty:
                continue
            logs = (np.log(kept[after]) - np.log(kept[before])).groupby(level=["environment", "seed"]).mean()
            mean, low, high = np.exp(paired_interval(logs))
            left_out = f" ({len(pairs) - len(kept)} without regret)" if len(kept) < len(pairs) else ""
            step = f"{json.loads(before)} -> {json.loads(after)}"
            table_rows.append((str(agent), step, f"{mean:.2f} [{low:.2f}, {high:.2f}]", f"{len(kept)}{left_out}"))
    if len(table_rows) == 1:
        raise ValueError(f"Expected `{setting}` to vary. It does not.")
    return table_rows


def settled(results: pd.DataFrame, share: float = 0.5) -> list[tuple[str, ...]]:
    """Return header and rows of the shares of repetitions that end on one graph, and on one that is not the best.

    Args:
        results: of `load_results`, with actions and regret.
        share: share of the rounds that count as the end.
    """
    ends = [actions[-max(1, round(share * len(actions))) :] for actions in results["actions"]]
    one_graph = pd.Series([len(np.unique(end)) == 1 for end in ends], results.index)
    not_best = pd.Series([bool(regret[-1] > 0) for regret in results["regret"]], results.index)
    rows: list[tuple[str, ...]] = [("agent", f"one graph in the last {share:.0%}", "and not the best", "repetitions")]
    for label, mine in results.groupby("label", sort=False):
        stays, stuck = one_graph[mine.index], (one_graph & not_best)[mine.index]
        rows.append((str(label), f"{stays.mean():.0%}", f"{stuck.mean():.0%}", str(len(mine))))
    return rows


def _value(row: Mapping[Any, Any], setting: str, of_agents: bool) -> str:
    return json.dumps(row["agent_settings" if of_agents else "environment"].get(setting))


def _rank(value: Any) -> tuple[bool, float, str]:
    """Return a key that sorts numbers by value, before all else."""
    read = json.loads(value)
    number = isinstance(read, int | float)
    return not number, float(read) if number else 0.0, value


def _without(settings: Mapping[str, Any], setting: str) -> str:
    return json.dumps({name: value for name, value in settings.items() if name != setting}, sort_keys=True)


def main() -> None:
    """Print a table for each setting, or the shares of settled repetitions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("settings", nargs="*")
    parser.add_argument("--settled", action="store_true", help="how often an agent plays one graph in the last half")
    arguments = parser.parse_args()
    results = load_results(arguments.folder, arrays=("actions", "regret") if arguments.settled else ())
    if arguments.settled:
        print_columns(settled(results[results["status"] == "finished"]))
    for setting in arguments.settings:
        print_columns(ratios(results[results["status"] == "finished"], setting))
        print()


if __name__ == "__main__":
    main()
