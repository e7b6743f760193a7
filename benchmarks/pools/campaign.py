"""Play every player with every seed in parallel, each on one thread, and keep finished plays."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path

import pandas as pd

from benchmarks.kept_rows import Row, append_rows, read_rows
from benchmarks.parallel import run_in_parallel
from benchmarks.pools.data.sources import Source
from benchmarks.pools.players import make_player
from benchmarks.pools.screening import Forecast, Screen, play

KEY = ("screen", "player", "seed")
FORECAST_COLUMNS = (*KEY, "pool", "kind", *Forecast._fields)


def forecasts_path(out: Path) -> Path:
    """Return the file of the forecasts of plays that are kept in `out`."""
    return out.with_suffix(f".forecasts{out.suffix}")


def play_all(
    sources: Sequence[Source], players: Sequence[str], seeds: Sequence[int], workers: int = 1, out: Path | None = None
) -> tuple[pd.DataFrame, int]:
    """Play every player and seed on every pool that is not in `out` yet.

    Args:
        sources: sources of the pools, with the same scores.
        players: names of the players; each plays every seed.
        seeds: seeds for `screening.play`.
        workers: how many processes to use.
        out: CSV file to which each finished play is appended at once; its rows are not played again, even if the code
            has changed. The forecasts of each play are appended to a second file just before. None: nothing is kept.

    Returns:
        A table with a row for each finished play (screen, player, seed, seconds and scores), and how many plays failed.

    Raises:
        ValueError: if a player or its settings are unknown, or the file has other columns.
    """
    for player in players:
        make_player(player)  # refuses unknown names before anything is played
    columns = [*KEY, "seconds", *sources[0].scores]
    kept = [] if out is None else read_rows(out, columns)
    if out is not None:
        read_rows(forecasts_path(out), FORECAST_COLUMNS)  # removes an unfinished line
    rows: list[Row] = [(screen, player, int(seed), *map(float, numbers)) for screen, player, seed, *numbers in kept]
    known = {row[: len(KEY)] for row in rows}
    tasks = [(source, player, seed) for source in sources for seed in seeds for player in players]
    tasks = [task for task in tasks if _key_of(*task) not in known]
    failed = 0
    with closing(run_in_parallel(play_one, tasks, workers)) as outcomes:
        for (source, player, seed), outcome in outcomes:
            if isinstance(outcome, Exception):
                failed += 1
                print(
                    f"{source.name}: {player}, seed {seed} failed: {type(outcome).__name__}: {outcome}", file=sys.stderr
                )
                continue
            row, forecasts = outcome
            rows.append(row)
            if out is not None:
                append_rows(forecasts_path(out), FORECAST_COLUMNS, forecasts)
                append_rows(out, columns, [row])
            shown = ", ".join(f"{name} {value:g}" for name, value in zip(columns[2:], row[2:], strict=True))
            print(f"{source.name}: {player}: {shown}", file=sys.stderr)
    table = pd.DataFrame(rows, columns=columns)
    screens = {source.name for source in sources}
    asked = table["screen"].isin(screens) & table["player"].isin(players) & table["seed"].isin(seeds)
    return table[asked], failed


def read_plays(path: Path, sources: Sequence[Source], seeds: Sequence[int]) -> pd.DataFrame:
    """Read plays that `play_all` kept in a file, by another version of the project.

    Args:
        path: the file. The name of each player gets its stem in front, as `stem/player`.
        sources: sources of the pools; plays of others are left out.
        seeds: seeds of the plays; others are left out.

    Returns:
        A table as `play_all` returns it.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it has other columns.
    """
    found = pd.read_csv(path)
    columns = [*KEY, "seconds", *sources[0].scores]
    if list(found.columns) != columns:
        raise ValueError(
            f"Expected {path} to have the columns {', '.join(columns)}. It has {', '.join(found.columns)}."
        )
    found["player"] = f"{path.stem}/" + found["player"]
    return found[found["screen"].isin([source.name for source in sources]) & found["seed"].isin(seeds)]


def play_one(source: Source, player: str, seed: int) -> tuple[Row, list[Row]]:
    """Play one seed of one player on one thread, and return the row of the play and those of its forecasts."""
    import torch
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(1)
    screen, chosen = _read_once(source), make_player(player)
    with threadpool_limits(1):
        played = play(screen, chosen, seed)
    key, pool = _key_of(source, player, seed), source.pool
    forecasts: list[Row] = [
        (*key, pool.name, pool.kind, number, molecule, round(probability, 6), int(beat))
        for number, molecule, probability, beat in played.forecasts
    ]
    return (*key, round(played.seconds, 3), *source.score(screen, played.order)), forecasts


def _key_of(source: Source, player: str, seed: int) -> tuple[str, str, int]:
    return source.name, player, seed


@lru_cache(maxsize=1)
def _read_once(source: Source) -> Screen:
    return source.read()
