import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from support.posterior import from_scratch
from torch_geometric.data import Batch

import registry
from agents.contract import DivergedError
from gntk import AggregatedGraphs, aggregate_neighbours, infinite_width_kernel
from graph_bandit_env.graphs import as_graph_set

RNG = np.random.default_rng(0)
FEATURES = RNG.normal(size=(12, 5))
KERNEL = FEATURES @ FEATURES.T / 5  # singular: rank 5 on 12 graphs


def ready(name="gntk-ts", graphs=None, seed=0, **settings):
    agent = registry.make_agent(name, **settings)
    agent.reset(None, seed=seed, graph_set=as_graph_set(graphs or ragged_graphs(sizes=(5, 4, 7, 6))))
    return agent


def kernel_of(agent):
    """The kernel of all graphs, whatever its scale."""
    every = torch.arange(agent.described.count)
    return agent.described.kernels.columns(every, every)[:, 0].numpy()


def scale_of(agent):
    return agent.learnt.weights[0]


def test_belief_is_the_posterior_from_scratch_at_known_scale_and_noise():
    agent = ready(output_scale=2.0, noise_variance=0.1, standardize=False, exploration_scale=0.5)
    actions, rewards = np.array([0, 2, 2, 3, 0, 2]), np.array([1.0, -1.0, -1.2, 0.3, 0.8, -0.9])
    for action, reward in zip(actions, rewards, strict=True):
        agent.update(None, action, reward)
    mean, covariance = from_scratch(2.0 * kernel_of(agent), 0.1, actions, rewards)
    belief = agent.belief()
    np.testing.assert_allclose(belief.mean, mean, atol=1e-9)
    np.testing.assert_allclose(belief.spread, 0.5 * np.sqrt(np.diag(covariance)), atol=1e-9)
    np.testing.assert_allclose(belief.joint_root() @ belief.joint_root().T, 0.25 * covariance, atol=1e-9)


KNOWN = {"output_scale": 2.0, "noise_variance": 0.1, "standardize": False}
PLAYS, REWARDS = np.array([0, 2, 2, 3]), np.array([1.0, -1.0, -1.2, 0.3])


@pytest.mark.parametrize("known", [{}, {"noise_variance": 0.1}])
def test_targets_and_a_known_noise_are_in_the_units_of_all_rewards_so_far(known):
    agent = ready(output_scale=2.0, **known)
    agent.update(None, PLAYS, 10 * REWARDS + 50)
    agent.update(None, 1, 47.0)
    means = np.array([60.0, 39.0, 53.0, 47.0])
    location, unit = means.mean(), means.std()
    assert (agent.targets.location, agent.targets.unit) == pytest.approx((location, unit))
    noise = agent.learnt.noise if not known else 0.1 / unit**2
    targets = (np.append(10 * REWARDS + 50, 47.0) - location) / unit
    mean, _ = from_scratch(2.0 * kernel_of(agent), noise, np.append(PLAYS, 1), targets)
    np.testing.assert_allclose(agent.predict().mean, location + unit * mean, rtol=1e-6)
    assert agent.predict().noise_std == pytest.approx(unit * noise**0.5)


def test_insight_measures_the_covariance_with_the_noise_as_ridge():
    agent = ready(**KNOWN, exploration_scale=0.5)
    kernel = 2.0 * kernel_of(agent)

    def dimension(horizon):
        whole = np.linalg.slogdet(np.eye(4) + horizon * kernel / 0.1).logabsdet
        return pytest.approx(whole / np.log1p(horizon * np.linalg.norm(kernel, 2) / 0.1))

    agent.select_action(None)
    assert (agent.insight().log_determinant, agent.insight().effective_dimension) == (0, dimension(1))
    agent.update(None, PLAYS, REWARDS)
    agent.select_action(None)
    insight = agent.insight()
    mean, covariance = from_scratch(kernel, 0.1, PLAYS, REWARDS)
    np.testing.assert_allclose(insight.mean, mean, atol=1e-9)
    np.testing.assert_allclose(insight.spread**2, 0.25 * np.diag(covariance), atol=1e-9)
    np.testing.assert_allclose(insight.variance, np.diag(covariance) / 0.1, atol=1e-8)
    played = np.eye(4) + kernel[np.ix_(PLAYS, PLAYS)] / 0.1
    assert insight.log_determinant == pytest.approx(np.linalg.slogdet(played).logabsdet)
    assert insight.effective_dimension == dimension(4)


