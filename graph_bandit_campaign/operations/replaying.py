"""Replay a finished table of a folder, for those who may not name files to write."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from graph_bandit_campaign.backtest.run import run_backtest
from graph_bandit_campaign.backtest.settings import BacktestSettings
from graph_bandit_campaign.command.kept import to_path
from graph_bandit_campaign.operations.safe import check_agents, is_inside

FOLDER = "backtests"
SETTINGS = frozenset(
    (
        *("maximize", "minimize", "n", "agents", "baselines", "start", "budget", "starts", "seed", "smiles", "id"),
        *("sheet", "most_atoms", "salts", "skip_bad_rows"),
    )
)
"""Settings of `backtest` that may be given."""


def replay(root: Path, table: Path, fields: Mapping[str, object], workers: int | None = 0) -> str:
    """Replay a finished table, and return the lines that the command prints, with places in the folder.

    Args:
        root: the folder; page and results go into `backtests` in it, a folder for each table and settings.
        table: path of the table.
        fields: settings of `backtest`, of `SETTINGS`, as in JSON.
        workers: processes that play; 0: one for each core; None: this process itself.

    Raises:
        ValueError, OSError, ImportError: as `run_backtest`, or if a setting cannot be given here.
    """
    if unknown := min(fields.keys() - SETTINGS, default=""):
        raise ValueError(f"Expected settings of {', '.join(sorted(SETTINGS))}. Got `{unknown}`.")
    place = os.path.relpath(os.path.realpath(table), os.path.realpath(root))
    digest = hashlib.sha256(json.dumps([Path(place).as_posix(), fields], sort_keys=True).encode()).hexdigest()[:8]
    files = {"table": table, "out": root / FOLDER / f"{table.name.partition('.')[0]}-{digest}"}
    settings = msgspec.convert({**fields, **files, "workers": workers}, BacktestSettings, dec_hook=to_path)
    check_agents(settings.agents)
    for path in files.values():
        if not is_inside(path, root):
            raise ValueError(f"Expected files inside of the folder that is served. {path.name} is elsewhere.")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        run_backtest(settings)
    return printed.getvalue().replace(str(root), "").replace("\n/", "\n").replace("\n\\", "\n")
