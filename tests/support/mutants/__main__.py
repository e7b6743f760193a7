from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator

from support import ROOT

AREAS = ("gntk", "agents", "graph_bandit_lab/analysis", "graph_bandit_lab/episodes")
LEFT_OUT = ("agents/sb3", "agents/policy_gradient", "agents/zoo", "agents/contract/conformance.py")
"""Learners whose tests train for seconds, tables of names, and a test itself."""
RESULTS = ROOT / "build" / "mutants.jsonl"


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


def sources(places: list[str]) -> Iterator[str]:
    """List the files to mutate, of given files and folders."""
    for place in places or AREAS:
        for file in sorted((ROOT / place).rglob("*.py")) if (ROOT / place).is_dir() else [ROOT / place]:
            path = file.relative_to(ROOT).as_posix()
            if not path.startswith(LEFT_OUT) and file.read_text(encoding="utf-8"):
                yield path


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m support.mutants")
    parser.add_argument("places", nargs="*", help="files or folders; by default all that compute numbers")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--sample", type=float, default=1.0, help="part of the mutants of each file, drawn by --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--survivors", action="store_true", help=f"only those that survived in {RESULTS.name}")
    parser.add_argument("--list", action="store_true", help="count mutants, and test none")
    arguments = parser.parse_args()
    preload()
    from support.mutants.changes import Mutant, mutants_of
    from support.mutants.trials import Trials, is_killed_when_imported, run_pytest

    RESULTS.parent.mkdir(exist_ok=True)
    scratch = tempfile.TemporaryDirectory(prefix="mutants-")  # of forks that end without removing theirs
    os.environ["PYTEST_DEBUG_TEMPROOT"] = scratch.name
    survived = {mutant for mutant, killed in results().items() if not killed}
    total, began = {}, time.perf_counter()
    for path in sources(arguments.places):
        mutants = mutants_of(path, (ROOT / path).read_text(encoding="utf-8"))
        rng = random.Random(f"{arguments.seed} {path}")
        mutants = rng.sample(mutants, round(arguments.sample * len(mutants)))
        if arguments.survivors:
            mutants = [mutant for mutant in mutants if str(mutant) in survived]
        total[path] = [str(mutant) for mutant in mutants]
        if arguments.list or not mutants:
            continue

        def report(mutant: Mutant, killed: bool) -> None:
            with RESULTS.open("a", encoding="utf-8") as file:
                file.write(json.dumps([str(mutant), killed]) + "\n")

        inside = [mutant for mutant in mutants if mutant.lines]
        if run_pytest(path, Trials(path, inside, arguments.jobs, report)):
            print(f"{path}: its tests fail before anything is changed")
        for mutant in mutants:
            if not mutant.lines:
                report(mutant, is_killed_when_imported(mutant))
        known = results()
        print(*(f"{mutant}" for mutant in total[path] if not known.get(mutant)), sep="\n")
        print(f"# {path}: {len(mutants)} after {time.perf_counter() - began:.0f} s", flush=True)
    known = results()
    killed = {path: sum(known.get(mutant, False) for mutant in mutants) for path, mutants in total.items()}
    for path, mutants in total.items():
        print(f"{path:50} {killed[path]:4} of {len(mutants):4}")
    count = sum(map(len, total.values()))
    print(f"{'all':50} {sum(killed.values()):4} of {count:4}, {100 * sum(killed.values()) / max(count, 1):.1f} %")
    return 0


def results() -> dict[str, bool]:
    """Read which mutants were killed when they were last tested."""
    lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    return dict(map(json.loads, lines))


if __name__ == "__main__":
    sys.exit(main())
