"""Run the numerical tests as other kinds of CPU would, by what the libraries offer (`make portable`).

    PYTHONPATH=tests python -m support.portable [arguments of pytest]

What a library takes from the environment it takes when it starts, so each setting has a process of its own. Some
libraries ignore some settings on some CPUs (MKL_ENABLE_INSTRUCTIONS on any but Intel's): `probe` computes with each of
them, so that the table says whose numbers a setting changes, and one that changes none is not run to no purpose.

The tests are chosen by folder: all that compute with torch, NumPy or numba and are no environment of their own. A
marker would have to be remembered at every new test.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from hashlib import sha256

from support import ROOT

FOLDERS = ("tests/gntk", "tests/agents", "tests/graph_bandit_env/rewards")
SETTINGS = (
    {},
    {"MKL_ENABLE_INSTRUCTIONS": "SSE4_2"},
    {"MKL_ENABLE_INSTRUCTIONS": "AVX2"},
    {"MKL_CBWR": "COMPATIBLE"},
    {"MKL_CBWR": "AVX2"},
    {"ATEN_CPU_CAPABILITY": "default"},
    {"ATEN_CPU_CAPABILITY": "avx2"},
    {"OPENBLAS_CORETYPE": "Nehalem"},  # of numpy and scipy
    {"NUMBA_CPU_NAME": "generic"},  # numba keeps compiled loops by the CPU's name: its cache needs no other folder
    {"MKL_CBWR": "COMPATIBLE", "ATEN_CPU_CAPABILITY": "default"},
    {
        "MKL_CBWR": "COMPATIBLE",
        "ATEN_CPU_CAPABILITY": "default",
        "OPENBLAS_CORETYPE": "Nehalem",
        "NUMBA_CPU_NAME": "generic",
    },
)


def probe() -> dict[str, str]:
    """Return a hash of some results of each library, in this process."""
    import numpy as np
    import torch
    from numba import njit

    @njit(fastmath=True)
    def dot(left, right):  # summed in an order that suits the vectors of this CPU
        total = np.float32(0)
        for k in range(len(left)):
            total += left[k] * right[k]
        return total

    torch.set_num_threads(1)
    a, b = (np.sin(np.arange(1, 64 * 96 + 1) * step).reshape(64, 96) for step in (0.1, 0.7))
    c, d = torch.from_numpy(a), torch.from_numpy(b)
    results = {
        "MKL": [c @ d.T, c.float() @ d.float().T, torch.linalg.eigh(c @ c.T)[1]],
        "ATen": [c.float().exp(), c.float().tanh(), c.float().sum(1), torch.randn(99, generator=torch.manual_seed(0))],
        "OpenBLAS": [a @ b.T, np.linalg.eigh(a @ a.T)[1]],
        "numba": [dot(a.ravel().astype(np.float32), b.ravel().astype(np.float32))],
    }
    return {name: sha256(b"".join(np.asarray(x).tobytes() for x in xs)).hexdigest() for name, xs in results.items()}


def run(setting: dict[str, str], *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    environment = {**os.environ, "PYTHONPATH": path, **setting}
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, text=True, check=False, **options)


def main(arguments: list[str]) -> int:
    table, known = [("setting", "changes numbers of", "seconds", "result")], {}
    for setting in SETTINGS:
        name = " ".join(f"{key}={value}" for key, value in setting.items()) or "this CPU"
        probed = run(setting, "-W", "ignore", "-m", "support.portable", "--probe", capture_output=True)
        if probed.returncode:
            raise SystemExit(f"The probe fails with {name}:\n{probed.stderr}")
        numbers = json.loads(probed.stdout)
        plain = known.setdefault("this CPU", numbers)
        changed = ", ".join(library for library in numbers if numbers[library] != plain[library])
        same = next((other for other in known if known[other] == numbers and setting), None)
        if same:
            table.append((name, changed or "none", "", f"not run again: numbers as {same}"))
            continue
        known[name] = numbers
        print(f"--- {name}", flush=True)
        start = time.perf_counter()
        code = run(setting, "-m", "pytest", "-p", "no:cacheprovider", *(arguments or FOLDERS)).returncode
        table.append((name, changed or "none", f"{time.perf_counter() - start:.0f}", "FAILED" if code else "passed"))
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return int(any(row[-1] == "FAILED" for row in table))


if __name__ == "__main__":
    if sys.argv[1:] == ["--probe"]:
        print(json.dumps(probe()))
    else:
        sys.exit(main(sys.argv[1:]))
