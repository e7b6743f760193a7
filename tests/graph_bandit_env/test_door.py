"""The public names of `graph_bandit_env`, and the cost of importing it."""

import subprocess
import sys

import pytest

HEAVY = {"torch", "torch_geometric", "gntk", "rdkit", "matplotlib", "networkx", "pandas", "scipy", "numba"}


def test_the_import_is_light():
    code = f"import sys, graph_bandit_env, graph_bandit_env.wrappers; print({HEAVY!r} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize(
    "env",
    ["make('graph_bandit_env:GraphActionBandit-v0')", "make_vec('graph_bandit_env:GraphActionBanditPadded-v0', 1)"],
)
def test_the_first_environment_of_a_process_warns_of_nothing(env):
    code = f"import gymnasium as gym; env = gym.{env}; env.reset(seed=0); env.step(env.action_space.sample())"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
