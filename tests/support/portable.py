"""Run the numerical tests as other kinds of CPU would, by what the libraries offer (`make portable`).

    PYTHONPATH=tests python -m support.portable [arguments of pytest]

What a library takes from the environment it takes when it starts, so each setting has a process of its own. The tests
are chosen by folder: all that compute with torch, NumPy or numba and are no environment of their own.
"""

from __future__ import annotations

import os
import subprocess
import sys

from support import ROOT

FOLDERS = ("tests/gntk", "tests/agents", "tests/graph_bandit_env/rewards")
OTHERS = {"MKL_CBWR": "COMPATIBLE", "ATEN_CPU_CAPABILITY": "default"}
SETTINGS = (
    {"MKL_CBWR": "AVX2"},
    {"ATEN_CPU_CAPABILITY": "avx2"},
    OTHERS,
    {**OTHERS, "OPENBLAS_CORETYPE": "Nehalem", "NUMBA_CPU_NAME": "generic"},
)


def main(arguments: list[str]) -> int:
    """Run the tests with each setting, and return 1 if they fail with one."""
    failed = []
    for setting in SETTINGS:
        print(*(f"{name}={value}" for name, value in setting.items()), flush=True)
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *(arguments or FOLDERS)]
        if subprocess.run(command, cwd=ROOT, env={**os.environ, **setting}, check=False).returncode:
            failed.append(setting)
    print(*failed or ["All pass."], sep="\n")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
