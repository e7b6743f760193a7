"""The work of `graph-bandit backtest`: replay a finished table, and say whether suggestions would have helped."""

from __future__ import annotations

import dataclasses

import pandas as pd

from graph_bandit_campaign.backtest.kept import PAGE, RESULTS, SETTINGS, Kept, read_results
from graph_bandit_campaign.backtest.pages.page import print_summary, render_page
from graph_bandit_campaign.backtest.players import ALONE, FOREST, GREEDY, SIMILARITY, agent_of
from graph_bandit_campaign.backtest.plays import RANDOM, Task, play, play_tasks
from graph_bandit_campaign.backtest.settings import BacktestSettings
from graph_bandit_campaign.backtest.summary import summarize
from graph_bandit_campaign.backtest.table import Table, read_table
from graph_bandit_campaign.model.learner import Learner, default_agent
from graph_bandit_env.extras import is_installed
from graph_bandit_env.storage import find_file, replace_file
from graph_bandit_lab import AgentSpec
from graph_bandit_lab.storage import sole_driver

NAMES = {"greedy": GREEDY, "similarity": SIMILARITY, "forest": FOREST}
TAUGHT = "The other assays teach each agent that is not said to be without them."
NO_FOREST = "The random forest is left out: it needs scikit-learn (pip install 'graph-bandit-env[backtest]')."


def run_backtest(settings: BacktestSettings) -> pd.DataFrame:
    """Replay a finished table of molecules, and write results, settings and page into a folder.

    The plays depend on the table, the settings and the seed alone, not on the number of processes. Those that the
    folder holds are not played again.

    Returns:
        The results: a row for each measurement of each player from each start.

    Raises:
        ValueError, OSError: if a table cannot be read or is too small, an agent is unknown or does not learn from
            other assays that are given, or the folder holds another backtest.
        ImportError: if a package that reads the table is not installed.
    """
    AgentSpec.admit(settings.agents)
    for name in (PAGE, RESULTS, SETTINGS):
        find_file(settings.out / name)
    table = read_table(settings)
    advisors, others, notes = choose_players(settings, table)
    agents = {agent_of(task.player) for task in (*advisors, *others)} - {SIMILARITY, FOREST}
    learners = {agent: Learner(table.molecules, agent, sources=table.sources) for agent in sorted(agents)}
    algorithms = {agent: learner.algorithm for agent, learner in learners.items()}
    tasks = [task._replace(start=start) for start in range(settings.starts) for task in (*advisors, *others)]
    with sole_driver(settings.out):
        kept = Kept(settings.out, table, settings.seed, algorithms)
        kept.write_settings(dataclasses.asdict(settings))
        by_chance = [Task(RANDOM, 1, start) for start in range(settings.starts)]
        kept.plays |= {task: play(table, task, settings.seed) for task in by_chance}
        missing = [task for task in tasks if task not in kept.plays]
        print(
            f"{len(table.values):,} molecules with {settings.target}; {settings.starts} random starts of "
            f"{table.start}, {table.budget} measurements in all, in batches of {' and of '.join(map(str, settings.n))}."
        )
        there = len(tasks) - len(missing)
        print(
            *notes,
            f"{there} of {len(tasks)} plays are kept from before." if there else f"{len(tasks)} plays.",
            sep="\n",
            flush=True,
        )
        play_tasks(table, missing, settings.seed, settings.workers, kept.add)
        kept.write([*tasks, *by_chance])
        summary = summarize(table, settings.seed, settings.starts, kept.plays, advisors, others)
        replace_file(settings.out / PAGE, render_page(summary, settings, notes).encode())
    print_summary(summary)
    print("\n" + "\n".join(str(settings.out / name) for name in (PAGE, RESULTS, SETTINGS)))
    results, asked = read_results(settings.out / RESULTS), {task[:2] for task in (*tasks, *by_chance)}
    of_these = results.set_index(["player", "batch"]).index.isin([*asked]) & (results["start"] <= settings.starts)
    return results[of_these].reset_index(drop=True)


def choose_players(settings: BacktestSettings, table: Table) -> tuple[list[Task], list[Task], list[str]]:
    """Return the agents, what they are compared with (each with its batch, from start 0), and remarks for people.

    Args:
        settings: settings of the command.
        table: the table.

    Raises:
        ValueError: if an agent is unknown, or does not use the user's columns.
    """
    advisors = [
        Task(agent, batch, 0)
        for batch in settings.n
        for agent in settings.agents or (default_agent(table.molecules, batch),)
    ]
    alone = [task._replace(player=task.player + ALONE) for task in advisors] if table.sources else []
    baselines = [name for name in settings.baselines if name != "forest" or is_installed("sklearn")]
    others = [Task(NAMES[name], batch, 0) for name in baselines for batch in settings.n]
    others = [*alone, *(task for task in others if task not in advisors)]
    remarks = ", ".join(table.remarks)
    notes = [f"{remarks[:1].upper()}{remarks[1:]}."] if remarks else []
    notes += [TAUGHT] if table.sources else []
    notes += [NO_FOREST] if len(baselines) < len(settings.baselines) else []
    return advisors, others, notes
