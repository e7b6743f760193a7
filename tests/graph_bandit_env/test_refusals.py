"""What the environment and its wrappers refuse: the type of the error, and the name of the field in the message."""

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.error import InvalidAction, ResetNeeded
from support.graphs import ragged_graphs

from graph_bandit_env import GraphActionBandit, GraphActionBanditVector
from graph_bandit_env.graphs import as_graph_set
from graph_bandit_env.wrappers import DelayedRewards, GraphSetIndices, PaddedGraphSet

GRAPHS = ragged_graphs()
OWN = {"graphs": GRAPHS, "reward_model": [0.0, 1.0, 2.0, 3.0]}
ROUND = {"resample_graphs": "round"}
NAN, HUGE = float("nan"), 10**400


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        *(({name: 0}, name) for name in ("num_graphs", "num_nodes", "feature_dim", "horizon", "actions_per_round")),
        *(({name: "word"}, name) for name in ("graph_model", "reward_model", "reward_scale", "noise", "noise_draws")),
        *(({name: "word"}, name) for name in ("observe", "render_mode", "resample_graphs", "drift", "noise_std")),
        ({"num_graphs": (6, 2)}, "num_graphs"),
        ({"num_nodes": 2.5}, "num_nodes"),
        ({"edge_prob": 1.5}, "edge_prob"),
        ({"noise_std": HUGE}, "noise_std"),
        ({"noise_std": [0.1, 0.2, -1.0, 0.0], **OWN}, "noise_std"),
        ({"noise_std": [0.1] * 100, "resample_graphs": True}, "noise_std"),
        ({"actions_per_round": 101}, "actions_per_round"),
        ({"reward_model": np.zeros(3)}, "mean rewards"),
        ({"reward_model": [HUGE] * 100}, "mean rewards"),
        *(({"reward_model": [1.0] * 6, **how}, "reward_model") for how in ({"num_graphs": (2, 6)}, ROUND)),
        ({"reward_model": "spanning_tree"}, "spanning_tree"),
        ({"reward_seed": -1}, "reward_seed"),
        ({"reward_seed": 0, "reward_model": [0.0] * 100}, "reward_seed"),
        ({"replacement": 0}, "replacement"),
        ({"directed": True}, "directed"),
        ({"graphs": []}, "graphs"),
        ({"graphs": GRAPHS}, "reward_model"),
        *(({**OWN, **more}, next(iter(more))) for more in ({"num_graphs": 7}, {"graph_model": "rdpg"})),
        ({**OWN, "num_graphs": 5, "resample_graphs": True}, "num_graphs"),
        ({**ROUND, "observe": "indices"}, "observe"),
        ({**ROUND, "replacement": False}, "replacement"),
        *(({"drift": "walk", "drift_rate": rate}, "drift_rate") for rate in (0.0, 1.1, NAN)),
        ({"drift_rate": 0.2}, "drift_rate"),
        *(({"drift": "walk", "reward_model": model}, "reward_model") for model in (np.zeros(100), "transitivity")),
        *(({"drift": "walk", **more}, next(iter(more))) for more in ({"resample_graphs": True}, {"reward_seed": 3})),
    ],
)
def test_settings(settings, field):
    with pytest.raises(ValueError, match=field):
        GraphActionBandit(**settings)


@pytest.mark.parametrize(
    ("call", "error", "field"),
    [
        (lambda: GraphActionBandit(graph_model=GRAPHS), TypeError, "graphs"),
        (lambda: GraphActionBandit(nois_std=0.1), TypeError, "nois_std"),
        (lambda: GraphActionBanditVector(num_envs=0), ValueError, "num_envs"),
        (lambda: DelayedRewards(gym.make("Pendulum-v1"), 1), TypeError, "discrete"),
        (lambda: PaddedGraphSet(PaddedGraphSet(made())), TypeError, "observes graphs"),
        (lambda: PaddedGraphSet(made(), max_graphs=3), ValueError, "max_graphs"),
        (lambda: PaddedGraphSet(made(), mask_dtype="boolean"), ValueError, "mask_dtype"),
        (lambda: PaddedGraphSet(made(), max_nodes=3).reset(), ValueError, "max_nodes"),
        (lambda: GraphSetIndices(made()), ValueError, "PaddedGraphSet"),
        (lambda: GraphSetIndices(made(observe="indices")), ValueError, "graphs"),
    ],
)
def test_calls(call, error, field):
    with pytest.raises(error, match=field):
        call()


def made(**settings):
    return GraphActionBandit(**{"num_graphs": 6, "num_nodes": 4, **settings})


@pytest.mark.parametrize("options", [["resample"], {"resample": 1}, {"resampel": True}])
def test_options_of_reset(options):
    with pytest.raises(ValueError, match="resample"):
        made().reset(options=options)


@pytest.mark.parametrize("action", [-1, 6, 2.0, "0", None, True, np.array([1, 2])])
def test_an_action_that_is_no_index(action):
    env = made()
    env.reset(seed=0)
    with pytest.raises(InvalidAction):
        env.step(action)


@pytest.mark.parametrize("kind", [int, np.int64, np.array, torch.tensor])
def test_every_kind_of_integer_is_taken(kind):
    env = made()
    env.reset(seed=0)
    assert env.step(kind(3))[-1]["mean_reward"] == env.mean_rewards[3]


def test_a_masked_action_changes_nothing():
    env, twin = made(actions_per_round=1), made(actions_per_round=1)
    _, info = env.reset(seed=0)
    twin.reset(seed=0)
    allowed = int(info["action_mask"].argmax())
    with pytest.raises(InvalidAction, match="action_mask"):
        env.step((allowed + 1) % 6)
    assert env.step(allowed)[1] == twin.step(allowed)[1]


def test_step_and_instance_need_a_reset_first():
    env = made()
    for use in (lambda: env.step(0), lambda: env.mean_rewards, lambda: env.graph_set, env.action_masks):
        with pytest.raises(ResetNeeded):
            use()


@pytest.mark.parametrize("drawn", [NAN, "loud", None, 1e160, HUGE])
def test_noise_and_means_of_a_function_must_be_finite_numbers(drawn):
    env = made(noise=lambda rng, mean: drawn)
    env.reset(seed=0)
    with pytest.raises(ValueError, match="noise"):
        env.step(0)
    with pytest.raises((TypeError, ValueError), match=r"reward_model|mean rewards"):
        made(reward_model=lambda graph: drawn).reset(seed=0)


@pytest.mark.parametrize("index", [[True, False, True, False], [-1], [4], [0.0], ["0"], [[0]], []])
def test_graphs_are_taken_by_their_indices(index):
    with pytest.raises(ValueError, match="take|indices"):
        as_graph_set(GRAPHS).take(index)
