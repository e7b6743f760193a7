import numpy as np
import pytest
import torch

from graph_bandit_env.graphs.random_graphs import erdos_renyi
from graph_bandit_env.rewards.reward_models import draw_mean_rewards

GRAPHS = erdos_renyi(np.random.default_rng(0), 12, 8, 3, 0.4)


@pytest.mark.parametrize("model", ["linear", "gp_gntk"])
def test_named_rewards_depend_on_the_generator_alone(model):
    first, again, other = (draw_mean_rewards(model, GRAPHS, np.random.default_rng(s)) for s in (1, 1, 2))
    assert first.shape == (12,)
    assert first.dtype == np.float64
    assert np.array_equal(first, again)
    assert not np.allclose(first, other)


@pytest.mark.parametrize("model", ["linear", "gp_gntk"])
def test_unit_scale_has_mean_zero_and_deviation_one_and_keeps_the_order(model):
    raw, unit = (draw_mean_rewards(model, GRAPHS, np.random.default_rng(1), s) for s in ("raw", "unit"))
    assert unit.mean() == pytest.approx(0, abs=1e-12)
    assert unit.std() == pytest.approx(1)
    assert np.array_equal(raw.argsort(), unit.argsort())


def test_equal_means_have_unit_scale_zero():
    means = draw_mean_rewards([0.1] * 12, GRAPHS, np.random.default_rng(0), "unit")
    assert np.array_equal(means, np.zeros(12))


@pytest.mark.parametrize("unit", [1e-80, 1.0, 1e90])
def test_unit_scale_does_not_depend_on_the_unit_of_the_means(unit):
    means = draw_mean_rewards(unit * np.arange(12), GRAPHS, np.random.default_rng(0), "unit")
    assert means == pytest.approx((np.arange(12) - 5.5) / np.arange(12).std())


@pytest.mark.parametrize("wrap", [float, np.float32, torch.tensor, lambda v: torch.tensor(v).sum()])
def test_a_function_sees_each_graph_as_pyg_data(wrap):
    means = draw_mean_rewards(lambda graph: wrap(graph.num_edges), GRAPHS, np.random.default_rng(0))
    assert means.tolist() == [len(graph.edge_links) for graph in GRAPHS]
