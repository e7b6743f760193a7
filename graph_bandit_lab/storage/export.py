"""Export results to files for other programs, with a row for each repetition or each round."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph_bandit_env.extras import require
from graph_bandit_env.storage import replace_file
from graph_bandit_lab.design.names import describe_environment
from graph_bandit_lab.episodes.findings import FINDINGS
from graph_bandit_lab.episodes.records import RoundRecord
from graph_bandit_lab.episodes.writers import TensorBoardWriter, encode_round
from graph_bandit_lab.storage.reading import load_results
from graph_bandit_lab.storage.rows import ARRAYS

if TYPE_CHECKING:
    import pandas as pd

FINAL = [f"final_{name}" for name in FINDINGS]
PLAIN = ["label", "agent", "seed", "status", "total_regret", *FINAL, "wall_time", "round_time", "created"]
SEEN = (*ARRAYS, "best_found")  # of each round
NOT_IN_NAMES = re.compile(r"[^\w.,=+ -]")  # of folders, on some system
SETTINGS = ("environment", "agent_settings", "versions")


def write_csv(folder: str | Path, path: str | Path) -> None:
    """Write a row for each repetition, without its arrays. Missing settings stay empty.

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
        ImportError: if pyarrow is not installed (install the extra `parquet`).
    """
    require("pyarrow", "Writing Parquet")
    arrays = [*ARRAYS, *FINDINGS]
    table = _flatten(load_results(folder, arrays=arrays), [*PLAIN, *arrays])
    for name in table.columns.difference([*arrays, *PLAIN]):
        if table[name].dtype == object:
            kinds = {type(value) for value in table[name].dropna()}
            # A setting may be a number for one agent and text for another.
            table[name] = table[name].astype("boolean" if kinds == {bool} else "string")
    replace_file(Path(path), table.to_parquet(index=False, engine="pyarrow"))


def write_json_lines(folder: str | Path, path: str | Path) -> None:
    """Write a JSON object for each round of each repetition, as `JsonLinesWriter` does, with label and environment.

    Args:
        folder: folder of results.
        path: the file, which is replaced.

    Raises:
        FileNotFoundError: if the folder holds no results.
    """
    rows = load_results(folder, arrays=SEEN).to_dict("records")
    names = (row["environment_name"] or describe_environment(row["environment"]) for row in rows)
    lines = (
        encode_round(record, {"label": row["label"], "environment": name})
        for row, name in zip(rows, names, strict=True)
        for record in _records_of(row)
    )
    replace_file(Path(path), lines)


def write_tensorboard(folder: str | Path, out: str | Path) -> None:
    """Write the rounds of each repetition for TensorBoard, as `TensorBoardWriter` does.

    Args:
        folder: folder of results.
        out: folder of the logs. Each repetition has a folder there, by environment (if there are several), label and
            seed.

    Raises:
        FileNotFoundError: if the folder holds no results.
        ImportError: if tensorboard is not installed (install the extra `tensorboard`).
        ValueError: if `out` already holds one of the repetitions.
    """
    rows = load_results(folder, arrays=SEEN)
    several = rows["environment_key"].nunique() > 1
    for row in rows.to_dict("records"):
        parts = [*([row["environment_name"]] if several else []), row["label"], str(row["seed"])]
        if row["rounds"]:
            with TensorBoardWriter(Path(out, *(NOT_IN_NAMES.sub("_", part) for part in parts))) as write:
                for record in _records_of(row):
                    write(record)


def _records_of(row: Mapping[Hashable, Any]) -> Iterator[RoundRecord]:
    """Yield the rounds of a repetition. Mean rewards are not stored."""
    best_found = [None] * row["rounds"] if row["best_found"] is None else row["best_found"].tolist()
    arrays = row["actions"], row["rewards"], row["regret"], row["regret"].cumsum()
    columns = zip(*(array.tolist() for array in arrays), best_found, strict=True)
    for number, (action, reward, regret, total, best) in enumerate(columns, 1):
        yield RoundRecord(
            seed=row["seed"],
            round=number,
            action=action,
            reward=reward,
            mean_reward=None,
            regret=regret,
            cumulative_regret=total,
            best_found=best,
        )


def _flatten(results: pd.DataFrame, plain: list[str]) -> pd.DataFrame:
    import pandas as pd

    columns = [pd.json_normalize(results[name].tolist()).add_prefix(f"{name}.") for name in SETTINGS]
    return pd.concat([results[plain], *columns], axis=1)
