"""Other draws of the random function that gave the first mean rewards."""

import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from support.normals import Given, moments_of
from torch_geometric.data import Batch

from gntk import aggregate_neighbours
from graph_bandit_env.graphs.random_graphs import RandomGraphs
from graph_bandit_env.rewards import reward_functions
from graph_bandit_env.rewards.reward_functions import gp_gntk, gp_representation
from graph_bandit_env.rewards.reward_models import draw_fresh, draw_with_fresh

GRAPHS = RandomGraphs(num_graphs=12, num_nodes=8, feature_dim=3).draw(np.random.default_rng(0))


def test_fresh_linear_means_have_a_normal_vector_of_their_own():
    nodes = aggregate_neighbours(GRAPHS.to_batch()).nodes.double().numpy().reshape(12, 8, 3).mean(axis=1)
    _, fresh = draw_with_fresh("linear", GRAPHS, np.random.default_rng(3))
    np.testing.assert_allclose(fresh(np.random.default_rng(7)), nodes @ np.random.default_rng(7).standard_normal(3))


@pytest.mark.parametrize("model", ["gp_representation_relu"])
def test_first_and_fresh_draws_of_one_trained_network_have_one_distribution(model, monkeypatch):
    graphs, degrees, relu = aggregate_neighbours(GRAPHS.to_batch()), GRAPHS.average_degrees, model.endswith("relu")
    monkeypatch.setattr(reward_functions, "WIDTH", 32)
    network = reward_functions.train_on_degrees(graphs, degrees, np.random.default_rng(1))
    monkeypatch.setattr(reward_functions, "train_on_degrees", lambda *given: network)
    _, first = moments_of(lambda z: gp_representation(graphs, degrees, Given(z), relu).mean_rewards, 12)
    root = gp_representation(graphs, degrees, np.random.default_rng(0), relu).root()
    np.testing.assert_allclose(first, root @ root.T, atol=1e-9 * np.abs(first).max())


def test_fresh_gntk_means_have_labels_of_their_own(monkeypatch):
    """Against the first draws of all labels, with the kernel, s and n that all of them share."""
    kernel = torch.tensor([[1.0, 0.6, 0.1], [0.6, 1.0, 0.3], [0.1, 0.3, 1.0]]).double()
    monkeypatch.setattr(reward_functions, "empirical_kernel", lambda model, graphs: kernel)
    monkeypatch.setattr(reward_functions, "fit_scale_and_noise", lambda kernel, labels: (2.0, 0.3))
    monkeypatch.setattr(reward_functions, "WIDTH", 2)  # of a network that is not asked
    graphs = aggregate_neighbours(Batch.from_data_list(ragged_graphs(sizes=(2, 2, 2))))
    mean, first = moments_of(lambda z: gp_gntk(graphs, Given(z)).mean_rewards, 6)
    root = gp_gntk(graphs, np.random.default_rng(0)).root().numpy()
    np.testing.assert_allclose(mean, 0, atol=1e-9)
    np.testing.assert_allclose(moments_of(lambda z: draw_fresh(root, Given(z)), 3)[1], first, rtol=1e-9)


@pytest.mark.parametrize("model", ["linear", "gp_gntk"])
def test_in_units_each_draw_has_mean_0_and_the_unit_is_that_of_the_first(model):
    raw, _ = draw_with_fresh(model, GRAPHS, np.random.default_rng(3))
    (_, plain), (_, unit) = (
        draw_with_fresh(model, GRAPHS, np.random.default_rng(3), scale) for scale in ("raw", "unit")
    )
    a, b = plain(np.random.default_rng(8)), unit(np.random.default_rng(8))
    assert b.mean() == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(b, (a - a.mean()) / raw.std(), rtol=1e-9, atol=1e-9)
