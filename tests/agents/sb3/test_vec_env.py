import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Dict, Discrete
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor
from support.graph_policies import FORMS, encoder_kwargs, graphs_with_edge_features, make_env

from agents.sb3 import GraphSetMaskablePolicy, GraphSetPolicy, SB3VecEnv
from graph_bandit_env import wrappers
from graph_bandit_env.wrappers import GraphSetIndices, vector

SAME_STEP = {"autoreset_mode": AutoresetMode.SAME_STEP}

MAKERS = {
    "padded": lambda: make_env("padded", horizon=3, actions_per_round=2),
    "indices": lambda: make_env("indices", horizon=3, replacement=False),
    "terminates": lambda: make_env("indices", horizon=9, replacement=False),
    "cartpole": lambda: gym.make("CartPole-v1", max_episode_steps=15),
}


def adapt(make, count=3, vector=SyncVectorEnv):
    return SB3VecEnv(vector([make] * count, **SAME_STEP))


def play(venv, rounds, seed=0):
    """Everything that comes back, with actions drawn from the masks."""
    rng = np.random.default_rng(seed)
    venv.seed(seed)
    result = [(venv.reset(), [dict(info) for info in venv.reset_infos])]
    for _ in range(rounds):
        masks = venv.env_method("action_masks") if venv.has_attr("action_masks") else np.ones((venv.num_envs, 2))
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
        result.append((*venv.step(actions), [dict(info) for info in venv.reset_infos]))
    return result


def assert_same(found, expected):
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            assert_same(found[key], expected[key])
    elif isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    else:
        assert np.asarray(found).dtype == np.asarray(expected).dtype
        assert np.array_equal(found, expected)


class Counting(VectorEnv):
    """Natively vectorised: environment i counts to i + 2 and truncates, and terminates where action 2 is played."""

    metadata = {"render_modes": ["rgb_array"], **SAME_STEP}  # noqa: RUF012
    render_mode = "rgb_array"

    def __init__(self, num_envs=3):
        self.num_envs = num_envs
        self.single_observation_space = Dict({"count": Box(0, 99, (1,), np.int64), "seed": Box(0, 99, (1,), np.int64)})
        self.single_action_space = Discrete(4)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.limits, self.seeds = np.arange(num_envs) + 2, np.zeros(num_envs, np.int64)
        self.temperature = 1.5

    def observe(self):
        return {"count": self.count[:, None].copy(), "seed": self.seeds[:, None].copy()}

    def allowed(self):
        return np.stack([np.arange(4) != k % 2 for k in self.count])

    def reset(self, *, seed=None, options=None):
        self.count = np.full(self.num_envs, (options or {}).get("start", 0))
        self.seeds = np.zeros(self.num_envs, np.int64) if seed is None else np.array(seed)
        return self.observe(), {"fresh": np.ones(self.num_envs, np.bool_), "action_mask": self.allowed()}

    def step(self, actions):
        assert self.allowed()[np.arange(self.num_envs), actions].all()
        self.count += 1
        terminated, truncated = actions == 2, self.count == self.limits
        over, rewards = terminated | truncated, self.count.astype(np.float64)
        info = {"count": self.count * ~over, "_count": ~over, "fresh": over, "_fresh": over, "clock": 3}
        if over.any():
            last = {"count": self.count * over, "_count": over}
            info |= {"final_obs": self.observe(), "_final_obs": over, "final_info": last, "_final_info": over}
        self.count = np.where(over, 0, self.count)
        info["action_mask"] = self.allowed()
        return self.observe(), rewards, terminated, truncated, info

    def render(self):
        return tuple(np.full((2, 2, 3), k, np.uint8) for k in range(self.num_envs))

    def double(self, value):
        return 2 * value


class CountingWithMasks(Counting):
    def action_masks(self):
        return self.allowed()


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_trajectories_are_those_of_the_dummy_vec_env(make):
    assert_same(play(adapt(make), 40), play(DummyVecEnv([make] * 3), 40))


def test_environments_in_processes_give_the_same_trajectories():
    def vector(makers, **settings):
        return AsyncVectorEnv(makers, shared_memory=False, **settings)

    venv = adapt(MAKERS["padded"], 2, vector)
    try:
        assert_same(play(venv, 8), play(DummyVecEnv([MAKERS["padded"]] * 2), 8))
        assert venv.get_attr("action_space", 1) == [Discrete(4)]
    finally:
        venv.close()


