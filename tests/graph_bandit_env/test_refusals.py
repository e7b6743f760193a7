"""Arguments and calls that the environment refuses, and its messages."""

import numpy as np
import pytest
import torch
from gymnasium.error import InvalidAction, ResetNeeded
from support.graphs import ragged_graphs

from graph_bandit_env import GraphActionBandit, GraphSet


@pytest.mark.parametrize("options", [["resample"], {"resample": "no"}, {"resample": 1}])
def test_refuses_options_that_are_none(small_env, options):
    with pytest.raises(ValueError, match="resample"):
        small_env().unwrapped.reset(options=options)


def test_a_list_of_graphs_as_graph_model_is_sent_to_graphs():
    with pytest.raises(TypeError, match="go into `graphs`"):
        GraphActionBandit(graph_model=ragged_graphs())


@pytest.mark.parametrize("action", [-1, 6, 2.0, "0", None, True, np.array([1, 2])])
def test_refuses_an_action_that_is_no_index(small_env, action):
    env = small_env().unwrapped
    env.reset(seed=0)
    with pytest.raises(InvalidAction, match="Expected an"):
        env.step(action)


@pytest.mark.parametrize("kind", [int, np.int64, np.array, torch.tensor])
def test_takes_every_kind_of_integer(small_env, kind):
    env = small_env().unwrapped
    env.reset(seed=0)
    assert env.step(kind(3))[-1]["mean_reward"] == env.mean_rewards[3]


def test_refuses_a_masked_action_and_changes_nothing(small_env):
    env, twin = small_env(actions_per_round=1), small_env(actions_per_round=1)
    _, info = env.reset(seed=0)
    twin.reset(seed=0)
    allowed = int(info["action_mask"].argmax())
    with pytest.raises(InvalidAction, match="which `action_mask` rules out"):
        env.step((allowed + 1) % 6)
    assert env.step(allowed)[1] == twin.step(allowed)[1]


def test_step_and_instance_need_a_reset_first(small_env):
    env = small_env().unwrapped
    for use in (lambda: env.step(0), lambda: env.mean_rewards, lambda: env.graph_set, env.action_masks):
        with pytest.raises(ResetNeeded, match="Expected `reset`"):
            use()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_graphs": 0}, r"`num_graphs` to be an integer >= 1, or \(least, most\). Got 0"),
        ({"num_nodes": 0}, "`num_nodes`"),
        ({"num_nodes": 2.5}, "`num_nodes`"),
        ({"feature_dim": 0}, "`feature_dim`"),
        ({"edge_prob": 1.5}, "`edge_prob` to be a finite number >= 0.0 and <= 1.0. Got 1.5"),
        ({"edge_prob": float("nan")}, "`edge_prob`"),
        ({"noise_std": -0.1}, "`noise_std`"),
        ({"noise_std": float("inf")}, "`noise_std`"),
        ({"noise_std": 10**400}, "`noise_std`"),
        ({"reward_model": [10**400] * 100}, "mean rewards that are numbers"),
        ({"noise_std": 1e160}, "`noise_std` to be a finite number >= 0.0 and <= 1e"),
        ({"horizon": 0}, "`horizon`"),
        ({"horizon": True}, "`horizon`"),
        ({"actions_per_round": 0}, "`actions_per_round`"),
        ({"actions_per_round": 101}, "`actions_per_round` to be an integer >= 1 and <= 100"),
        ({"graph_model": "err"}, "Did you mean `er`"),
        ({"reward_model": "linaer"}, "Did you mean `linear`"),
        ({"reward_model": np.zeros(3)}, r"shape `\(100,\)`"),
        ({"reward_model": ["1"] * 100}, "mean rewards that are numbers. Got list: text"),
        ({"reward_model": [1e160] + [0.0] * 99}, "mean rewards from -1e.* Got 1e.160"),
        ({"reward_scale": "units"}, "Did you mean `unit`"),
        ({"noise": "cauchy"}, "Unknown noise"),
        ({"observe": "graph"}, "Did you mean `graphs`"),
        ({"render_mode": "ansi"}, "Unknown render_mode `ansi`"),
        ({"graphs": []}, "at least one graph"),
        ({"graphs": ragged_graphs()}, "`reward_model` with `graphs`. .* each of your 4 graphs .* the name of"),
        ({"graphs": ragged_graphs(), "num_graphs": 2, "resample_graphs": True}, "`reward_model` with `graphs`"),
        ({"graphs": ragged_graphs(), "num_graphs": 7}, "`graphs` alone"),
        ({"graphs": ragged_graphs(), "graph_model": "rdpg"}, "`graphs` alone"),
    ],
)
def test_refuses_settings_out_of_range(settings, message):
    with pytest.raises(ValueError, match=message):
        GraphActionBandit(**settings)


def test_refuses_an_unknown_option(small_env):
    with pytest.raises(ValueError, match="option `resample` or none"):
        small_env().unwrapped.reset(options={"resampel": True})


@pytest.mark.parametrize("drawn", [float("nan"), "loud", "0.5", None, 1e160, 10**400])
def test_refuses_noise_that_is_not_a_finite_number(small_env, drawn):
    env = small_env(noise=lambda rng, mean: drawn).unwrapped
    env.reset(seed=0)
    with pytest.raises(ValueError, match="`noise` to return a finite number"):
        env.step(0)


@pytest.mark.parametrize("mean", [1e160, 10**400, float("nan"), "1.5"])
def test_refuses_a_reward_function_that_returns_no_usable_number(mean):
    env = GraphActionBandit(graphs=ragged_graphs(), reward_model=lambda graph: mean)
    with pytest.raises((TypeError, ValueError), match="Expected .* Got"):
        env.reset(seed=0)


@pytest.mark.parametrize("index", [[True, False, True, False], [-1], [4], [0.0], ["0"], [[0]], []])
def test_graphs_are_taken_by_their_indices(index):
    with pytest.raises(ValueError, match="Expected"):
        GraphSet.from_pyg(ragged_graphs()).take(index)
