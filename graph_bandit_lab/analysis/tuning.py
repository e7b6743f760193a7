"""Choose the best settings of a grid for each agent and graph model, and write them to a file for sweeps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from graph_bandit_env.storage import replace_file
from graph_bandit_lab.analysis.scores import score_agents
from graph_bandit_lab.analysis.statistics import played_by_latest
from graph_bandit_lab.design.names import to_json
from graph_bandit_lab.design.settings import write_settings

TUNED_NAME = "tuned.json"


@dataclass(frozen=True)
class Choice:
    """The best cell of one agent on one graph model."""

    agent: str
    graph_model: str
    settings: Mapping[str, object]
    """The settings that vary over the grid."""
    relative: float
    """Mean over environments of mean R_T, divided by that of the largest cell."""
    cells: int
    """Number of cells that have finished these trials. The best of them was chosen."""
    passed_over: int
    """Number of cells that have not finished them, because they diverged or were not in a later stage."""
    trials: int
    """Number of trials that all these cells have finished."""


def choose_settings(results: pd.DataFrame) -> tuple[list[Choice], list[str]]:
    """Choose the settings with the lowest regret for each agent and graph model.

        mean over environments of (mean over repetitions of R_T) / (the largest cell's)

    The trials are those of the cell that has finished the most. Cells that have not finished all of them are passed
    over. Results of an earlier version of an agent's algorithm are ignored, because the latest plays differently.

    Args:
        results: from `load_results`.

    Returns:
        The choices, in the order in which agents were first stored, and the agents with several settings but no choice,
        because no two cells have finished the same trials.

    Raises:
        ValueError: if no choice was made.
    """
    results = results[played_by_latest(results)]
    table = results.assign(
        graph_model=results["environment"].map(lambda environment: environment["graph_model"]),
        cell=[
            to_json([settings, plug_in])
            for settings, plug_in in zip(results["agent_settings"], results["plug_in"], strict=True)
        ],
        environment=results["environment_key"],
    )
    choices, undecided = [], []
    for (model, agent), rows in table.groupby(["graph_model", "agent"], sort=False):
        if rows["cell"].nunique() < 2:
            continue
        trials = rows.set_index(["environment", "seed", "cell"])["total_regret"].unstack("cell")
        best_covered = trials.notna().sum().idxmax()
        complete = trials[trials[best_covered].notna()].dropna(axis="columns")
        if complete.shape[1] < 2 or complete.empty:
            undecided.append(f"{agent} on {model}")
            continue
        lowest = score_agents(complete)[0]
        played = [json.loads(cell)[0] for cell in rows["cell"].unique()]
        best = json.loads(lowest.label)[0]
        varying = {name: best[name] for name in best if len({to_json(cell.get(name)) for cell in played}) > 1}
        passed_over = rows["cell"].nunique() - complete.shape[1]
        counts = complete.shape[1], passed_over, lowest.trials
        choices.append(Choice(str(agent), str(model), varying, lowest.relative, *counts))
    if not choices:
        raise ValueError(
            "Expected an agent with two settings that have finished the same trials, on equal environments and seeds. "
            f"Got none. ({', '.join(undecided) or 'No agent has several settings'}.)"
        )
    return choices, undecided


def write_tuned(results: pd.DataFrame, path: Path) -> tuple[list[Choice], list[str]]:
    """Choose the best settings and write them to a file, which is replaced atomically.

    Returns:
        As `choose_settings`.

    Raises:
        ValueError: as `choose_settings`.
    """
    choices, undecided = choose_settings(results)
    settings: dict[str, dict[str, Mapping[str, object]]] = {}
    for choice in choices:
        settings.setdefault(choice.graph_model, {})[choice.agent] = choice.settings
    chosen_from = [
        f"{choice.agent} on {choice.graph_model}: best of {choice.cells} cells on the same {choice.trials} trials; "
        f"{choice.passed_over} others did not finish all of these"
        for choice in choices
    ]
    horizons = sorted({environment["horizon"] for environment in results["environment"]})
    content = {"settings": settings, "chosen_from": chosen_from, "horizons": horizons}
    replace_file(path, f"{json.dumps(content, indent=2)}\n".encode())
    return choices, undecided


def table_of_choices(choices: list[Choice]) -> list[tuple[str, ...]]:
    """Return header and rows of a table of the choices."""
    rows: list[tuple[str, ...]] = [("agent", "graphs", "best settings", "relative regret", "cells", "trials")]
    for choice in choices:
        cells = f"{choice.cells}" + (f" (+{choice.passed_over} passed over)" if choice.passed_over else "")
        settings, relative = write_settings(choice.settings), f"{choice.relative:.3f}"
        rows.append((choice.agent, choice.graph_model, settings, relative, cells, str(choice.trials)))
    return rows
