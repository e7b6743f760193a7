"""Read results as a table: a row for each repetition, with its settings and arrays. Also recreate an instance."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import registry
from graph_bandit_lab.design.names import TARGET, has_one_instance, name_environments, to_json, write_size
from graph_bandit_lab.design.own_graphs import PoolFile, read_played, to_arguments
from graph_bandit_lab.episodes.findings import FINDINGS
from graph_bandit_lab.episodes.loop import episode_seeds
from graph_bandit_lab.storage.database import damaged, open_to_read
from graph_bandit_lab.storage.results import COLUMNS, FILE_NAME, check_format, read_rows, read_tasks
from graph_bandit_lab.storage.rows import ARRAYS, Row, decode

if TYPE_CHECKING:
    import gymnasium as gym
    import pandas as pd

ALIKE = 0.05  # share of R_T by which regret may differ between plays that count as equal
MARK = re.compile(r" \[[0-9a-f]{6}(, algorithm \d+)?\]$")  # added by `_tell_settings_apart`
NEEDED = [name for name in COLUMNS if name not in ("actions", "rewards", "diagnostics")]  # always read


def load_results(folder: str | Path, arrays: Sequence[str] = (*ARRAYS, *FINDINGS, "diagnostics")) -> pd.DataFrame:
    """Read the results of a folder.

    Args:
        folder: the folder passed to `graph-bandit run --out`.
        arrays: columns of arrays to read, which may be gigabytes. The others are omitted.

    Returns:
        One row for each repetition, in the order in which they finished: `label`, `agent`, `agent_settings` (dict),
        `environment` (dict), `environment_key` (a text that identifies it), `environment_name` (the name of its task or
        the settings in which it differs, empty if there is only one), `task` (the name of the task, or empty), `seed`,
        `status`, `wall_time` (seconds of instance, `reset`, rounds, diagnostics and recommendations), `round_time`
        (seconds of the rounds only), `versions` (dict), `algorithm` (version of the agent's algorithm, lower for the
        earlier of two under equal settings), `plug_in` (name and version of the package of a third-party agent),
        `created`, `settings_hash`, `rounds` (played), the arrays `actions`, `rewards`, `regret` of length T,
        `total_regret` (R_T, the sum of `regret`, `nan` if the repetition diverged), and `diagnostics`: a dict of arrays
        of length T by the names of `episodes.DIAGNOSTICS`, empty if none were recorded. Times exclude imports and
        compilation, which each process does before its first repetition.

        Findings after each round, arrays of length T: `simple_regret` (mu(G*) - mu of the graph that the agent would
        recommend, with the largest predicted mean, or the best observed mean if the agent does not predict, and G* the
        best of all graphs), `best_found` (the largest mu of the graphs played so far) and `top_recall` (share of the
        top 1 % of graphs played so far, which is the best one of 100 graphs). If means drift, mu is that of the round.
        They are None if the graphs change between rounds. After the last round: `final_simple_regret`,
        `final_best_found` and `final_top_recall`, `nan` if there are none or the repetition diverged.

        `trajectory` is a seed shared by equal plays. If all repetitions have one instance, a repetition gets the seed
        of an earlier one of the agent if their regret, round by round, differs by at most 5 % of R_T.

        The last columns are the settings of environments and agents, for grouping: `delay`, `num_graphs`, `width`. None
        is written as "none", because pandas drops groups of None, and a range as "2 to 20". Missing settings are `nan`.
        An agent setting with the name of another column is called `agent_settings.NAME`.

        A label with two settings on one graph model is followed by a hash of the settings (tuned settings may depend on
        the graph model), and by the version of the algorithm if there are two.

        `attrs["tasks"]` lists the tasks of the sweeps, which give environments a name, as dicts.

    Raises:
        FileNotFoundError: if the folder holds no results.
        ValueError: if the file is damaged, or written by another version of the format.
    """
    import pandas as pd  # which takes a third of a second to load

    path = Path(folder) / FILE_NAME
    if not path.is_file():
        raise FileNotFoundError(f"Expected results in {path}. Make some with `graph-bandit run --out {folder}`.")
    wanted = [*NEEDED, *(name for name in (*ARRAYS, "diagnostics") if name in arrays and name not in NEEDED)]
    with open_to_read(path) as connection:
        check_format(path, connection)
        try:
            rows = [{**decode(row), "environment_key": row["environment"]} for row in read_rows(connection, *wanted)]
        except ValueError as error:
            raise damaged(path, str(error)) from error
        tasks = read_tasks(connection)
    _name_graphs(rows)
    frame = pd.DataFrame(rows, columns=[*wanted, "environment_key"]).drop(columns="graphs")
    frame.attrs["tasks"] = tasks
    _tell_settings_apart(frame)
    frame["rounds"] = frame["regret"].map(len)
    finished = frame["status"] == "finished"  # a diverged repetition stopped early
    frame["total_regret"] = frame["regret"].map(np.sum).astype(float).where(finished)
    for name in FINDINGS:
        last = frame[name].map(lambda found: math.nan if found is None or not len(found) else float(found[-1]))
        frame[f"final_{name}"] = last.astype(float).where(finished)
    frame["trajectory"] = _find_trajectories(frame)
    frame = _add_settings(frame, {task["environment_key"]: task["name"] for task in tasks})
    return frame.drop(columns={"regret", *FINDINGS} - {*arrays})


def _name_graphs(rows: Sequence[dict[str, Any]]) -> None:
    """Name own graphs by the last name of their file, with a digest if two files share a name."""
    names = {row["environment"]["graphs"]: row["graphs"] for row in rows if row["graphs"]}
    counts = Counter(names.values())
    for environment in (row["environment"] for row in rows if row["graphs"]):
        name, digest = names[environment["graphs"]], environment["graphs"]
        environment["graphs"] = f"{name} [{digest[:6]}]" if counts[name] > 1 else name


def without_mark(label: str) -> str:
    """Return the original label, without the mark that distinguishes settings or versions."""
    return MARK.sub("", label)


def _find_trajectories(frame: pd.DataFrame) -> list[int]:
    """Return, for each repetition, the seed of the agent's first equal play on the same instance."""
    seeds: list[int] = []
    plays_of: dict[tuple[str, str], list[tuple[int, NDArray[np.float64]]]] = {}
    columns = (frame[name] for name in ("environment", "environment_key", "label", "seed", "regret"))
    for environment, key, label, seed, regret in zip(*columns, strict=True):
        plays = plays_of.setdefault((key, label), [])
        if has_one_instance(environment):
            plays.append((seed, regret))
        alike = (
            first
            for first, play in plays
            if len(play) == len(regret) and np.abs(play - regret).sum() <= ALIKE * play.sum()
        )
        seeds.append(next(alike, seed))
    return seeds


