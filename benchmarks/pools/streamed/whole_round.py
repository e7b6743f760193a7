"""Compare a round on a small prepared pool with the same in memory: python -m benchmarks.pools.streamed.whole_round."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from itertools import count
from pathlib import Path

import torch

from benchmarks.pools.streamed.values import Values
from benchmarks.speed.measure import Row, compare, show
from benchmarks.speed.molecules import drug_like
from graph_bandit_campaign import PrepareSettings, SuggestSettings, prepare, suggest

MOLECULES, RESULTS, N = 2000, 300, 8
COLUMN = "length"


class Rounds:
    """The same round on a table of molecules and on the pool that is prepared from it, in this process.

    Args:
        folder: an empty folder.
        smiles: the molecules.
        results: how many of them have results.
    """

    def __init__(self, folder: Path, smiles: Sequence[str], results: int) -> None:
        self._folder, self._numbers = folder, count()
        self.table, self.prepared, self._measured = folder / "pool.csv", folder / "prepared", folder / "results.csv"
        with self.table.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(("id", "smiles", COLUMN))
            writer.writerows((f"m{k}", text, len(text)) for k, text in enumerate(smiles))
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            prepare(PrepareSettings(self.table, self.prepared, workers=None))
        values = Values(self.prepared, COLUMN)
        values.write(self._measured, values.draw(results, seed=0).tolist())

    def play(self, pool: Path, n: int = N) -> list[str]:
        """Return the ids that are suggested, in a campaign that begins with this round."""
        out = self._folder / f"{next(self._numbers)}.csv"
        settings = SuggestSettings(pool, out, (self._measured,), n, maximize=(COLUMN,), workers=None)
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            return [suggestion.id for suggestion in suggest(settings)]


def rows(molecules: int = MOLECULES, results: int = RESULTS, pairs: int = 5) -> list[Row]:
    """Return the row of a round, in seconds that one core has worked; both must suggest the same molecules.

    Raises:
        RuntimeError: if they do not.
    """
    with tempfile.TemporaryDirectory() as name:
        rounds = Rounds(Path(name), drug_like(molecules), results)
        streamed, in_memory = rounds.play(rounds.prepared), rounds.play(rounds.table)
        if streamed != in_memory:
            raise RuntimeError(f"Expected the same suggestions. Got {streamed} and {in_memory}.")
        ratio, slow, fast = compare(lambda: rounds.play(rounds.prepared), lambda: rounds.play(rounds.table), pairs)
    title = f"a round on a prepared pool of {molecules:,} molecules, {results:,} results, against the same in memory"
    return [Row(title, ratio, "x", detail=f"{slow:.2f} s against {fast:.2f} s")]


if __name__ == "__main__":
    torch.set_num_threads(1)
    show(rows())
