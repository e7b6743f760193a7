import pytest
import torch

import registry
from benchmarks.sweeps.limit import register, relax
from graph_bandit_lab import run_bandit


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    monkeypatch.setattr(registry, "_REGISTRATIONS", dict(registry._REGISTRATIONS))
    register()


def observed(name, rounds=6, **settings):
    """An agent that has been told six rewards; with a batch for all of them, descent follows the gradient itself."""
    env = registry.make_environment(num_graphs=5, num_nodes=6, feature_dim=4)
    observation, _ = env.reset(seed=1)
    agent = registry.make_agent(name, preset="paper", batch_size=100, epochs=300, **settings)
    agent.reset(observation, seed=0)
    for action, reward in zip([0, 1, 2, 0, 3, 0], [1.0, -0.5, 0.3, 1.1, 0.2, 0.9], strict=True):
        agent.update(observation, action, reward)
    return agent


@pytest.mark.parametrize("center", ["zero", "initial"])
@pytest.mark.parametrize("regularization", [1e-7, 1e-6, 1e-5])
def test_the_limit_predicts_what_a_wide_network_does(center, regularization):
    common = {"width": 4096, "learning_rate": 0.02, "regularization": regularization, "penalty_center": center}
    wide, limit = (observed(name, **common).belief() for name in ("gnn-ts", "gnn-ts-limit"))
    torch.testing.assert_close(limit.mean, wide.mean, rtol=0.05, atol=0.02)
    torch.testing.assert_close(limit.spread, wide.spread, rtol=0.05, atol=0)


def test_without_a_penalty_the_fit_relaxes_as_a_geometric_series():
    values = torch.tensor([0.0, 0.1, 2.0], dtype=torch.float64)
    found = values * relax(values, 0.0, 3.0, centered=True)
    torch.testing.assert_close(found, 1 - torch.exp(-3 * values))


def test_the_split_agent_has_a_ridge_for_its_covariance_alone():
    common = {"width": 16, "regularization": 1e-3}
    plain, same = observed("gnn-ts", **common), observed("gnn-ts-split", **common)
    split = observed("gnn-ts-split", covariance_regularization=1e-5, **common)
    assert plain.covariance.ridge == same.covariance.ridge == pytest.approx(0.016)
    assert split.covariance.ridge == pytest.approx(0.00016)
    assert torch.equal(plain.belief().mean, split.belief().mean)


@pytest.mark.parametrize("name", ["gnn-pe-limit", "nn-ucb-limit"])
def test_each_of_the_six_has_a_limit(name):
    env = registry.make_environment(num_graphs=5, num_nodes=6, horizon=4)
    assert len(run_bandit(env, registry.make_agent(name, preset="paper", width=16)).actions) == 4


def test_what_the_limit_does_not_have_is_refused():
    with pytest.raises(ValueError, match="Expected start"):
        observed("gnn-ts-limit", start="warm")
