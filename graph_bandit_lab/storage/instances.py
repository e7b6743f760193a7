"""Make the instance of a stored repetition again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import registry
from graph_bandit_lab.design.keys import TARGET
from graph_bandit_lab.design.own_graphs import PoolFile, read_own_graphs, to_arguments
from graph_bandit_lab.episodes.loop import episode_seeds
from graph_bandit_lab.storage.rows import Row

if TYPE_CHECKING:
    import gymnasium as gym


def environment_of(
    row: Row,
    graphs: str | None = None,
    *,
    target: str | None = None,
    noise_column: str | None = None,
    smiles: str = "smiles",
    skip_bad_rows: bool = False,
    directed: bool | None = None,
) -> gym.Env[Any, Any]:
    """Make the environment of a stored repetition, reset to the instance that was played.

    `run_bandit(environment_of(row), registry.make_agent(row["agent"], **row["agent_settings"]), row["seed"])` plays it
    again, with equal rewards on the same type of CPU, if the version of the agent's algorithm is the same.

    Args:
        row: a row of `load_results`, such as `results.iloc[0]`.
        graphs: the file of own graphs, or the name of a pool, if the repetition was played on some.
        target: how the file is read, as in `EnvironmentSettings`; the same of the next four.
        noise_column: column of the noise.
        smiles: column of the SMILES.
        skip_bad_rows: leave out rows that cannot be read.
        directed: whether directions of edges are kept.

    Returns:
        The environment. `env.unwrapped.graph_set` and `env.unwrapped.mean_rewards` are those of the instance.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if a file is missing, or not asked for, or does not hold the graphs that were played.
    """
    environment, own = json.loads(row["environment_key"]), None
    played, name = environment.get("graphs"), row["environment"].get("graphs")
    if graphs is None and played is not None:
        raise ValueError(f"Expected `graphs`, the file of the graphs that were played: {name}. Got none.")
    if graphs is not None:
        if played is None:
            raise ValueError(f"Expected no file, for random graphs were played. Got {graphs}.")
        file = PoolFile(
            source=graphs,
            target=target,
            noise_column=noise_column,
            smiles=smiles,
            skip_bad_rows=skip_bad_rows,
            directed=directed,
            with_values=environment["reward_model"] == TARGET,
        )
        own = read_own_graphs(file)
        if own.contents.digest != played:
            raise ValueError(
                f"Expected {graphs} to hold what was played: {name}. Its graphs, values or noise are others. Give the "
                "file as it was, and `target` and `noise_column` as they were."
            )
    env = registry.make_environment(**to_arguments(environment, own))
    env.reset(seed=episode_seeds(int(row["seed"]))[0])
    return env
