import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "env",
    ["make('graph_bandit_env:GraphActionBandit-v0')", "make_vec('graph_bandit_env:GraphActionBanditPadded-v0', 1)"],
)
def test_the_first_environment_of_a_process_warns_of_nothing(env):
    code = f"import gymnasium as gym; env = gym.{env}; env.reset(seed=0); env.step(env.action_space.sample())"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
