"""Play every player with every seed in parallel, each on one thread, and keep finished plays."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import closing
from functools import lru_cache, partial
from pathlib import Path

import pandas as pd

from benchmarks.kept_rows import Row, append_rows, read_rows
from benchmarks.parallel import run_in_parallel
from benchmarks.pools.players import make_player
from benchmarks.pools.screening import Screen, play
from benchmarks.pools.sources import Source

KEY = ("screen", "player", "seed")


def play_all(
    source: Source, players: Sequence[str], seeds: Sequence[int], workers: int = 1, out: Path | None = None
) -> tuple[pd.DataFrame, int]:
    """Play every player and seed that is not in `out` yet.

    Args:
        source: source of the pool.
        players: names of the players; each plays every seed.
        seeds: seeds for `screening.play`.
        workers: how many processes to use.
        out: CSV file to which each finished play is appended at once; its rows are not played again, even if the code
            has changed. None: nothing is kept.

    Returns:
        A table with a row for each finished play (screen, player, seed, seconds and scores), and how many plays failed.

    Raises:
        ValueError: if a player or its settings are unknown, or the file has other columns.
    """
    for player in players:
        make_player(player)  # refuses unknown names before anything is played
    columns = [*KEY, "seconds", *source.scores]
    kept = [] if out is None else read_rows(out, columns)
    rows: list[Row] = [(screen, player, int(seed), *map(float, numbers)) for screen, player, seed, *numbers in kept]
    known = {row[: len(KEY)] for row in rows}
    tasks = [(player, seed) for seed in seeds for player in players if (source.name, player, seed) not in known]
    failed = 0
    with closing(run_in_parallel(partial(play_one, source), tasks, workers)) as outcomes:
        for (player, seed), outcome in outcomes:
            if isinstance(outcome, Exception):
                failed += 1
                print(f"{player}, seed {seed} failed: {type(outcome).__name__}: {outcome}", file=sys.stderr)
                continue
            rows.append(outcome)
            if out is not None:
                append_rows(out, columns, [outcome])
            shown = ", ".join(f"{name} {value}" for name, value in zip(columns[2:], outcome[2:], strict=True))
            print(f"{player}: {shown}", file=sys.stderr)
    table = pd.DataFrame(rows, columns=columns)
    asked = (table["screen"] == source.name) & table["player"].isin(players) & table["seed"].isin(seeds)
    return table[asked], failed


def play_one(source: Source, player: str, seed: int) -> Row:
    """Play one seed of one player on one thread; the seconds do not count imports and reading."""
    import torch
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(1)
    screen, chosen = _read_once(source), make_player(player)
    with threadpool_limits(1):
        begin = time.perf_counter()
        order = play(screen, chosen, seed)
        seconds = time.perf_counter() - begin
    return source.name, player, seed, round(seconds, 3), *source.score(screen, order)


@lru_cache(maxsize=1)
def _read_once(source: Source) -> Screen:
    return source.read()
