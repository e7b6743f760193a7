from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
import tomllib
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import count

from support import ROOT

AREAS = ("gntk", "agents", "graph_bandit_lab/analysis", "graph_bandit_lab/episodes")
LEFT_OUT = ("agents/sb3", "agents/policy_gradient", "agents/zoo", "agents/contract/conformance.py")
"""Learners whose tests train for seconds, a table of names, and a test of agents."""
ENOUGH = 0.9  # of the mutants are to be killed
RESULTS = ROOT / "build" / "mutants.jsonl"
EQUIVALENT = ROOT / "tests" / "support" / "mutants" / "equivalent.toml"


def main() -> int:
    """Test mutants file by file, print those that survive without a known reason, and count."""
    parser = argparse.ArgumentParser(prog="python -m support.mutants")
    parser.add_argument(
        "places", nargs="*", help="files or folders; by default all that compute numbers, with --draw the whole product"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--sample", type=float, default=1.0, help="chance of each mutant to be tried, drawn by --seed")
    parser.add_argument("--draw", type=int, help="so many mutants of all files together, drawn by --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--since", help="a commit: only lines that are newer")
    parser.add_argument("--survivors", action="store_true", help=f"only those that survived, by {RESULTS.name}")
    arguments = parser.parse_args()
    preload()
    from support.house import PRODUCT
    from support.mutants.changes import Mutant, count_changes, lines_since, mutants_of
    from support.mutants.trials import Trials, is_killed_when_imported, run_pytest

    RESULTS.parent.mkdir(exist_ok=True)
    told = os.dup(2)
    before, table, began = read_results(), [], time.perf_counter()
    newer = lines_since(arguments.since) if arguments.since else None
    equivalent = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch, RESULTS.open("a", encoding="utf-8") as file:
        os.environ["PYTEST_DEBUG_TEMPROOT"] = scratch  # forks end without removing what they wrote

        def report(mutant: Mutant, killed: bool) -> None:
            file.write(json.dumps([str(mutant), killed]) + "\n")
            file.flush()

        def note(text: str) -> None:
            os.write(told, f"{text}\n".encode())

        paths = [*sources(arguments.places or (AREAS if arguments.draw is None else PRODUCT))]
        counts = {path: count_changes(path, read(path)) for path in paths} if arguments.draw is not None else {}
        drawn = draw(counts, arguments.draw or 0, arguments.seed)
        for path in drawn if counts else paths:
            keep = Draw(arguments.sample, f"{arguments.seed} {path}", None if newer is None else newer[path])
            mutants = mutants_of(path, read(path), Chosen(drawn[path]) if counts else keep)
            if arguments.survivors:
                mutants = [mutant for mutant in mutants if before.get(str(mutant)) is False]
            if not mutants:
                continue
            inside = [mutant for mutant in mutants if mutant.lines]
            if inside and run_pytest(path, Trials(path, inside, arguments.jobs, report, note)):
                raise SystemExit(f"The tests of {path} fail before anything is changed: pytest {path}.")
            for mutant in mutants:
                if not mutant.lines:
                    report(mutant, is_killed_when_imported(mutant))
            after, reasons = read_results(), equivalent.get(path, {})
            survivors = [mutant for mutant in mutants if not after[str(mutant)]]
            unknown = [mutant for mutant in survivors if not {mutant.before, mutant.change} & {*reasons}]
            table.append((path, len(mutants), len(mutants) - len(survivors), len(unknown)))
            print(*unknown, *([""] if unknown else []), sep="\n", end="", flush=True)
    total, killed, unknown = (sum(row[column] for row in table) for column in (1, 2, 3))
    print(f"{'file':45} mutants  killed  survivors without a reason   ({time.perf_counter() - began:.0f} s)")
    for path, *counts in [*table, *rooms(table), ("all", total, killed, unknown)]:
        print(f"{path:45} {counts[0]:7} {counts[1]:7} {counts[2]:10}")
    return int(killed < ENOUGH * total)


class Draw:
    """Take each mutant by chance, the same ones for the same seed, among those of given lines."""

    def __init__(self, chance: float, seed: str, lines: set[int] | None) -> None:
        self.chance, self.random, self.lines = chance, random.Random(seed), lines

    def __call__(self, line: int) -> bool:
        return (self.lines is None or line in self.lines) and self.random.random() < self.chance


class Chosen:
    """Take the changes of a file that have certain numbers."""

    def __init__(self, numbers: set[int]) -> None:
        self.numbers, self.next = numbers, count()

    def __call__(self, line: int) -> bool:
        return next(self.next) in self.numbers


def draw(counts: dict[str, int], size: int, seed: int) -> dict[str, set[int]]:
    """Draw changes, each with the same chance; return the numbers of those of each file."""
    changes = [(path, number) for path, many in counts.items() for number in range(many)]
    drawn = defaultdict[str, set[int]](set)
    for path, number in sorted(random.Random(seed).sample(changes, min(size, len(changes)))):
        drawn[path].add(number)
    return drawn


def rooms(table: list[tuple[str, int, int, int]]) -> list[tuple[str, int, int, int]]:
    """Add up the counts of the files of each room, or of each package where it has no rooms."""
    sums = defaultdict[str, list[int]](lambda: [0, 0, 0])
    for path, *counts in table:
        folders = path.split("/")[:-1]
        room = "/".join(folders[:2]) or path
        sums[room] = [one + other for one, other in zip(sums[room], counts, strict=True)]
    return [(room, *counts) for room, counts in sums.items()] if len(sums) > 1 else []


def preload() -> None:
    """Import the libraries, and nothing of the project."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import filelock  # noqa: F401
        import gymnasium  # noqa: F401
        import hypothesis.extra.numpy  # noqa: F401
        import jinja2  # noqa: F401
        import lazy_loader  # noqa: F401
        import matplotlib.pyplot  # noqa: F401
        import mpmath  # noqa: F401
        import networkx  # noqa: F401
        import numba  # noqa: F401
        import pandas  # noqa: F401
        import rdkit.Chem.rdFingerprintGenerator  # noqa: F401
        import scipy.stats  # noqa: F401
        import stable_baselines3  # noqa: F401
        import torch
        import torch_geometric.nn  # noqa: F401
        import tyro  # noqa: F401

        torch.set_num_threads(1)


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def sources(places: Iterable[str]) -> Iterator[str]:
    """List the files to mutate, of given files and folders."""
    for place in places:
        place = place if (ROOT / place).exists() else f"{place}.py"
        for file in sorted((ROOT / place).rglob("*.py")) if (ROOT / place).is_dir() else [ROOT / place]:
            path = file.relative_to(ROOT).as_posix()
            if not path.startswith(LEFT_OUT):
                yield path


def read_results() -> dict[str, bool]:
    """Read whether each mutant was killed when it was last tested."""
    lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    return dict(map(json.loads, lines))


if __name__ == "__main__":
    sys.exit(main())
