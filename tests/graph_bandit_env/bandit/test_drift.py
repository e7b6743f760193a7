import numpy as np
import pytest

from graph_bandit_env.bandit.instance import DRIFT_NAMES, Drift

ROOT = np.array([[1.0, 0.0], [0.5, 2.0], [-1.0, 1.0]])


def fresh(rng):
    return ROOT @ rng.standard_normal(2)


def trajectories(name, rate, rounds, count=3000):
    """Means `(count, rounds, K)` of many drifts that start from a fresh draw."""
    rng = np.random.default_rng(0)
    drift = Drift(name, fresh, rate, rng)
    means = np.empty((count, rounds, 3))
    for row in means:
        row[0] = fresh(rng)
        for t in range(1, rounds):
            row[t] = drift(row[t - 1])
    return means


@pytest.mark.parametrize("name", DRIFT_NAMES)
@pytest.mark.parametrize("rate", [0.3])
def test_means_keep_their_distribution_and_forget_at_the_rate(name, rate):
    """E mu_t = 0 and E mu_0 mu_d^T = (1 - rate)^d A A^T for every d, those of the last round as those of the first."""
    means = trajectories(name, rate, 6)
    np.testing.assert_allclose(means.mean(axis=0), 0, atol=0.12)
    for d in range(6):
        lagged = np.einsum("nj,nk->jk", means[:, 0], means[:, d]) / len(means)
        np.testing.assert_allclose(lagged, (1 - rate) ** d * ROOT @ ROOT.T, atol=0.25)
    last = np.einsum("nj,nk->jk", means[:, -1], means[:, -1]) / len(means)
    np.testing.assert_allclose(last, ROOT @ ROOT.T, atol=0.25)


def test_a_walk_moves_all_means_in_each_round_by_a_small_step():
    steps = np.diff(trajectories("walk", 0.01, 50, count=20), axis=1)
    assert (steps != 0).all()
    expected = np.sqrt(2 * 0.01 * np.diag(ROOT @ ROOT.T))  # E (mu_{t+1} - mu_t)^2 = 2 (1 - a) var
    np.testing.assert_allclose(steps.std(axis=(0, 1)), expected, rtol=0.1)


def test_a_jump_replaces_all_means_or_none_after_a_geometric_time():
    means = trajectories("jump", 0.2, 40, count=400)
    changed = means[:, 1:] != means[:, :-1]
    assert (changed.all(axis=2) == changed.any(axis=2)).all()
    jumps = changed.any(axis=2)
    assert jumps.mean() == pytest.approx(0.2, abs=0.01)
    assert (jumps[:, 1:] & jumps[:, :-1]).mean() == pytest.approx(0.04, abs=0.006)  # one jump says nothing of the next


def test_a_slow_walk_loses_no_digits():
    """With a rate of 1e-12, 1 - a^2 from a would be wrong in the fourth digit."""
    drift = Drift("walk", lambda rng: np.ones(1), 1e-12, np.random.default_rng(0))
    assert drift(np.zeros(1))[0] == pytest.approx(np.sqrt(2e-12), rel=1e-11)
