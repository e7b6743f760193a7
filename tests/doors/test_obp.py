"""Our estimates of a log are those of Open Bandit Pipeline."""

import numpy as np
import pytest
from obp.ope import DoublyRobust, InverseProbabilityWeighting, OffPolicyEvaluation
from obp.ope import SelfNormalizedInverseProbabilityWeighting as SelfNormalized

import registry
from graph_bandit_bridges import to_open_bandit
from graph_bandit_lab.logged import evaluate, log_episode, target_probabilities

POLICY = np.array([0.3, 0.1, 0.1, 0.1, 0.2, 0.2])
ESTIMATORS = {"ips": InverseProbabilityWeighting(), "snips": SelfNormalized(), "dr": DoublyRobust()}


class Certain:
    """An agent that predicts the same means whatever it is told."""

    means = np.array([0.5, -1.0, 2.0, 0.0, 1.0, 3.0])

    def reset(self, observation, seed=0, graph_set=None):
        pass

    def update(self, observation, action, reward):
        pass

    def predict_means(self):
        return self.means


def make_env(**changes):
    small = {"num_graphs": 6, "num_nodes": 5, "feature_dim": 3, "horizon": 400, "reward_scale": "unit"}
    return registry.make_environment(**small, **changes)


def values_of(log, dist, means):
    """Return what Open Bandit Pipeline estimates, by our names."""
    pipeline = OffPolicyEvaluation(bandit_feedback=to_open_bandit(log), ope_estimators=list(ESTIMATORS.values()))
    predicted = np.broadcast_to(means[None, :, None], dist.shape).copy()
    values = pipeline.estimate_policy_values(action_dist=dist, estimated_rewards_by_reg_model=predicted)
    return {name: values[estimator.estimator_name] for name, estimator in ESTIMATORS.items()}


@pytest.mark.parametrize("offered", [None, 4])
@pytest.mark.parametrize("name", ["random", "gaussian-ts", "gntk-ucb"])
def test_every_estimate_is_that_of_the_package(name, offered):
    env = make_env(actions_per_round=offered, noise_std=0.5)
    log = log_episode(env, registry.make_agent(name), floor=0.2)
    expected = values_of(log, target_probabilities(POLICY, log)[:, :, None], Certain.means)
    for method, value in expected.items():
        ours = evaluate(log, POLICY, method, agent=Certain(), graph_set=env.unwrapped.graph_set)
        assert ours.value == pytest.approx(value, rel=1e-9), method
