"""TorchRL: its check of environments, masks, info, resets, and the example, which learns."""

import gymnasium as gym
import pandas as pd
import pytest
import torch
from support import ROOT
from support.programs import run_program
from torchrl.envs import ActionMask, GymEnv, GymWrapper, TransformedEnv, check_env_specs

from graph_bandit_env.wrappers import DelayedRewards

ID = "graph_bandit_env:GraphActionBanditPadded-v0"
SMALL = {"num_graphs": 6, "num_nodes": 5, "horizon": 4, "mask_dtype": "bool"}


def make(**settings):
    return GymEnv(ID, **{**SMALL, **settings})


def make_many(mode, **settings):
    return GymWrapper(gym.make_vec(ID, 3, autoreset_mode=mode, **{**SMALL, **settings}))


@pytest.mark.parametrize("categorical", [True, False])
@pytest.mark.parametrize("settings", [{}, {"resample_graphs": True}, {"max_edges": 30, "mask_dtype": "int8"}])
def test_torchrl_accepts_the_environment_by_name(settings, categorical):
    check_env_specs(make(categorical_action_encoding=categorical, **settings))


@pytest.mark.parametrize("mode", ["Disabled", "SameStep"])
def test_torchrl_accepts_the_vector_environment(mode):
    check_env_specs(make_many(mode))


def test_a_masked_graph_is_never_played():
    env = TransformedEnv(make(actions_per_round=2), ActionMask(mask_key="mask"))
    rounds = env.rollout(60, break_when_any_done=False)  # the bandit raises where one is
    played = rounds["action"].argmax(dim=1, keepdim=True)
    assert rounds["mask"].gather(1, played).all()
    assert (rounds["mask"].sum(dim=1) == 2).all()
    assert len(set(played.flatten().tolist())) == 6


def test_rewards_come_late_and_are_told_by_info():
    env = GymWrapper(DelayedRewards(gym.make(ID, **SMALL), (0, 2)))
    env.auto_register_info_dict()
    check_env_specs(env)
    rounds = env.rollout(4)["next"]
    assert torch.allclose(rounds["reward"].squeeze(-1).double(), rounds["came_rewards"].sum(dim=-1), atol=1e-6)


def test_the_example_learns(tmp_path):
    arguments = ("--rounds", "1024", "--test-sets", "50", "--out", "curve.csv")
    done = run_program(ROOT / "examples" / "torchrl_ppo.py", *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    curve = pd.read_csv(tmp_path / "curve.csv")
    assert curve["steps"].tolist() == [0, 512, 1024]
    assert curve["relative_regret"].iloc[0] > 0.5
    assert curve["relative_regret"].iloc[-1] < 0.25
