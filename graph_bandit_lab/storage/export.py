"""Write results as files for other programs: a row for each repetition, a column for each setting."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd

from graph_bandit_lab.design.keys import with_later_defaults
from graph_bandit_lab.episodes.findings import FINDINGS
from graph_bandit_lab.storage.files import replace_file
from graph_bandit_lab.storage.reading import load_results
from graph_bandit_lab.storage.rows import ARRAYS

FINAL = [f"final_{name}" for name in FINDINGS]
PLAIN = ["label", "agent", "seed", "status", "total_regret", *FINAL, "wall_time", "round_time", "created"]
SETTINGS = ("environment", "agent_settings", "versions")


def write_csv(folder: str | Path, path: str | Path) -> None:
    """Write a row for each repetition, without its arrays. Settings that a repetition does not have stay empty.

    Args:
        folder: folder of results.
        path: the file, which is replaced.

    Raises:
        FileNotFoundError: if the folder holds no results.
    """
    replace_file(Path(path), _flatten(load_results(folder, arrays=()), PLAIN).to_csv(index=False).encode())


def write_parquet(folder: str | Path, path: str | Path) -> None:
    """Write a row for each repetition to an Apache Parquet file, with actions, rewards and the like of each round.

    Args:
        folder: folder of results.
        path: the file, which is replaced.

    Raises:
        FileNotFoundError: if the folder holds no results.
        ImportError: if pyarrow is not installed (the extra `parquet` brings it).
    """
    arrays = [*ARRAYS, *FINDINGS]
    table = _flatten(load_results(folder, arrays=arrays), [*PLAIN, *arrays])
    for name in table.columns.difference([*arrays, *PLAIN]):
        if table[name].dtype == object:
            kinds = {type(value) for value in table[name].dropna()}
            # A setting may be a number for one agent and text for another.
            table[name] = table[name].astype("boolean" if kinds == {bool} else "string")
    content = io.BytesIO()
    table.to_parquet(content, index=False, engine="pyarrow")
    replace_file(Path(path), content.getvalue())


def _flatten(results: pd.DataFrame, plain: list[str]) -> pd.DataFrame:
    results = results.assign(environment=results["environment"].map(with_later_defaults))
    columns = [pd.json_normalize(results[name].tolist()).add_prefix(f"{name}.") for name in SETTINGS]
    return pd.concat([results[plain], *columns], axis=1)
