"""Measure the effect of a setting on regret, all else equal: python -m benchmarks.sweeps.claims FOLDER [SETTING ...].

A setting of the environment (num_graphs, num_nodes, ...) is compared between environments that agree in all others; a
setting of an agent (width, gradients_at, ...) also between equal instances. It prints ratios of regret from one value
to the next; with `--settled`, how often each agent plays only one graph at the end; with `--halves`, for each
environment, whether regret bends: where it grows in proportion to t, the second half of the rounds costs as much as the
first, and where it grows as sqrt(t), 0.41 of it; with `--kinds`, whether agents meet the aims of the sweep `kinds`.
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

from benchmarks.speed.measure import Row, show
from graph_bandit_lab import load_results
from graph_bandit_lab.analysis import compare_with_chance, mean_interval, paired_interval
from graph_bandit_lab.reports import print_columns

LITTLE = ["two graphs", "3000 graphs", "noise", "one optimal", "outlier", "constant"]  # to learn
UNREAD = ["weights", "edge features", "directed acyclic"]  # by `gnn-` agents, at least in part
GNN = "gnn-ts", "gnn-ucb"
FAIR = "sizes", "point clouds", "small world", "network"


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
    place, records = "agent_settings" if of_agents else "environment", results.to_dict("records")
    rows = pd.DataFrame(
        {
            "value": [json.dumps(row[place].get(setting)) for row in records],
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


def halves(results: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return header and rows of a table of one environment, lowest mean R_T first.

    Shares are sums over the seeds that an agent and random play have both finished; without random play, they are left
    out.

    Args:
        results: of `load_results`, finished, with actions and regret.
    """
    late = results["regret"].map(lambda regret: regret[len(regret) // 2 :].sum())
    table = results.assign(total=results["regret"].map(np.sum), late=late).set_index(["label", "seed"])
    stuck = {row[0]: row[2] for row in settled(results)[1:]}
    rows = []
    for label in dict.fromkeys(results["label"]):
        mine, shares = table.loc[label, ["total", "late"]], ["", ""]
        if "random" in set(results["label"]):
            random = table.loc["random", ["total", "late"]].reindex(mine.index).dropna()
            shares = [f"{share:.3f}" for share in mine.loc[random.index].sum() / random.sum()]
        mean, (low, high) = mine["total"].mean(), mean_interval(mine["total"].to_numpy())
        late_sum, early_sum = mine["late"].sum(), (mine["total"] - mine["late"]).sum()
        bend = f"{late_sum / early_sum:.2f}" if early_sum else ""
        interval = f"{mean:.1f} [{low:.1f}, {high:.1f}]"
        rows.append((mean, (str(label), interval, *shares, bend, stuck[str(label)], str(len(mine)))))
    header = ("agent", "R_T [95 %]", "R_T / random", "second half / random's", "second half / first")
    return [(*header, "settled on another", "seeds"), *(row for _, row in sorted(rows))]


def kinds(table: pd.DataFrame) -> list[Row]:
    """Return the aims for the sweep `kinds`, and whether they are met.

    Args:
        table: of `compare_with_chance`, with the name of the task in place of its key.
    """
    learnt = table["mean"].unstack("label").drop(index=LITTLE, errors="ignore").reindex(columns=[*GNN, "gp-ucb"])
    aims = [(agent, kind, 0.65 if kind in FAIR else 0.5) for agent in GNN for kind in learnt.index.difference(UNREAD)]
    aims += [("gp-ucb", kind, 0.3) for kind in learnt.index]
    bad = {"worse, by Holm": table["worse"], "above 1 by 2 standard errors": table["mean"] > 1 + 2 * table["error"]}
    rows = [Row.at_most(what, cells.sum(), "", 0, f"{[*table.index[cells]]}") for what, cells in bad.items()]
    rows += [Row.at_most(f"{agent} on {kind}", learnt.loc[kind, agent], "", most) for agent, kind, most in aims]
    return [*rows, Row.at_most("gp-ucb, mean over kinds", learnt["gp-ucb"].mean(), "", 0.15)]


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
    parser.add_argument("--halves", action="store_true", help="the second half of the rounds against the first")
    parser.add_argument("--kinds", action="store_true", help="the aims of the sweep `kinds`")
    parser.add_argument("--markdown", action="store_true", help="print the tables in Markdown")
    arguments = parser.parse_args()
    plays = arguments.settled or arguments.halves
    results = load_results(arguments.folder, arrays=("actions", "regret") if plays else ())
    results = results[results["status"] == "finished"]
    if arguments.kinds:
        names = dict(zip(results["environment_key"], results["environment_name"], strict=True))
        show(kinds(compare_with_chance(results).rename(index=names, level="environment_key")))
    tables = [("", settled(results))] if arguments.settled else []
    if arguments.halves:
        environments = results.groupby(["environment_key", "environment_name"], sort=False)
        tables += [(f"{name}\n", halves(mine)) for (_, name), mine in environments]
    tables += [(f"{setting}\n", ratios(results, setting)) for setting in arguments.settings]
    for title, rows in tables:
        print(title)
        print_columns(rows, markdown=arguments.markdown)
        print()


if __name__ == "__main__":
    main()
