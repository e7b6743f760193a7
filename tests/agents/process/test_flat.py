import numpy as np
import pytest
from support.graphs import ragged_graphs

import registry
from graph_bandit_env import from_smiles
from graph_bandit_env.graphs import as_graph_set

GRAPHS = ragged_graphs((3, 4, 5, 6, 7, 8))
X = np.random.default_rng(3).normal(size=(6, 3)) + 2
PLAYS, REWARDS = np.array([0, 2, 2, 3, 5]), np.array([6.0, 4.0, 3.0, 5.0, 1.0])


def ready(name="lin-ucb", graphs=GRAPHS, **settings):
    agent = registry.make_agent(name, **settings)
    agent.reset(None, seed=0, graph_set=as_graph_set(graphs))
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


@pytest.mark.parametrize("name", ["lin-ucb", "neural-ucb"])
def test_units_of_given_features_do_not_matter_where_they_are_scaled(name):
    means = []
    for matrix in (X, X * [1.0, 1000.0, 0.001] + [5.0, 0.0, -7.0]):
        agent = ready(name, features="custom", feature_matrix=matrix)
        agent.update(None, PLAYS, REWARDS)
        means.append(agent.predict_means())
    np.testing.assert_allclose(*means, rtol=1e-4)


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