def test_a_native_vector_environment_tells_how_episodes_ended():
    venv = SB3VecEnv(Counting())
    assert venv.reset()["count"].tolist() == [[0], [0], [0]]
    venv.step(np.array([1, 1, 2]))
    observations, rewards, dones, infos = venv.step(np.array([0, 2, 3]))
    assert observations["count"].tolist() == [[0], [0], [1]]
    assert rewards.dtype == np.float32
    assert rewards.tolist() == [2, 2, 1]
    assert dones.tolist() == [True, True, False]
    assert [info["TimeLimit.truncated"] for info in infos] == [True, False, False]
    assert [info["count"] for info in infos] == [2, 2, 1]
    assert infos[2]["clock"] == 3
    assert infos[1]["terminal_observation"] == {"count": [2], "seed": [0]}
    assert "terminal_observation" not in infos[2]
    assert venv.reset_infos[0].pop("action_mask").tolist() == [False, True, True, True]
    assert venv.reset_infos[0] == {"fresh": True, "clock": 3}
    venv.step(np.array([1, 1, 3]))
    *_, dones, infos = venv.step(np.array([2, 0, 1]))  # the first is over for two reasons
    assert dones.tolist() == [True, False, False]
    assert infos[0]["TimeLimit.truncated"] is False


def test_seeds_and_options_are_used_once():
    venv = SB3VecEnv(Counting())
    assert venv.seed(7) == [7, 8, 9]
    venv.set_options({"start": 1})
    observation = venv.reset()
    assert observation["seed"].tolist() == [[7], [8], [9]]
    assert observation["count"].tolist() == [[1], [1], [1]]
    observation = venv.reset()
    assert not observation["seed"].any()
    assert not observation["count"].any()
    venv.set_options([{"start": 1}, {}, {}])
    with pytest.raises(ValueError, match="Expected equal options"):
        venv.reset()


def test_a_native_vector_environment_is_asked_itself():
    venv = SB3VecEnv(VectorWrapper(Counting()))
    venv.reset()
    assert not venv.has_attr("gravity")
    assert venv.env_method("double", 4, indices=[0, 2]) == [8, 8]
    assert venv.get_attr("temperature") == [1.5] * 3
    assert venv.get_attr("limits", indices=[2, 0]) == [4, 2]
    venv.set_attr("temperature", 2.0)
    assert venv.get_attr("temperature", indices=1) == [2.0]
    assert venv.env_is_wrapped(GraphSetIndices) == [False] * 3
    assert venv.render("rgb_array").shape == (4, 4, 3)
    with pytest.raises(ValueError, match="Expected no `indices`"):
        venv.set_attr("temperature", 2.0, indices=0)


@pytest.mark.parametrize("vector", [Counting(), CountingWithMasks(), VectorWrapper(CountingWithMasks())])
def test_masks_of_a_native_vector_environment_are_its_own_or_those_of_its_info(vector):
    venv = SB3VecEnv(vector)
    venv.reset()
    for actions in ([1, 2, 1], [2, 1, 0]):
        venv.step(np.array(actions))
        assert venv.has_attr("action_masks")
        masks = venv.env_method("action_masks")
        assert masks[0].dtype == np.bool_
        assert np.array_equal(np.stack(masks), vector.unwrapped.allowed())
        assert np.array_equal(venv.env_method("action_masks", indices=[2])[0], vector.unwrapped.allowed()[2])


def test_sub_environments_are_asked_one_by_one():
    venv = adapt(MAKERS["indices"])
    venv.seed(0)
    assert venv.has_attr("action_masks")  # before the first reset, when it cannot be called
    assert not venv.has_attr("gravity")
    venv.reset()
    assert venv.env_is_wrapped(GraphSetIndices, indices=[1]) == [True]
    assert venv.get_attr("action_space", indices=1) == [Discrete(4)]
    venv.set_attr("note", "seen", indices=[0, 1])
    assert [hasattr(env, "note") or env.has_wrapper_attr("note") for env in venv.venv.envs] == [True, True, False]
    assert venv.env_method("action_masks", indices=2)[0].tolist() == [True] * 4


