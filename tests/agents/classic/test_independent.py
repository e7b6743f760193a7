import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs

import registry
from graph_bandit_env.graphs import as_graph_set


def ready(name, **settings):
    agent = registry.make_agent(name, **settings)
    agent.reset(None, graph_set=as_graph_set(ragged_graphs()))
    return agent


@pytest.mark.parametrize("scale", [0.5, 2.0])
def test_ucb1_plays_each_graph_once_and_then_adds_the_bonus_of_auer_et_al(scale):
    agent, beginner = ready("ucb1", exploration_scale=scale), ready("ucb1", exploration_scale=scale)
    beginner.update(None, [0, 1, 2], [0.0, 1.0, 2.0])
    assert beginner.select_action(None) == 3
    agent.update(None, [0, 1, 2, 3, 3], [0.0, 1.0, 2.0, 3.0, 5.0])
    index = agent.rule(agent.belief(), torch.ones(4).bool(), agent.generator)
    means = np.array([0.0, 1.0, 2.0, 4.0])
    expected = (means - means.mean()) / means.std() + scale * np.sqrt(2 * np.log(2) / np.array([1, 1, 1, 2]))
    np.testing.assert_allclose(index, expected)


def test_gaussian_belief_is_the_conjugate_posterior():
    agent = ready("gaussian-ts", exploration_scale=0.25)
    agent.update(None, [0, 1, 1], [0.0, 1.0, 3.0])
    belief = agent.belief()
    grid = np.linspace(-6, 6, 20001)  # prior N(0, 1) times the likelihood of standardised rewards, by quadrature
    for graph, rewards in ((0, [-1.0]), (1, [0.0, 2.0]), (2, [])):
        log_density = -(grid**2) / 2 - sum((grid - y) ** 2 for y in rewards) / (2 * 0.25**2)
        density = np.exp(log_density - log_density.max())
        mean = (grid * density).sum() / density.sum()
        assert belief.mean[graph].item() == pytest.approx(mean, abs=1e-6)
        variance = ((grid - mean) ** 2 * density).sum() / density.sum()
        assert belief.spread[graph].item() == pytest.approx(variance**0.5, abs=1e-6)


def test_refuses_an_exploration_whose_square_is_zero():
    with pytest.raises(ValueError, match="exploration_scale"):
        registry.make_agent("ucb1", exploration_scale=1e-101)
