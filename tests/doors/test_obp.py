"""Our estimates of a log are those of Open Bandit Pipeline."""

import numpy as np
import pytest
from obp.dataset import SyntheticBanditDataset, logistic_reward_function
from obp.ope import DoublyRobust, InverseProbabilityWeighting, OffPolicyEvaluation, SelfNormalizedDoublyRobust
from obp.ope import SelfNormalizedInverseProbabilityWeighting as SelfNormalized

import registry
from graph_bandit_bridges import from_open_bandit, to_action_dist, to_open_bandit
from graph_bandit_lab.logged import evaluate, log_episode

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
    expected = values_of(log, to_action_dist(POLICY, log), Certain.means)
    for method, value in expected.items():
        ours = evaluate(log, POLICY, method, agent=Certain(), graph_set=env.unwrapped.graph_set)
        assert ours.value == pytest.approx(value, rel=1e-9), method


def test_its_bootstrap_intervals_are_as_wide_as_ours_where_the_policy_of_the_log_was_fixed():
    log = log_episode(make_env(noise_std=0.5), registry.make_agent("random"), learns=False)
    pipeline = OffPolicyEvaluation(bandit_feedback=to_open_bandit(log), ope_estimators=[ESTIMATORS["ips"]])
    dist = to_action_dist(POLICY, log)
    interval = pipeline.estimate_intervals(action_dist=dist, n_bootstrap_samples=2000, random_state=0)["ipw"]
    ours = evaluate(log, POLICY, "ips")
    assert interval["95.0% CI (upper)"] - interval["95.0% CI (lower)"] == pytest.approx(ours.high - ours.low, rel=0.1)


def test_its_synthetic_logs_are_logs_here():
    dataset = SyntheticBanditDataset(
        n_actions=4, dim_context=2, reward_function=logistic_reward_function, random_state=1
    )
    feedback = dataset.obtain_batch_bandit_feedback(n_rounds=3000)
    pi_b = feedback.get("pi_b")
    if pi_b is None:  # versions before 0.5 keep it to themselves
        probabilities = np.full((3000, 4), 0.25)
        assert feedback["pscore"] == pytest.approx(np.full(3000, 0.25))
        pi_b = probabilities[:, :, None]
    log = from_open_bandit({**feedback, "pi_b": pi_b}, learns=False)
    best = np.eye(4)[feedback["expected_reward"].argmax(1)]
    truth = feedback["expected_reward"].max(1).mean()
    for method in ("ips", "snips", "dr"):
        estimate = evaluate(log, best, method)
        assert abs(estimate.value - truth) < 4 * estimate.std_error


def test_a_doubly_robust_estimate_that_normalises_itself_differs_from_ours_by_less_than_an_error():
    env = make_env(noise_std=0.5)
    log = log_episode(env, registry.make_agent("random"), learns=False)
    dist = to_action_dist(POLICY, log)
    pipeline = OffPolicyEvaluation(bandit_feedback=to_open_bandit(log), ope_estimators=[SelfNormalizedDoublyRobust()])
    predicted = np.broadcast_to(Certain.means[None, :, None], dist.shape).copy()
    value = pipeline.estimate_policy_values(action_dist=dist, estimated_rewards_by_reg_model=predicted)["sndr"]
    ours = evaluate(log, POLICY, "dr", agent=Certain(), graph_set=env.unwrapped.graph_set)
    assert abs(ours.value - value) < ours.std_error
