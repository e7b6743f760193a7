"""The policy that is judged by a log."""

import numpy as np
import pytest
from support.play import play

import registry
from graph_bandit_lab.logged import evaluate, log_episode, target_probabilities

POLICY = np.array([0.1, 0.2, 0.0, 0.3, 0.4, 0.0])


@pytest.fixture
def log(small_env):
    return log_episode(small_env(actions_per_round=4), registry.make_agent("random"), learns=False)


def test_a_policy_is_divided_by_its_sum_over_the_graphs_on_offer(log):
    target = target_probabilities(POLICY, log)
    for row, mask in zip(target, log.masks, strict=True):
        assert row == pytest.approx(np.where(mask, POLICY, 0) / POLICY[mask].sum())
    assert target_probabilities(target, log) == pytest.approx(target)


def test_an_agent_is_judged_as_it_is_now(log, small_env):
    agent = registry.make_agent("gaussian-ts")
    play(small_env(), agent, 5)
    before = agent.state_dict()
    target = target_probabilities(agent, log)
    for row, mask in zip(target, log.masks, strict=True):
        assert row == pytest.approx(agent.action_probabilities(None, mask.astype(np.int8)).values)
    assert agent.state_dict()["generator"].tolist() == before["generator"].tolist()


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ([0.5, 0.5], "shape"),
        ([0.5] * 6, "sum to 1"),
        ([1.5, -0.5, 0, 0, 0, 0], "sum to 1"),
        ([1.0, 0, 0, 0, 0, 0], "sum to 1"),
        (np.full((30, 6), 1 / 6), "sum to 1"),
    ],
)
def test_what_is_no_policy_is_refused(policy, message, log):
    with pytest.raises(ValueError, match=message):
        target_probabilities(policy, log)


@pytest.mark.parametrize("method", ["ips", "weighted"])
def test_a_policy_that_plays_what_the_log_never_could_is_refused(method, small_env):
    log = log_episode(small_env(), registry.make_agent("gntk-ucb"), floor=0.0)
    with pytest.raises(ValueError, match="floor"):
        evaluate(log, np.full(6, 1 / 6), method)
    played = np.zeros((30, 6))
    played[np.arange(30), log.actions] = 1
    assert evaluate(log, played, method).value == pytest.approx(log.rewards.mean())
