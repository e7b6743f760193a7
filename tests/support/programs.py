"""Run Python programs."""

import os
import subprocess
import sys

from support import ROOT


def run_program(path, *arguments, cwd):
    """Run a program as `python PATH ARGUMENTS` would in a folder."""
    command = [sys.executable, "-W", "ignore", path, *arguments]
    here = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=cwd, env=here, capture_output=True, encoding="utf-8", check=False)
