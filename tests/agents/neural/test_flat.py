"""NeuralUCB and NeuralTS against their published equations, computed with automatic derivatives and a p x p inverse."""

import math

import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs

import registry
from agents.contract.inputs import derive_streams
from agents.neural.flat import draw_published
from graph_bandit_env.graphs import as_graph_set

WIDTH, STEPS, RATE, LAMBDA, SEED = 8, 7, 0.05, 0.6, 4
X = np.random.default_rng(0).normal(size=(4, 3))
INPUTS = torch.tensor(np.hstack([X, X]) / np.linalg.norm(X, axis=1, keepdims=True) / math.sqrt(2))


GIVEN = {"features": "custom", "feature_matrix": X, "scale_features": False, "standardize": False, "own_variance": 0.0}


def ready(name="neural-ucb", depth=2, **settings):
    agent = registry.make_agent(
        name, **GIVEN, width=WIDTH, depth=depth, epochs=STEPS, learning_rate=RATE, regularization=LAMBDA, **settings
    )
    agent.reset(None, seed=SEED, graph_set=as_graph_set(ragged_graphs()))
    return agent


def network(theta, x):
    """f(x; theta) = sqrt(m) W_L ReLU(... ReLU(W_1 x))."""
    hidden = x
    for weight in theta[:-1]:
        hidden = torch.relu(weight @ hidden)
    return math.sqrt(WIDTH) * (theta[-1] @ hidden).squeeze()


class Published:
    """Algorithm 1 of Zhou et al. (2020), whose steps are of size eta on the sum of squares, in units of their theta."""

    def __init__(self, depth):
        drawn = draw_published(6, WIDTH, depth, derive_streams(SEED)[0])
        self.start = [weight.double() / math.sqrt(WIDTH) for weight in drawn]
        self.theta = self.start
        self.Z = LAMBDA * torch.eye(sum(weight.numel() for weight in drawn), dtype=torch.float64)
        self.played = []

    def gradient(self, x):
        theta = [weight.clone().requires_grad_() for weight in self.theta]
        return torch.cat([g.flatten() for g in torch.autograd.grad(network(theta, x), theta)])

    def mean(self):
        return np.array([network(self.theta, x).item() for x in INPUTS])

    def bonus(self, diagonal):
        inverse = torch.linalg.inv(self.Z.diagonal().diag() if diagonal else self.Z)
        return np.array([(g @ inverse @ g / WIDTH).sqrt().item() for g in map(self.gradient, INPUTS)])

    def update(self, action, reward):
        g = self.gradient(INPUTS[action])
        self.Z = self.Z + torch.outer(g, g) / WIDTH
        self.played.append((action, reward))
        theta, eta = [weight.clone().requires_grad_() for weight in self.start], RATE / (WIDTH * len(self.played))
        for _ in range(STEPS):
            loss = sum((network(theta, INPUTS[a]) - r) ** 2 for a, r in self.played) / 2
            apart = sum(((weight - first) ** 2).sum() for weight, first in zip(theta, self.start, strict=True))
            gradients = torch.autograd.grad(loss + WIDTH * LAMBDA * apart / 2, theta)
            theta = [(w - eta * g).detach().requires_grad_() for w, g in zip(theta, gradients, strict=True)]
        self.theta = [weight.detach() for weight in theta]


@pytest.mark.parametrize("name", ["neural-ucb", "neural-ts"])
@pytest.mark.parametrize(("depth", "covariance"), [(2, "exact"), (3, "exact"), (2, "diagonal")])
def test_prediction_and_bonus_are_those_published(name, depth, covariance):
    """NeuralTS draws r ~ N(f, nu^2 lambda g^T U^{-1} g / m), so its exploration is nu sqrt(lambda)."""
    agent, oracle = ready(name, depth, covariance=covariance, exploration_scale=0.7), Published(depth)
    for action, reward in zip((0, 2, 2, 1, 3, 0), (1.0, 0.3, 0.5, -0.4, 0.8, 0.9), strict=True):
        belief = agent.belief()
        np.testing.assert_allclose(belief.mean, oracle.mean(), atol=2e-6)
        np.testing.assert_allclose(belief.spread, 0.7 * oracle.bonus(covariance == "diagonal"), rtol=1e-4)
        agent.update(None, action, reward)
        oracle.update(action, reward)
    assert np.abs(oracle.mean()).min() > 1e-3  # it has learnt something


def test_the_start_has_the_variances_of_the_paper_and_predicts_nothing():
    first, hidden, last = (weight.double() for weight in draw_published(40, 400, 3, seed=0))
    assert first[:200, :20].var().item() == pytest.approx(4, rel=0.05)
    assert hidden[:200, :200].var().item() == pytest.approx(4, rel=0.05)
    assert last[:, :200].var().item() == pytest.approx(2, rel=0.3)
    for block in (first, hidden):
        corner = block[: len(block) // 2, : block.shape[1] // 2]
        assert torch.equal(block, torch.block_diag(corner, corner))
    assert torch.equal(last[:, :200], -last[:, 200:])
    assert ready(depth=3).predict_means().tolist() == [0.0] * 4
