"""Build what is published, and try it in empty environments (`make release-check`).

    PYTHONPATH=tests python -m support.release [--pythons 3.11 3.13] [--extras "" chem all]

The wheel is built from the source distribution, and PyPI's checks are made on both. Each version of Python that is
found gets an environment of the wheel alone, in which the environment is made, agents are played and a report is
written; the extras get one each, of the Python that runs this, with suggestions where `chem` is. The table says how
many packages there are, how much room they take, torch's share of it (with CUDA, where pip takes such a build), and in
how many seconds they were installed. The environments lie in build/release; each is removed after it was tried.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from support import ROOT

HOME, DIST = ROOT / "build" / "release", ROOT / "dist"
PYTHONS = ("3.11", "3.12", "3.13")
MEGABYTE = 1 << 20
MAKE = (
    "import gymnasium as gym; env = gym.make('graph_bandit_env:GraphActionBandit-v0', num_graphs=5); "
    "env.reset(seed=0); print(env.step(0)[1])"
)
RUN = "run --agents gnn-ts random --num-graphs 5 --num-nodes 5 --horizon 20 --repetitions 2 --out smoke"
LIBRARY = "library --out molecules"
SUGGEST = "suggest molecules/pool.csv --measured molecules/measured.csv --n 2 --maximize qed --out out.csv"


@dataclass(frozen=True)
class Tried:
    """An environment that was made and tried."""

    python: str
    extras: str
    packages: int
    size: int
    """Bytes of its packages."""
    torch: int
    """Bytes of torch, CUDA included."""
    seconds: float
    """How long pip took, downloads included, where its cache has none."""


def build() -> Path:
    """Build the source distribution, and the wheel from it; check what PyPI will show, and return the wheel."""
    for folder in (ROOT / "build", DIST):
        shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "build"], cwd=ROOT, check=True)
    made = sorted(map(str, DIST.iterdir()))
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *made], check=True)
    (wheel,) = DIST.glob("*.whl")
    return wheel


def find_python(version: str) -> str | None:
    """Return the program of a version of Python; None if it is not on this machine."""
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        return sys.executable
    homes = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions").glob(f"{version}.*/bin/python")
    found = [*filter(None, [shutil.which(f"python{version}")]), *map(str, sorted(homes))]
    return next((path for path in found if _runs(path, version)), None)


def _runs(path: str, version: str) -> bool:
    """Return whether a program is this version: a shim of pyenv may be none."""
    told = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    return told.returncode == 0 and told.stdout.startswith(f"Python {version}.")


def try_wheel(wheel: Path, python: str, version: str, extras: str) -> Tried:
    """Install the wheel with extras into an empty environment, use it, and tell what it takes."""
    home = HOME / f"{version}-{extras or 'base'}"
    shutil.rmtree(home, ignore_errors=True)
    subprocess.run([python, "-m", "venv", str(home)], check=True)
    programs = home / ("Scripts" if sys.platform == "win32" else "bin")
    wanted = f"{wheel}[{extras}]" if extras else str(wheel)
    begin = time.perf_counter()
    install = ["-m", "pip", "install", "--disable-pip-version-check", "--quiet", "-c", str(ROOT / "constraints.txt")]
    subprocess.run([str(programs / "python"), *install, wanted], check=True)
    seconds = time.perf_counter() - begin
    commands = [[str(programs / "python"), "-c", MAKE]]
    asked = [RUN, LIBRARY, SUGGEST] if extras in ("chem", "all") else [RUN]
    commands += [[str(programs / "graph-bandit"), *line.split()] for line in asked]
    for command in commands:
        subprocess.run(command, cwd=home, check=True)
    if not (home / "smoke" / "report.html").stat().st_size:
        raise RuntimeError(f"Expected a report in {home / 'smoke'}. It is empty.")
    (site,) = {path.parent for path in home.rglob("gymnasium") if path.parent.name == "site-packages"}
    cuda = [site / name for name in ("torch", "nvidia", "triton")]
    sizes = size_of(site), sum(map(size_of, cuda))
    packages = len([*site.glob("*.dist-info")])
    shutil.rmtree(home)
    tried = Tried(version, extras or "none", packages, *sizes, seconds)
    print(f"\n{line_of(tried)}\n", flush=True)  # the table comes at the end: others may take long
    return tried


def size_of(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())


def line_of(row: Tried) -> str:
    """Return the line of the table, in Markdown, for what was tried."""
    size, torch = (f"{size / MEGABYTE:,.0f} MB" for size in (row.size, row.torch))
    return f"| {row.python} | {row.extras} | {row.packages} | {size} | {torch} | {row.seconds:.0f} s |"


def main() -> int:
    """Build, try and print; return 1 if nothing could be tried."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pythons", nargs="*", default=PYTHONS, help="versions of Python, those that are found")
    parser.add_argument("--extras", nargs="*", default=["chem", "all"], help="extras, each in one environment")
    asked = parser.parse_args()
    wheel = build()
    found = {version: python for version in asked.pythons if (python := find_python(version)) is not None}
    missing = [version for version in asked.pythons if version not in found]
    mine = f"{sys.version_info.major}.{sys.version_info.minor}"
    plan = [(python, version, "") for version, python in found.items()]
    plan += [(sys.executable, mine, extras) for extras in asked.extras]
    rows = [try_wheel(wheel, *which) for which in plan]
    print("| Python | extra | packages | size | of it torch | pip took |", "|---|---|---|---|---|---|", sep="\n")
    print(*map(line_of, rows), sep="\n")
    print(*[f"Python {version} was not found: not tried." for version in missing], sep="\n")
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
