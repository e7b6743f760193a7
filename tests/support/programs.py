"""Run Python programs."""

import os
import subprocess
import sys

from support import ROOT


def run_program(program, *arguments, cwd, path=ROOT):
    """Run a program as `python PROGRAM ARGUMENTS` would in a folder; these sources come after a folder of packages."""
    command = [sys.executable, "-W", "ignore", program, *arguments]
    here = {**os.environ, "PYTHONPATH": f"{path}{os.pathsep}{ROOT}"}
    return subprocess.run(command, cwd=cwd, env=here, capture_output=True, encoding="utf-8", check=False)
