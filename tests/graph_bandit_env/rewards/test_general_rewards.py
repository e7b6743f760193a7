import numpy as np
import pytest
import torch
from support.normals import Given, moments_of

from graph_bandit_env.graphs import random_graphs
from graph_bandit_env.graphs.random_graphs import RandomGraphs
from graph_bandit_env.rewards import general_rewards
from graph_bandit_env.rewards.reward_models import draw_mean_rewards

SMALL = RandomGraphs(num_graphs=4, num_nodes=5, feature_dim=3)


def test_linear_rewards_are_those_of_a_graph_set_that_stays():
    graph_set = SMALL.draw(np.random.default_rng(0))
    function = general_rewards.draw("linear", SMALL, np.random.default_rng(7))
    assert np.array_equal(function(graph_set), draw_mean_rewards("linear", graph_set, np.random.default_rng(7)))


def test_weights_have_mean_and_covariance_of_the_posterior(monkeypatch):
    rng = np.random.default_rng(0)
    features, new = (torch.from_numpy(rng.standard_normal((n, 6))) for n in (4, 3))
    labels = torch.from_numpy(rng.standard_normal(4))
    scale, noise = 0.7, 0.3
    monkeypatch.setattr(general_rewards, "fit_scale_and_noise", lambda kernel, labels: (scale, noise))
    found = moments_of(lambda z: new @ general_rewards.draw_posterior_weights(features, Given([*labels, *z])), 10)
    gram, cross = scale * features @ features.T + noise * torch.eye(4).double(), scale * new @ features.T
    mean = cross @ torch.linalg.inv(gram) @ labels
    covariance = scale * new @ new.T - cross @ torch.linalg.inv(gram) @ cross.T
    np.testing.assert_allclose(found[0], mean, rtol=1e-9)
    np.testing.assert_allclose(found[1], covariance, rtol=1e-9)


@pytest.mark.parametrize("name", ["gp_gntk", "gp_representation_relu"])
def test_a_gaussian_process_is_a_function_of_the_distribution_of_graphs_not_of_a_set(name, monkeypatch):
    monkeypatch.setattr(random_graphs, "NUM_EXAMPLES", 10)
    function = general_rewards.draw(name, SMALL, np.random.default_rng(1))
    again = general_rewards.draw(name, RandomGraphs(num_graphs=9, num_nodes=5, feature_dim=3), np.random.default_rng(1))
    graph_set = SMALL.draw(np.random.default_rng(3))
    assert np.array_equal(function(graph_set), again(graph_set))
    assert function(graph_set).std() > 0
