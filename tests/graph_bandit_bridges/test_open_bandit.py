"""Logs in the form of Open Bandit Pipeline; `tests/doors/test_obp.py` gives them to the package itself."""

from dataclasses import replace

import numpy as np
import pytest

import registry
from graph_bandit_bridges import from_open_bandit, to_open_bandit
from graph_bandit_env import GraphSet
from graph_bandit_lab.logged import evaluate, log_episode, target_probabilities


@pytest.fixture
def env(small_env):
    return small_env(actions_per_round=4)


@pytest.fixture
def log(env):
    return log_episode(env, registry.make_agent("gaussian-ts"), floor=0.2)


def test_an_inverse_weighted_mean_of_its_arrays_is_ours(log):
    feedback, policy = to_open_bandit(log), np.array([0.3, 0.1, 0.1, 0.1, 0.2, 0.2])
    chances = target_probabilities(policy, log)
    weights = [chances[t, k] / feedback["pscore"][t] for t, k in enumerate(feedback["action"])]
    assert evaluate(log, policy, "ips").value == pytest.approx(np.mean(weights * feedback["reward"]))


def test_graphs_are_described_by_the_mean_features_of_their_nodes(log, env):
    graphs = env.unwrapped.graph_set
    rows = to_open_bandit(log, graphs)["action_context"]
    for row, graph in zip(rows, graphs, strict=True):
        assert row == pytest.approx(graph.nodes.astype(float).mean(0))
    with pytest.raises(ValueError, match="graph set"):
        to_open_bandit(log, GraphSet([[[1.0]]] * 6, [[]] * 6))


def test_a_log_comes_back_as_it_was(log):
    back = from_open_bandit(to_open_bandit(log), learns=True, masks=log.masks)
    for name in ("actions", "rewards", "probabilities", "masks"):
        assert np.array_equal(getattr(back, name), getattr(log, name))
    assert replace(back, learns=False).num_rounds == 30
    assert from_open_bandit(to_open_bandit(log), learns=False).masks.all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pi_b": None}, "pi_b"),
        ({"pi_b": np.full((30, 6, 3), 1 / 6)}, "pi_b"),
        ({"pscore": np.full(30, 0.5)}, "pscore"),
        ({"reward": np.full(30, np.nan)}, "finite"),
    ],
)
def test_what_is_no_log_is_refused(changes, message, log):
    with pytest.raises(ValueError, match=message):
        from_open_bandit({**to_open_bandit(log), **changes}, learns=True)