def test_a_mask_of_another_number_of_actions_is_not_taken_from_the_info():
    class Wider(gym.ActionWrapper):
        def __init__(self, env):
            super().__init__(env)
            self.action_space = Discrete(6)

        def action(self, action):
            return action

        def action_masks(self):
            return np.append(self.env.unwrapped.action_masks(), [False, False])

    venv = adapt(lambda: Wider(make_env("indices")))
    venv.reset()
    assert np.stack(venv.env_method("action_masks")).shape == (3, 6)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED])
def test_another_autoreset_mode_is_refused(mode):
    vector = SyncVectorEnv([MAKERS["cartpole"]], autoreset_mode=mode)
    with pytest.raises(ValueError, match=f"Expected .* SAME_STEP.* Got {mode}. Make it with"):
        SB3VecEnv(vector)


def train(algorithm, policy, venv, static, steps=96):
    kwargs = {"features_extractor_kwargs": static}
    settings = {"n_steps": 16, "batch_size": 16, "n_epochs": 2, "seed": 0, "device": "cpu"}
    return algorithm(policy, venv, policy_kwargs=kwargs, **settings).learn(steps)


@pytest.mark.parametrize(
    ("algorithm", "policy"), [(PPO, GraphSetPolicy), (MaskablePPO, GraphSetMaskablePolicy)], ids=["PPO", "MaskablePPO"]
)
@pytest.mark.parametrize("form", FORMS)
def test_training_learns_the_same_weights_as_on_the_dummy_vec_env(form, algorithm, policy):
    static = encoder_kwargs(MAKERS[form]())
    venvs = adapt(MAKERS[form]), DummyVecEnv([MAKERS[form]] * 3)
    found, expected = (train(algorithm, policy, VecMonitor(venv), static) for venv in venvs)
    for name, weight in expected.policy.state_dict().items():
        assert torch.equal(found.policy.state_dict()[name], weight)
    rewards = [[episode["r"] for episode in model.ep_info_buffer] for model in (found, expected)]
    assert rewards[0] == rewards[1]
    assert len(rewards[0]) == 3 * (32 // 3)


def test_a_policy_is_evaluated_on_it():
    venv = VecMonitor(adapt(MAKERS["padded"]))
    model = PPO(GraphSetPolicy, venv, seed=0, device="cpu")
    returns, lengths = evaluate_policy(model, venv, n_eval_episodes=6, return_episode_rewards=True)
    assert lengths == [3] * 6
    assert all(0 <= one <= 9.5 for one in returns)


def test_graphs_that_no_wrapper_made_arrays_of_are_refused_by_naming_it():
    envs = gym.make_vec("GraphActionBandit-v0", 2, num_graphs=3, num_nodes=4, autoreset_mode="SameStep")
    with pytest.raises(TypeError, match="wrappers.vector.PaddedGraphSet"):
        SB3VecEnv(envs)


def test_episodes_that_gymnasium_records_reach_the_model():
    envs = gym.make_vec(
        "GraphActionBandit-v0", 2, num_graphs=3, num_nodes=4, horizon=4, autoreset_mode="SameStep", observe="indices"
    )
    venv = SB3VecEnv(RecordEpisodeStatistics(vector.PaddedGraphSet(envs)))
    model = PPO(GraphSetPolicy, venv, n_steps=8, batch_size=8, n_epochs=1, device="cpu").learn(16)
    assert [episode["l"] for episode in model.ep_info_buffer] == [4, 4, 4, 4]


@pytest.mark.parametrize("wrap", ["PaddedGraphSet", "GraphSetIndices"])
def test_the_native_environment_has_the_trajectories_of_one_by_one(wrap):
    settings = {"graphs": graphs_with_edge_features(), "reward_model": np.arange(4), "horizon": 3}
    settings |= {"actions_per_round": 2, "noise_std": 0.5}

    def single():
        observe = "graphs" if wrap == "PaddedGraphSet" else "indices"
        return getattr(wrappers, wrap)(gym.make("GraphActionBandit-v0", observe=observe, **settings))

    native = gym.make_vec("GraphActionBandit-v0", 3, autoreset_mode="SameStep", observe="indices", **settings)
    adapted = SB3VecEnv(getattr(vector, wrap)(native))
    assert_same(play(adapted, 8), play(DummyVecEnv([single] * 3), 8))


def test_what_is_no_vector_environment_of_gymnasium_is_refused():
    with pytest.raises(TypeError, match="Expected a Gymnasium vector environment"):
        SB3VecEnv(make_env())
