"""Compare changes of settings with an agent's defaults, over tasks: python -m benchmarks.sweeps.changes FOLDER.

For each agent that has played with its defaults and with others, it prints what each change multiplies regret by, what
it does to the agent's place among the defaults of all agents, and the task that it harms most.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import tyro

from graph_bandit_lab import load_results
from graph_bandit_lab.analysis import bootstrap_interval
from graph_bandit_lab.design import name_environments
from graph_bandit_lab.reports import print_columns

HEADER = ("change", "R_T multiplied by [95 % interval]", "places", "lower on", "most harmed", "trials")


@dataclass(frozen=True, kw_only=True)
class Command:
    """What to compare."""

    folder: tyro.conf.Positional[Path]
    """Folder of results of a sweep with tasks."""
    markdown: bool = False
    """Print the table in Markdown."""

    def run(self) -> int:
        """Print the table."""
        results = load_results(self.folder)
        results = results[results["status"] == "finished"]
        rows = compare_changes(results.assign(task=_name_tasks(results)))
        print_columns(rows, markdown=self.markdown)
        return 0


def compare_changes(results: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return header and rows of a table with a row for each change of an agent's settings.

        exp(mean over tasks of log (mean R_T with the change / mean R_T with the defaults))

    Means are over the instances that both have played. The 95 % bootstrap interval is over tasks. A place is one more
    than the number of other agents whose defaults have a lower mean R_T on the instances that all of them have played;
    the table has its mean change over tasks, below 0 if the change is an improvement. Tasks where one of the means is 0
    are left out.

    Args:
        results: of `load_results`, finished, with the name of the task in `task`. An agent with its defaults has its
            name as label.

    Raises:
        ValueError: if no agent has played a task both with its defaults and with a change.
    """
    agents = results.drop_duplicates("label").set_index("label")["agent"]
    defaults = [str(label) for label, agent in agents.items() if label == agent]
    trials = results.pivot_table(index=["task", "seed"], columns="label", values="total_regret", aggfunc="first")
    rows: list[tuple[str, ...]] = [HEADER]
    for label, agent in sorted(agents.items(), key=lambda item: list(agents.unique()).index(item[1])):
        if label == agent or agent not in defaults:
            continue
        others = [name for name in defaults if name != agent]
        rows += _compare(str(label), trials[[str(agent), str(label)]].dropna(), trials[others].dropna())
    if len(rows) == 1:
        raise ValueError("Expected an agent with its defaults and with other settings on equal tasks. There is none.")
    return rows


def _compare(label: str, pairs: pd.DataFrame, others: pd.DataFrame) -> list[tuple[str, ...]]:
    means = pairs.groupby(level="task", sort=False).mean()
    means = means[(means > 0).all(axis=1)]
    if means.empty:
        return []
    ratios = means.iloc[:, 1] / means.iloc[:, 0]
    low, high = np.exp(bootstrap_interval(np.log(ratios.to_numpy(np.float64))))
    factor = f"{np.exp(np.log(ratios).mean()):.2f} [{low:.2f}, {high:.2f}]"
    worst = f"{ratios.idxmax()} ({ratios.max():.2f})"
    lower = f"{(ratios < 1).sum()} of {len(ratios)}"
    return [(label, factor, _change_of_place(pairs, others), lower, worst, str(len(pairs)))]


def _change_of_place(pairs: pd.DataFrame, others: pd.DataFrame) -> str:
    common = pairs.join(others, how="inner").groupby(level="task", sort=False).mean()
    if common.empty:
        return "–"
    before, after, field = common.iloc[:, 0], common.iloc[:, 1], common.iloc[:, 2:]
    gains = (field.lt(after, axis=0).sum(axis=1) - field.lt(before, axis=0).sum(axis=1)).to_numpy(np.float64)
    low, high = bootstrap_interval(gains)
    return f"{gains.mean():+.2f} [{low:+.2f}, {high:+.2f}]"


def _name_tasks(results: pd.DataFrame) -> pd.Series[str]:
    """Return the task of each repetition; the settings in which environments differ where they have no name."""
    firsts = results.drop_duplicates("environment_key")
    names = dict(zip(firsts["environment_key"], name_environments(list(firsts["environment"])), strict=True))
    names |= {task["environment_key"]: task["name"] for task in results.attrs["tasks"]}
    return results["environment_key"].map(names)


if __name__ == "__main__":
    try:
        sys.exit(tyro.cli(Command, description=__doc__).run())
    except (FileNotFoundError, ValueError) as error:
        sys.exit(f"benchmarks.sweeps.changes: {error}")