def _add_settings(frame: pd.DataFrame, tasks: Mapping[str, str]) -> pd.DataFrame:
    """Add the name of each environment, and a column for each setting of environments and agents.

    Args:
        frame: with `agent`, `agent_settings`, `environment` and `environment_key`.
        tasks: names of tasks by the key of their environment.

    Returns:
        The frame with `task`, `environment_name` and the settings.
    """
    import pandas as pd

    keys = frame["environment_key"]
    firsts = dict(zip(keys, frame["environment"], strict=True))
    names = dict(zip(firsts, name_environments(list(firsts.values())), strict=True)) | dict(tasks)
    added = {"task": keys.map(lambda key: tasks.get(key, "")), "environment_name": keys.map(names)}
    environments, agents = (
        pd.DataFrame([{name: _plain(value) for name, value in settings.items()} for settings in frame[column]])
        for column in ("environment", "agent_settings")
    )
    taken = {*frame.columns, *added, *environments}
    agents = agents.rename(columns=lambda name: f"agent_settings.{name}" if name in taken else name)
    spread = pd.concat([frame.assign(**added), environments, agents], axis=1)
    spread.attrs = frame.attrs  # which `concat` compares and drops
    return spread


def _plain(value: object) -> object:
    """Return a value that can be grouped by."""
    if isinstance(value, list | dict):
        return write_size(value)
    return "none" if value is None else value


def _tell_settings_apart(frame: pd.DataFrame) -> None:
    """Add a hash to each label under which different agents were played."""
    algorithms = ", algorithm " + frame["algorithm"].astype(str)
    mine = frame["agent"] + frame["agent_settings"].map(to_json) + frame["plug_in"]
    mine += algorithms.where(frame["algorithm"] != 1, "")
    marks = mine.map(lambda text: hashlib.sha256(text.encode()).hexdigest()[:6])
    models = frame["environment"].map(lambda environment: str(environment.get("graph_model")))
    several = marks.groupby([frame["label"], models]).transform("nunique") > 1  # say, after a change of defaults
    unclear = several.groupby(frame["label"]).transform("any")
    versions = frame["algorithm"].groupby(frame["label"]).transform("nunique") > 1
    marks += algorithms.where(versions, "")
    frame.loc[unclear, "label"] += " [" + marks[unclear] + "]"


def environment_of(row: Row, graphs: str | None = None, **reading: Any) -> gym.Env[Any, Any]:
    """Make the environment of a stored repetition, reset to the instance that was played.

    `run_bandit(environment_of(row), registry.make_agent(row["agent"], **row["agent_settings"]), row["seed"])` plays it
    again, with equal rewards on the same type of CPU, if the version of the agent's algorithm is the same.

    Args:
        row: a row of `load_results`, such as `results.iloc[0]`.
        graphs: the file of own graphs, or the name of a pool, if the repetition used one.
        reading: settings for reading the file (see `EnvironmentSettings`): `target`, `noise_column`, `smiles`,
            `skip_bad_rows` and `directed`.

    Returns:
        The environment. `env.unwrapped.graph_set` and `env.unwrapped.mean_rewards` are those of the instance.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if a file is missing, or not asked for, or does not hold the graphs that were played.
    """
    environment, own = json.loads(row["environment_key"]), None
    played, name = environment["graphs"], row["environment"]["graphs"]
    if (graphs is None) != (played is None):
        wanted = "no file: random graphs were played" if played is None else f"`graphs`, the file played: {name}"
        raise ValueError(f"Expected {wanted}. Got {graphs or 'none'}.")
    if graphs is not None:
        reading |= {"with_values": environment["reward_model"] == TARGET, "num_graphs": environment["num_graphs"]}
        own = read_played(PoolFile(source=graphs, **reading), environment, int(row["seed"]))
    env = registry.make_environment(**to_arguments(environment, own))
    env.reset(seed=episode_seeds(int(row["seed"]))[0])
    return env
