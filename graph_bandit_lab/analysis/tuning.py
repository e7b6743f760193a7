"""Tuned settings: the best of a grid for each agent and graph model, in a file that sweeps read. No torch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd

from graph_bandit_lab.analysis.scores import score_agents
from graph_bandit_lab.storage.files import replace_file

TUNED_NAME = "tuned.json"


@dataclass(frozen=True)
class Tuned:
    """Settings that were found best, by graph model and agent."""

    source: str
    """Where they are from."""
    settings: Mapping[str, Mapping[str, Mapping[str, Any]]]
    """Graph model -> agent -> settings."""

    def settings_of(self, agent: str, graph_model: str) -> str:
        """Write the settings of an agent as they follow its name: `setting=value,setting=value`.

        An NN agent takes those of its GNN twin [Wu & Amini 2024, appendix].

        Raises:
            ValueError: if there are none.
        """
        found = self.settings.get(graph_model, {})
        chosen = found.get(agent, found.get(f"g{agent}" if agent.startswith("nn-") else agent))
        if chosen is None:
            known = ", ".join(f"{name} on {model}" for model, agents in self.settings.items() for name in agents)
            raise ValueError(
                f"Expected tuned settings of {agent} on {graph_model} in {self.source}. Got {known or 'none'}."
            )
        return write_settings(chosen)


def write_settings(settings: Mapping[str, Any]) -> str:
    """Write settings as they follow an agent's name: `setting=value,setting=value`, values as JSON where no text."""
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in settings.items()}
    return ",".join(f"{name}={text}" for name, text in texts.items())


def read_tuned(path: Path | None, fit: str) -> Tuned:
    """Read tuned settings.

    Args:
        path: a file that `write_tuned` wrote; None: the one that is shipped for the fit.
        fit: "literal" or "steps".

    Raises:
        FileNotFoundError: if there is none.
        ValueError: if it is not such a file.
    """
    if path is not None and not path.is_file():
        raise FileNotFoundError(f"Expected a file of tuned settings. Got {path}. `graph-bandit tuned` writes one.")
    file = path or files("graph_bandit_lab.design").joinpath("presets", f"tuned-{fit}.json")
    try:
        settings = json.loads(file.read_text("utf-8"))["settings"]
        found = {model: {name: dict(cell.items()) for name, cell in its.items()} for model, its in settings.items()}
        return Tuned(str(file), found)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"Expected {file} to hold tuned settings, as `graph-bandit tuned` writes them.") from error


@dataclass(frozen=True)
class Choice:
    """The best cell of one agent on one graph model."""

    agent: str
    graph_model: str
    settings: Mapping[str, Any]
    """Those that vary over the grid."""
    relative: float
    """Mean over environments of mean R_T, divided by the largest cell's."""
    cells: int
    """Cells that have finished these trials, from which it was chosen."""
    passed_over: int
    """Cells that have not: one that diverged, or was left out of a later stage."""
    trials: int
    """Trials that all these cells have finished."""


def choose_settings(results: pd.DataFrame) -> tuple[list[Choice], list[str]]:
    """Choose the settings of lowest regret, for each agent and graph model.

        mean over environments of (mean over repetitions of R_T) / (the largest cell's)

    The trials are those of the cell that has finished most; a cell that has not finished all of them is passed over.

    Args:
        results: of `load_results`.

    Returns:
        The choices, in the order in which agents were first stored; and the agents, of those that were played with
        several settings, of which no two cells have finished the same trials.

    Raises:
        ValueError: if there is no choice.
    """
    table = results.assign(
        graph_model=results["environment"].map(lambda one: one["graph_model"]),
        cell=[
            _to_text([settings, versions.get("plug-in")])
            for settings, versions in zip(results["agent_settings"], results["versions"], strict=True)
        ],
        environment=results["environment"].map(_to_text),
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
        varying = {name: best[name] for name in best if len({_to_text(one.get(name)) for one in played}) > 1}
        passed_over = rows["cell"].nunique() - complete.shape[1]
        found = Choice(str(agent), str(model), varying, lowest.relative, complete.shape[1], passed_over, lowest.trials)
        choices.append(found)
    if not choices:
        raise ValueError(
            "Expected an agent of which two settings have finished the same trials on equal environments and seeds. "
            f"Got none. ({', '.join(undecided) or 'No agent has several settings'}.)"
        )
    return choices, undecided


def write_tuned(results: pd.DataFrame, path: Path) -> tuple[list[Choice], list[str]]:
    """Choose the best settings and write them to a file, which is replaced whole.

    Returns:
        As `choose_settings`.

    Raises:
        ValueError: as `choose_settings`.
    """
    choices, undecided = choose_settings(results)
    settings: dict[str, dict[str, Mapping[str, Any]]] = {}
    for choice in choices:
        settings.setdefault(choice.graph_model, {})[choice.agent] = choice.settings
    chosen_from = [
        f"{choice.agent} on {choice.graph_model}: best of {choice.cells} cells on the same {choice.trials} trials; "
        f"{choice.passed_over} others did not finish all of these"
        for choice in choices
    ]
    horizons = sorted({environment["horizon"] for environment in results["environment"]})
    told = {"settings": settings, "chosen_from": chosen_from, "horizons": horizons}
    replace_file(path, f"{json.dumps(told, indent=2)}\n".encode())
    return choices, undecided


def table_of_choices(choices: list[Choice]) -> list[tuple[str, ...]]:
    """Return header and rows of what was chosen."""
    rows: list[tuple[str, ...]] = [("agent", "graphs", "best settings", "relative regret", "cells", "trials")]
    for one in choices:
        cells = f"{one.cells}" + (f" (+{one.passed_over} passed over)" if one.passed_over else "")
        settings = write_settings(one.settings)
        rows.append((one.agent, one.graph_model, settings, f"{one.relative:.3f}", cells, str(one.trials)))
    return rows


def _to_text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
