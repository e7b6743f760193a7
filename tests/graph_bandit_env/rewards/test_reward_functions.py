import numpy as np
import torch
from scipy.stats import multivariate_normal
from support.graphs import ragged_graphs
from support.normals import Given, moments_of
from torch_geometric.data import Batch

from gntk import aggregate_neighbours
from graph_bandit_env.graphs.random_graphs import RandomGraphs
from graph_bandit_env.rewards import reward_functions
from graph_bandit_env.rewards.reward_functions import (
    draw_gaussian,
    fit_scale_and_noise,
    gp_gntk,
    gp_representation,
    linear,
)
from graph_bandit_env.rewards.reward_models import draw_fresh

GRAPHS = aggregate_neighbours(
    RandomGraphs(num_graphs=20, num_nodes=8, feature_dim=3).draw(np.random.default_rng(0)).to_batch()
)
MEAN_NODES = np.stack([nodes.numpy().mean(axis=0) for nodes in GRAPHS.nodes.double().split(8)])


def unexplained_by_mean_nodes(means):
    return np.linalg.lstsq(MEAN_NODES, means, rcond=None)[1].sum() / (means**2).sum()


def test_linear_is_the_product_of_a_normal_vector_with_the_mean_node():
    theta = np.random.default_rng(4).standard_normal(3)
    np.testing.assert_allclose(linear(GRAPHS, np.random.default_rng(4)).mean_rewards, MEAN_NODES @ theta, rtol=1e-6)


def test_the_representation_is_linear_in_the_mean_node_before_the_relu_and_not_after():
    before, after = (
        gp_representation(GRAPHS, np.arange(20.0), np.random.default_rng(1), relu).mean_rewards
        for relu in (False, True)
    )
    assert unexplained_by_mean_nodes(before.numpy()) < 1e-9
    assert unexplained_by_mean_nodes(after.numpy()) > 1e-4


def test_scale_and_noise_lower_the_negative_log_likelihood():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(30, 4))
    kernel = features @ features.T
    labels = rng.multivariate_normal(np.zeros(30), 4 * kernel + 0.1 * np.eye(30))

    def likelihood(scale, noise):
        return multivariate_normal(np.zeros(30), scale * kernel + noise * np.eye(30)).logpdf(labels)

    start = likelihood(1.0, 1.0)
    after_30 = likelihood(*fit_scale_and_noise(torch.tensor(kernel), torch.tensor(labels)))
    scale, noise = fit_scale_and_noise(torch.tensor(kernel), torch.tensor(labels), steps=800)
    assert start < after_30 < likelihood(scale, noise)
    for nearby in ((1.05 * scale, noise), (0.95 * scale, noise), (scale, 1.05 * noise), (scale, 0.95 * noise)):
        assert likelihood(*nearby) < likelihood(scale, noise)


def test_gntk_rewards_are_drawn_from_the_posterior_given_their_labels(monkeypatch):
    """Mean and covariance, against conditioning the joint Gaussian of labels and means by blocks."""
    kernel = torch.tensor([[1.0, 0.6, 0.1], [0.6, 1.0, 0.3], [0.1, 0.3, 1.0]]).double()
    labels = torch.tensor([2.0, -1.0, 0.5]).double()
    monkeypatch.setattr(reward_functions, "empirical_kernel", lambda model, graphs: kernel)
    monkeypatch.setattr(reward_functions, "fit_scale_and_noise", lambda kernel, labels: (2.0, 0.3))
    monkeypatch.setattr(reward_functions, "WIDTH", 2)  # of a network that is not asked
    prior, inverse = 2 * kernel, torch.linalg.inv(2 * kernel + 0.3 * torch.eye(3).double())
    graphs = aggregate_neighbours(Batch.from_data_list(ragged_graphs(sizes=(2, 2, 2))))
    mean, covariance = moments_of(lambda z: gp_gntk(graphs, Given([*labels, *z])).mean_rewards, 3)
    np.testing.assert_allclose(mean, prior @ inverse @ labels, rtol=1e-9)
    np.testing.assert_allclose(covariance, prior - prior @ inverse @ prior, rtol=1e-9)
    root, gain = gp_gntk(graphs, Given([*labels, 0, 0, 0])).root().numpy(), (prior @ inverse).numpy()
    fresh = moments_of(lambda z: draw_fresh(root, Given(z)), 3)  # with labels of their own
    np.testing.assert_allclose(fresh[0], 0, atol=1e-9)
    np.testing.assert_allclose(fresh[1], covariance + gain @ gain.T, rtol=1e-9)


def test_the_representation_is_that_of_a_trained_network(monkeypatch):
    """What is learnt from degrees shows in the reward: with other degrees it is another function of the same draw."""
    flat = gp_representation(GRAPHS, np.zeros(20), np.random.default_rng(1), True).mean_rewards
    losses = []
    mse_loss = torch.nn.functional.mse_loss
    monkeypatch.setattr(
        torch.nn.functional, "mse_loss", lambda *args: losses.append(mse_loss(*args).item()) or mse_loss(*args)
    )
    steep = gp_representation(GRAPHS, np.arange(20.0), np.random.default_rng(1), True).mean_rewards
    assert not torch.allclose(flat, steep, rtol=1e-2)
    assert len(losses) == 30 * 10
    assert np.mean(losses[-10:]) < 0.5 * np.mean(losses[:10])


def test_first_and_fresh_draws_of_one_trained_network_have_one_distribution(monkeypatch):
    monkeypatch.setattr(reward_functions, "WIDTH", 32)
    network = reward_functions.train_on_degrees(GRAPHS, np.arange(20.0), np.random.default_rng(1))
    monkeypatch.setattr(reward_functions, "train_on_degrees", lambda *given: network)
    _, first = moments_of(lambda z: gp_representation(GRAPHS, np.arange(20.0), Given(z), True).mean_rewards, 20)
    root = gp_representation(GRAPHS, np.arange(20.0), np.random.default_rng(0), True).root()
    np.testing.assert_allclose(first, root @ root.T, atol=1e-9 * np.abs(first).max())


def test_rewards_do_not_depend_on_the_number_of_threads():
    graph_set = RandomGraphs(num_graphs=30, num_nodes=40, feature_dim=10).draw(np.random.default_rng(0))
    means = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        means.append(reward_functions.draw("gp_gntk", graph_set, np.random.default_rng(0)).mean_rewards)
        assert torch.get_num_threads() == threads
    torch.set_num_threads(1)
    assert np.array_equal(*means)


def test_a_draw_does_not_depend_on_signs_of_eigenvectors(monkeypatch):
    covariance = torch.diag(torch.tensor([1.0, 2.0, 3.0])).double()
    eigh = torch.linalg.eigh
    before = draw_gaussian(torch.zeros(3), covariance, np.random.default_rng(0))
    monkeypatch.setattr(torch.linalg, "eigh", lambda matrix: (eigh(matrix)[0], -eigh(matrix)[1]))
    assert torch.equal(draw_gaussian(torch.zeros(3), covariance, np.random.default_rng(0)), before)


def test_draws_from_a_singular_covariance():
    factor = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    covariance = torch.tensor(factor @ factor.T)
    means = torch.tensor([1.0, 1.0, 0.0])
    mean, found = moments_of(lambda z: draw_gaussian(means, covariance, Given(z)), 3)
    np.testing.assert_allclose(mean, means)
    np.testing.assert_allclose(found, covariance, atol=1e-9)
