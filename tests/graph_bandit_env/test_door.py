"""The public names of `graph_bandit_env`, and the cost of importing it."""

import subprocess
import sys

HEAVY = ("torch", "torch_geometric", "gntk", "rdkit", "matplotlib", "networkx", "pandas", "scipy", "numba")


def test_the_import_is_light():
    code = f"import sys, graph_bandit_env, graph_bandit_env.wrappers.vector; print({HEAVY!r} & sys.modules.keys())"
    code = code.replace(repr(HEAVY), f"set({HEAVY!r})")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
