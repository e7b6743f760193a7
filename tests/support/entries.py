"""A board in little, and entries that people send to it."""

import functools
import json
from dataclasses import replace

from graph_bandit_lab import read_sweep, run_sweep
from graph_bandit_lab.board import Rules
from graph_bandit_lab.design import Overrides, RunKey
from graph_bandit_lab.storage import export_results
from graph_bandit_lab.storage.database import open_to_read
from graph_bandit_lab.storage.results import read_rows
from support.stored import forge

TOML = """
title = "little board"
repetitions = 3
agents = ["random"]

[[grid]]
task = "few"
hard = "Five graphs."
environment = {num_graphs = 5, num_nodes = 4, reward_scale = "unit", noise_std = 0.1, horizon = 12}

[[grid]]
task = "once"
hard = "No graph comes twice, and three rounds are random."
[grid.environment]
num_graphs = 9
num_nodes = 4
reward_scale = "unit"
replacement = false
random_rounds = 3
horizon = 6

[[grid]]
task = "changing"
hard = "Other graphs in each round."
environment = {num_graphs = 4, num_nodes = 4, reward_scale = "unit", resample_graphs = "round", horizon = 6}
"""


def read_little(folder, agents=("random",), **changes):
    """Return the sweep of the board, with some of its settings as others sent it."""
    path, text = folder / "little.toml", TOML
    for was, now in changes.pop("text", {}).items():
        assert was in text
        text = text.replace(was, now)
    path.write_text(text, encoding="utf-8")
    return read_sweep(path, Overrides(agents=tuple(agents), **changes))


@functools.cache
def little_rules(folder):
    return Rules(read_little(folder))


def play(folder, *agents, **changes):
    """Play agents on the board, into a folder of results."""
    folder.mkdir(exist_ok=True)
    seeds = changes.pop("seeds", None)
    sweep = read_little(folder, agents, **changes)
    run_sweep(sweep if seeds is None else replace(sweep, seeds=seeds), folder, progress=False, report=False)
    return folder


def send(folder, *statements, name=None):
    """Export a folder of results as an entry, after some statements of SQL."""
    if statements:
        forge(folder / "results.sqlite", *statements)
    return export_results(folder, folder.parent / f"{name or folder.name}.sqlite.xz").path


def rename(folder, agent, name=None, settings=None):
    """Give the repetitions of an agent another name or other settings, under the keys of these, as a forger can."""
    with open_to_read(folder / "results.sqlite") as connection:
        rows = [row for _, row in read_rows(connection, "agent = ?", agent)]
    statement = "UPDATE repetitions SET agent = ?, label = ?, agent_settings = ?, settings_hash = ? "
    for row in rows:
        has = json.loads(row["agent_settings"]) if settings is None else settings
        algorithm = int(json.loads(row["versions"]).get("algorithm", 1))
        key = RunKey(name or agent, has, json.loads(row["environment"]), algorithm=algorithm)
        values = key.agent, key.agent, json.dumps(has, sort_keys=True), key.settings_hash, row["settings_hash"]
        forge(folder / "results.sqlite", (f"{statement} WHERE settings_hash = ?", values))
    return folder