@pytest.mark.parametrize("node_count", ["largest", "own"])
def test_the_kernel_averages_over_the_nodes_that_are_asked(node_count):
    graphs = aggregate_neighbours(Batch.from_data_list(ragged_graphs(sizes=(5, 4, 7, 6))), keep_isolated=True)
    own = torch.tensor([5.0, 4.0, 7.0, 6.0]) if node_count == "own" else torch.full((4,), 7.0)
    expected = infinite_width_kernel(AggregatedGraphs(graphs.nodes, graphs.offsets, own), depth=3)
    torch.testing.assert_close(torch.tensor(kernel_of(ready(node_count=node_count, depth=3))), expected)


@pytest.mark.parametrize("node_count", ["largest", "own"])
def test_the_kernel_of_graphs_met_later_is_that_of_all_at_once(node_count):
    graphs = ragged_graphs(sizes=(7, 4, 5, 6))
    agent = registry.make_agent("gntk-ucb", node_count=node_count)
    agent.reset(tuple(as_graph_set(graphs[:2])), seed=3)
    met = agent.described.exchange(torch.tensor([1, 0]), graphs[2:]).kernels
    whole = ready("gntk-ucb", [graphs[1], graphs[0], *graphs[2:]], node_count=node_count, seed=3)
    every = torch.arange(4)
    torch.testing.assert_close(met.columns(every, every)[:, 0], torch.tensor(kernel_of(whole)))
    torch.testing.assert_close(met.diagonals[0], torch.tensor(kernel_of(whole).diagonal()))


def test_before_any_reward_those_drawn_from_the_belief_have_variance_one_over_the_set():
    kernel = KERNEL[:4, :4] + 5.0  # a constant in common is no variance over the set
    agent = ready(kernel="custom", kernel_matrix=kernel, itself_weight=0.0)
    draws = np.linalg.cholesky(scale_of(agent) * kernel + 1e-9 * np.eye(4)) @ RNG.normal(size=(4, 100_000))
    assert draws.var(axis=0).mean() == pytest.approx(1.0, rel=0.02)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": "custom"}, "one without the other"),
        ({"kernel_matrix": np.eye(4)}, "one without the other"),
        ({"kernel": "custom", "kernel_matrix": np.ones((2, 3))}, r"shape `\(K, K\)`"),
        ({"kernel": "custom", "kernel_matrix": np.full((2, 2), np.nan)}, "with 4 entries that are not finite"),
        ({"kernel": "custom", "kernel_matrix": [[0, 1], [0, 0]]}, "symmetric"),
        ({"kernel": "custom", "kernel_matrix": np.diag([3.0, -1.0])}, "positive semi-definite"),
        ({"kernel": "custom", "kernel_matrix": np.diag([3.0, -1e-7])}, "positive semi-definite"),
        ({"noise_variance": 0}, "`noise_variance` to be positive or None"),
        ({"noise_variance": "low"}, "`noise_variance` to be a number or None"),
        ({"kernel": "rbf"}, "one of infinite, custom"),
        ({"depth": 1}, "`depth`"),
    ],
)
def test_refuses_what_is_no_kernel(settings, message):
    with pytest.raises(ValueError, match=message):
        registry.make_agent("gntk-ts", **settings)


def test_a_posterior_that_rounding_ruins_is_told_as_diverged():
    features = RNG.normal(size=(40, 3))
    known = {"output_scale": 1e100, "noise_variance": 1e-30}
    graphs = ragged_graphs(sizes=(3,) * 40)
    agent = ready(graphs=graphs, kernel="custom", kernel_matrix=1e220 * features @ features.T, **known)
    with pytest.raises(DivergedError, match="could not be computed"):  # the sum of variances is infinite
        agent.update(None, [*range(40)] * 2, [*range(40)] * 2)
