"""Run `graph-bandit backtest`: replay a finished table, and compare suggestions with random choice."""

from __future__ import annotations

import numpy as np
import pandas as pd

from graph_bandit_campaign.backtest.page import print_summary, render_page, summarize
from graph_bandit_campaign.backtest.plays import RANDOM, Indices, Task, play, play_admitted
from graph_bandit_campaign.backtest.settings import BASELINES, BacktestSettings
from graph_bandit_campaign.backtest.table import Table, read_table
from graph_bandit_campaign.model.learner import Learner, default_agent
from graph_bandit_campaign.text import shield
from graph_bandit_campaign.workers import results_of
from graph_bandit_env.pools import SlotSet
from graph_bandit_env.storage import find_file, replace_file
from graph_bandit_lab import AgentSpec
from graph_bandit_lab.storage import sole_driver

OF_SLOTS = "gp-greedy"  # instead of the default baseline, which needs molecules
RESULTS, PAGE = "results.csv", "backtest.html"
COLUMNS = ("player", "batch", "start", "measurement", "id", "value", "best_so_far", "top_ten_found")


def frame_of(table: Table, task: Task, order: Indices) -> pd.DataFrame:
    """Return the results of a play, with a row for each measurement."""
    values, ids = table.values[order], table.molecules.ids
    best = (np.maximum if table.maximize else np.minimum).accumulate(values)
    place = (task.player, task.batch, task.start + 1, np.arange(1, len(values) + 1))
    names = [shield(ids[k]) for k in order.tolist()]
    return pd.DataFrame(dict(zip(COLUMNS, (*place, names, values, best, table.count_best(order)), strict=True)))


def run_backtest(settings: BacktestSettings) -> pd.DataFrame:
    """Replay a finished table of molecules, and write results and page to a folder.

    The plays depend only on the table, the settings and the seed, not on the number of processes.

    Returns:
        The results, with a row for each measurement of each player from each start.

    Raises:
        ValueError, OSError: if a table cannot be read or is too small, an agent is unknown, or the folder has other
            results.
        ImportError: if a package for reading the table is not installed.
    """
    AgentSpec.admit([*settings.agents, *settings.baselines])
    page, path = (find_file(settings.out / name) for name in (PAGE, RESULTS))
    if path.exists() and not page.exists():
        raise ValueError(f"Expected no {path} but that of a backtest. Choose another --out.")
    table = read_table(settings)
    advisors = [
        Task(agent, batch, 0)
        for batch in settings.n
        for agent in settings.agents or (default_agent(table.molecules, batch),)
    ]
    baselines = settings.baselines
    if isinstance(table.molecules, SlotSet) and baselines == BASELINES:
        baselines = (OF_SLOTS,)
    others = [Task(agent, batch, 0) for agent in baselines for batch in settings.n]
    others = [task for task in others if task not in advisors]
    for agent in {task.player for task in (*advisors, *others)}:
        Learner(table.molecules, agent)  # rejects agents that cannot play the table
    tasks = [task._replace(start=start) for start in range(settings.starts) for task in (*advisors, *others)]
    by_chance, remarks = [Task(RANDOM, 1, start) for start in range(settings.starts)], ", ".join(table.remarks)
    notes = [f"{remarks[:1].upper()}{remarks[1:]}."] * bool(remarks)
    with sole_driver(settings.out):
        what = f"{len(table.values):,} molecules with {settings.quantity}, {settings.starts} starts of {table.start}"
        batches = " and of ".join(map(str, settings.n))
        print(f"{what}, {table.budget} measurements in all, in batches of {batches}.", *notes, sep="\n", flush=True)
        calls, kept = ((table, task, settings.seed) for task in tasks), "Give the command again with fewer --workers."
        played = results_of(play_admitted, calls, settings.workers, "`{1.player}`", kept, "plays", len(tasks))
        plays = dict(played) | {task: play(table, task, settings.seed) for task in by_chance}
        results = pd.concat([frame_of(table, task, plays[task]) for task in (*tasks, *by_chance)], ignore_index=True)
        summary = summarize(table, settings.seed, plays, advisors, others)
        replace_file(page, render_page(summary, settings, notes).encode())
        replace_file(path, results.to_csv(index=False, lineterminator="\n").encode())
    print_summary(summary)
    print(f"\n{page}\n{path}")
    return results
