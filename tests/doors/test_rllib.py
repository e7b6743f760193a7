"""RLlib: the environment under the Gymnasium that it pins, masks, its vector forms, and the example, which learns."""

import os

import gymnasium as gym
import pandas as pd
import pytest
import ray
import torch
from gymnasium.utils.env_checker import check_env
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis import ValueFunctionAPI
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule
from support import ROOT
from support.programs import run_program

from agents.padded import GraphSetActorCritic

ID = "graph_bandit_env:GraphActionBanditPadded-v0"
SMALL = {"num_graphs": 6, "num_nodes": 5, "horizon": 4}
os.environ["RAY_AUTH_MODE"] = "disabled"  # else Ray writes a token into the home of the user


class Scorer(TorchRLModule, ValueFunctionAPI):
    """The network that scores graphs, which keeps the masks and actions that it has seen."""

    def setup(self):
        self.network = GraphSetActorCritic(self.observation_space)

    def _forward(self, batch, **kwargs):
        scores, values = self.network(batch[Columns.OBS])
        return {Columns.ACTION_DIST_INPUTS: scores, Columns.VF_PREDS: values}

    def compute_values(self, batch, embeddings=None):
        return self.network(batch[Columns.OBS])[1]


@pytest.fixture(scope="module", autouse=True)
def ray_of_one_core(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        results = str(tmp_path_factory.mktemp("results"))  # not a folder of the user
        patch.setattr("ray.tune.trainable.trainable.DEFAULT_STORAGE_PATH", results)
        ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        yield
        ray.shutdown()


def train(mode, **settings):
    config = (
        PPOConfig()
        .environment(ID, env_config={**SMALL, **settings})
        .env_runners(num_env_runners=0, num_envs_per_env_runner=3, gym_env_vectorize_mode=mode)
        .learners(num_learners=0)
        .rl_module(rl_module_spec=RLModuleSpec(module_class=Scorer))
        .training(train_batch_size_per_learner=48, minibatch_size=24, num_epochs=1, gamma=0.0)
    )
    algorithm = config.build_algo()
    before = {name: weight.clone() for name, weight in algorithm.get_module().named_parameters()}
    played = algorithm.train()["num_env_steps_sampled_lifetime"]
    after = dict(algorithm.get_module().named_parameters())
    algorithm.stop()
    return played, [name for name in before if torch.equal(before[name], after[name])]


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version", "ignore:.*is -?infinity")
@pytest.mark.parametrize("mask_dtype", ["int8", "bool"])
def test_the_gymnasium_of_rllib_accepts_the_environment(mask_dtype):
    assert check_env(gym.make(ID, **SMALL, mask_dtype=mask_dtype), skip_render_check=True) is None


@pytest.mark.parametrize("settings", [{"actions_per_round": 2}, {"resample_graphs": "round"}], ids=["masks", "new"])
@pytest.mark.parametrize("mode", [gym.VectorizeMode.SYNC, gym.VectorizeMode.VECTOR_ENTRY_POINT])
def test_rllib_trains_every_weight_and_plays_no_masked_graph(mode, settings):
    played, unchanged = train(mode, **settings)  # the bandit raises where a masked graph is played
    assert played >= 48
    assert not unchanged


def test_the_example_learns(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    arguments = ("--rounds", "1024", "--test-sets", "50", "--out", "curve.csv")
    done = run_program(ROOT / "examples" / "rllib_ppo.py", *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    curve = pd.read_csv(tmp_path / "curve.csv")
    assert curve["steps"].iloc[-1] == 1024
    assert curve["relative_regret"].iloc[0] > 0.5
    assert curve["relative_regret"].iloc[-1] < 0.25
