import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs

import registry
from graph_bandit_env import GraphSet, from_smiles

GRAPHS = ragged_graphs((3, 4, 5, 6, 7, 8))
X = np.random.default_rng(3).normal(size=(6, 3)) + 2
PLAYS, REWARDS = np.array([0, 2, 2, 3, 5]), np.array([6.0, 4.0, 3.0, 5.0, 1.0])


def ready(name="lin-ucb", graphs=GRAPHS, **settings):
    agent = registry.make_agent(name, **settings)
    agent.reset(None, seed=0, graph_set=GraphSet.from_pyg(graphs))
    return agent


def given(name="lin-ucb", **settings):
    return ready(name, features="custom", feature_matrix=X, **settings)


@pytest.mark.parametrize("alpha", [0.3, 2.0])
def test_the_preset_is_linucb_in_closed_form(alpha):
    """Algorithm 1 of Li et al. (2010), with one vector of weights for all actions."""
    agent = given(preset="paper", exploration_scale=alpha)
    agent.update(None, PLAYS, REWARDS)
    A, b = np.eye(3), np.zeros(3)
    for action, reward in zip(PLAYS, REWARDS, strict=True):
        A += np.outer(X[action], X[action])
        b += reward * X[action]
    theta = np.linalg.solve(A, b)
    widths = np.sqrt(np.einsum("kd,de,ke->k", X, np.linalg.inv(A), X))
    agent.select_action(None)
    belief, index = agent.ranked
    np.testing.assert_allclose(belief.mean, X @ theta, rtol=1e-6)
    np.testing.assert_allclose(belief.spread, alpha * widths, rtol=1e-6)
    np.testing.assert_allclose(index, X @ theta + alpha * widths, rtol=1e-6)


def test_linucb_plays_as_the_closed_form_does_for_many_rounds():
    agent, rng = given(preset="paper"), np.random.default_rng(0)
    weights, A, b = np.array([1.0, -1.0, 0.5]), np.eye(3), np.zeros(3)
    for _ in range(40):
        inverse = np.linalg.inv(A)
        index = X @ inverse @ b + np.sqrt(np.einsum("kd,de,ke->k", X, inverse, X))
        action = agent.select_action(None)
        assert index[action] == pytest.approx(index.max(), rel=1e-6)
        reward = float(X[action] @ weights + 0.1 * rng.normal())
        agent.update(None, action, reward)
        A += np.outer(X[action], X[action])
        b += reward * X[action]


@pytest.mark.parametrize("name", ["lin-ts", "lin-ucb", "squarecb", "neural-ts", "neural-ucb"])
def test_a_reward_that_is_linear_in_given_features_is_learnt_though_graphs_say_nothing_of_it(name):
    generator = np.random.default_rng(0)
    features = generator.normal(size=(30, 4))
    means, graphs = features @ [1.0, -2.0, 0.5, 0.0], ragged_graphs((4,) * 30, seed=1)
    agent = ready(name, graphs, features="custom", feature_matrix=features)
    told = generator.permutation(30)[:20]
    agent.update(None, told, means[told])
    rest = np.setdiff1d(np.arange(30), told)
    assert np.corrcoef(agent.predict_means()[rest], means[rest])[0, 1] > 0.9


@pytest.mark.parametrize("name", ["lin-ucb", "neural-ucb"])
def test_units_of_given_features_do_not_matter_where_they_are_scaled(name):
    means = []
    for matrix in (X, X * [1.0, 1000.0, 0.001] + [5.0, 0.0, -7.0]):
        agent = ready(name, features="custom", feature_matrix=matrix)
        agent.update(None, PLAYS, REWARDS)
        means.append(agent.predict_means())
    np.testing.assert_allclose(*means, rtol=1e-4)


@pytest.mark.filterwarnings("ignore:.*look equal:agents.contract.BlindAgentWarning")
@pytest.mark.parametrize("name", ["lin-ucb", "neural-ucb"])
def test_columns_of_the_set_are_features_and_an_unknown_number_is_the_mean_of_the_others(name):
    smiles, values = ["CCO", "CCN", "CCC", "CCCl"], [1.0, 3.0, float("nan"), 5.0]
    pool = from_smiles(smiles, columns={"dock": values})
    agent = registry.make_agent(name, features="columns")
    agent.reset(None, graph_set=pool)
    known = registry.make_agent(name, features="custom", feature_matrix=[[1.0], [3.0], [3.0], [5.0]])
    known.reset(None, graph_set=pool)
    for player in (agent, known):
        player.update(None, [0, 1], [1.0, 2.0])
    assert agent.uses_columns
    assert not known.uses_columns
    np.testing.assert_array_equal(agent.predict_means(), known.predict_means())


@pytest.mark.parametrize("name", ["lin-ucb", "neural-ucb"])
def test_a_set_without_columns_is_refused(name):
    with pytest.raises(ValueError, match="a graph set with columns"):
        ready(name, features="columns")


@pytest.mark.parametrize("name", ["lin-ucb", "neural-ucb"])
def test_given_features_are_those_of_one_set(name):
    agent = ready(name, features="custom", feature_matrix=X)
    with pytest.raises(ValueError, match='features are those of these graphs. Got other graphs. .* features="means"'):
        agent.select_action(tuple(GraphSet.from_pyg(ragged_graphs(seed=5))))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"features": "custom"}, "`feature_matrix` together with"),
        ({"feature_matrix": X}, "`feature_matrix` together with"),
        ({"features": "custom", "feature_matrix": X[0]}, "of shape `\\(K, d\\)`. Got shape `\\(3,\\)`"),
        ({"features": "custom", "feature_matrix": np.full((6, 2), np.nan)}, "with 12 entries that are not finite"),
        ({"features": "custom", "feature_matrix": X[:5]}, "features of 6 graphs. Got 5 rows"),
    ],
)
@pytest.mark.parametrize("name", ["lin-ucb", "neural-ucb"])
def test_refuses_features_that_are_not_those_of_the_graphs(name, settings, message):
    with pytest.raises(ValueError, match=message):
        ready(name, **settings)


def test_the_users_array_may_change_afterwards():
    matrix = X.copy()
    agent = ready(features="custom", feature_matrix=matrix)
    agent.update(None, PLAYS, REWARDS)
    before = agent.predict_means()
    matrix[:] = 0
    fresh = agent.blank()
    fresh.reset(None, seed=0, graph_set=GraphSet.from_pyg(GRAPHS))
    fresh.update(None, PLAYS, REWARDS)
    np.testing.assert_array_equal(fresh.predict_means(), before)
    assert torch.equal(fresh.known()[0], agent.known()[0])
