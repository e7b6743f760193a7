"""Tasks: environments with a name, over which agents are ranked, and the tables that some of them are played on."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from graph_bandit_lab.design.own_graphs import PoolFile

TABLE_SETTINGS = ("graphs", "target", "minimize", "smiles", "skip_bad_rows", "directed")
"""What a file of tables says of each of them; all else is the sweep's."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """An environment with a name, over which agents are ranked."""

    name: str
    """A word or two."""
    hard: str = ""
    """What makes it hard, in a sentence that reports show where an agent fails."""
    environment_key: str = ""
    """The key of the environment in results."""
    refused: tuple[tuple[str, str], ...] = ()
    """Agents that cannot play it, each with the reason."""


def read_tables(path: Path) -> dict[str, dict[str, object]]:
    """Read which file each table lies in.

    Args:
        path: a TOML file with a table for each: `graphs` (a path from the folder of this file), `target`, and perhaps
            `minimize`, `smiles`, `skip_bad_rows` and `directed`, as in `EnvironmentSettings`.

    Returns:
        The settings of each, by name.

    Raises:
        FileNotFoundError: if the file is not there.
        ValueError: if it is not TOML, or a table has unknown settings or no `graphs`.
    """
    if not path.is_file():
        raise FileNotFoundError(f"Expected a TOML file of tables. There is none at {path}.")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"Expected {path} to be a TOML file. Got: {error}.") from error
    for name, settings in content.items():
        if not isinstance(settings, dict) or not isinstance(settings.get("graphs"), str):
            raise ValueError(f"{path}: expected tables, each with the path of its file: `[{name}]`, `graphs = ...`.")
        unknown = [key for key in settings if key not in TABLE_SETTINGS]
        if unknown:
            raise ValueError(f"{path}: unknown key `{unknown[0]}` in `{name}`. Keys: {', '.join(TABLE_SETTINGS)}.")
    return {name: settings | {"graphs": _beside(path, settings["graphs"])} for name, settings in content.items()}


def _beside(source: Path, graphs: str) -> str:
    """Take the path of a file as one from the folder of the file that names it; a pool with a name has none."""
    return str((source.parent / graphs).absolute()) if PoolFile(source=graphs).is_file else graphs
