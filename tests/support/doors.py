"""Test doors to heavy libraries, each in an environment of its own that holds nothing else (`make doors`).

    PYTHONPATH=tests python -m support.doors [names of doors]

The environments lie in .venv-doors, two gigabytes each, and are made again when pyproject.toml or constraints.txt have
changed; where $CI is set, each is removed after its tests. At the end there is a table: the door, how many tests
passed, and in how many seconds.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import venv
from dataclasses import dataclass
from hashlib import sha256

from support import ROOT

HOME = ROOT / ".venv-doors"
TESTERS = ("pytest", "hypothesis")
OPTIONS = ("-p", "no:cacheprovider", "-o", "filterwarnings=default", "-o")
ADDED = "addopts=-q --import-mode importlib --strict-markers --durations=3"
SKLEARN = ("graphs", "kernel", "features", "regressor", "checks")


@dataclass(frozen=True)
class Door:
    """A door, and what its environment holds."""

    extras: str
    """Extras of the project; "" for none."""
    tests: tuple[str, ...]
    """Files of tests."""
    also: tuple[str, ...] = ()
    """Distributions that the tests need and no extra installs."""
    unpinned: tuple[str, ...] = ()
    """Distributions that the other library pins to a version of its own, in place of that of constraints.txt."""


DOORS = {
    "obp": Door("", ("tests/doors/test_obp.py",), ("obp",)),
    "optuna": Door(
        "optuna,chem",
        ("tests/graph_bandit_bridges/test_optuna.py", "tests/doors/test_optuna_hub.py"),
        ("optunahub",),
    ),
    "botorch": Door("botorch,chem", ("tests/doors/test_botorch.py", "tests/doors/test_botorch_choices.py")),
    "ax": Door(
        "ax,botorch,chem,optuna",
        ("tests/doors/test_ax.py", "tests/doors/test_same_choices.py"),
    ),
    "rliable": Door("", ("tests/doors/test_rliable.py",), ("rliable",)),
    "torchrl": Door("torchrl", ("tests/doors/test_torchrl.py",)),
    "rllib": Door("rllib", ("tests/doors/test_rllib.py",), unpinned=("gymnasium",)),
    "sklearn": Door(
        "sklearn,chem",
        tuple(f"tests/graph_bandit_bridges/scikit_learn/test_{name}.py" for name in SKLEARN),
    ),
}


def main(names: list[str]) -> int:
    """Test some doors, all if none is named, and print the table; return 1 if a test has failed, else 0."""
    unknown = sorted(set(names) - set(DOORS))
    if unknown:
        raise SystemExit(f"Expected some of {', '.join(DOORS)}. Got {', '.join(unknown)}.")
    rows = [try_door(name, DOORS[name]) for name in names or DOORS]
    print("\n| door | tests | seconds |\n|---|---|---|")
    for name, said, seconds, _ in rows:
        print(f"| {name} | {said} | {seconds:.0f} |")
    return int(any(failed for *_, failed in rows))


def try_door(name: str, door: Door) -> tuple[str, str, float, bool]:
    """Test a door: its name, what pytest said last, the seconds that took, and whether it failed."""
    python = prepare(name, door)
    command = [python, "-m", "pytest", *OPTIONS, ADDED, *door.tests]
    start = time.monotonic()
    place = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "VIRTUAL_ENV"))}
    run = subprocess.run(command, cwd=ROOT, env=place, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(run.stdout, flush=True)
    last = (run.stdout.strip().splitlines() or ["nothing"])[-1]
    said = re.sub(r" in .*", "", last.strip("= "))
    if os.environ.get("CI"):  # where each is used once, and all of them would fill the disk
        shutil.rmtree(HOME / name)
    return name, said, time.monotonic() - start, run.returncode != 0


def prepare(name: str, door: Door) -> str:
    """Return the Python of a door's environment, which is made if there is none for these files of the project."""
    folder = HOME / name
    python = str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    wanted = ["-e", f"{ROOT}[{door.extras}]" if door.extras else str(ROOT), *door.also, *TESTERS]
    known = "".join((ROOT / file).read_text("utf-8") for file in ("pyproject.toml", "constraints.txt"))
    mark, stamp = folder / "made-of", sha256(repr((wanted, door.unpinned, known, sys.version)).encode()).hexdigest()
    if mark.exists() and mark.read_text("utf-8") == stamp:
        return python
    print(f"{name}: installs {' '.join(wanted[1:])}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    pins = (ROOT / "constraints.txt").read_text("utf-8").splitlines(keepends=True)
    constraints = folder / "constraints.txt"
    constraints.write_text("".join(pin for pin in pins if pin.partition("==")[0] not in door.unpinned), "utf-8")
    install = [python, "-m", "pip", "install", "--disable-pip-version-check", "--quiet", "-c", str(constraints)]
    subprocess.run([*install, *wanted], cwd=ROOT, check=True)
    mark.write_text(stamp, "utf-8")
    return python


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
