"""Run Python programs in fresh processes that need not import torch and PyG again.

Where there is no fork (Windows), a program starts from nothing.
"""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

from support.preloaded import PROCESSES


@dataclass(frozen=True)
class Ended:
    """What a program left behind."""

    returncode: int
    stdout: str
    stderr: str


def run_program(path: Path, *arguments: str, cwd: Path) -> Ended:
    """Run a program as `python PATH ARGUMENTS` would in a folder."""
    printed, complained = cwd / "stdout.txt", cwd / "stderr.txt"
    process = PROCESSES.Process(target=_run, args=(str(path), arguments, str(cwd), str(printed), str(complained)))
    process.start()
    process.join()
    return Ended(process.exitcode, printed.read_text(encoding="utf-8"), complained.read_text(encoding="utf-8"))


def _run(path: str, arguments: tuple[str, ...], cwd: str, printed: str, complained: str) -> None:
    with open(printed, "w", encoding="utf-8") as sys.stdout, open(complained, "w", encoding="utf-8") as sys.stderr:
        os.chdir(cwd)
        sys.argv = [path, *arguments]
        sys.path[0] = os.path.dirname(path)
        try:
            assert not any(name.startswith(("graph_bandit", "agents", "registry")) for name in sys.modules)
            runpy.run_path(path, run_name="__main__")
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
