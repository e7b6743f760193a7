import numpy as np
import pytest

from graph_bandit_env.rewards.noise import Noise

MEANS = np.array([0.0, 1.0, 5.0])


def make(noise="gaussian", draws="graph", noise_std=0.5):
    return Noise(noise, np.array(noise_std), draws, len(MEANS))


@pytest.mark.parametrize(("name", "bound"), [("gaussian", np.inf), ("uniform", 3**0.5), ("rademacher", 1.0)])
@pytest.mark.parametrize("draws", ["round", "graph"])
def test_has_mean_zero_and_the_deviation_that_is_asked(name, draws, bound):
    rng, noise = np.random.default_rng(0), make(name, draws)
    drawn = np.array([noise.draw(rng, MEANS, 2) for _ in range(10_000)])
    assert drawn.mean() == pytest.approx(0, abs=0.02)
    assert drawn.std() == pytest.approx(0.5, rel=0.02)
    assert np.abs(drawn).max() <= 0.5 * bound
    assert np.isinf(bound) or np.abs(drawn).max() == pytest.approx(0.5 * bound, rel=0.02)


@pytest.mark.parametrize("noise", ["gaussian", "uniform", "rademacher", lambda rng, mean: mean + rng.normal(size=3)[1]])
def test_noise_of_each_graph_and_round_does_not_depend_on_what_was_played(noise):
    played = np.random.default_rng(0).integers(3, size=(4, 20))
    generators = [np.random.default_rng(0) for _ in played]
    table = {}
    for t in range(20):
        for actions, rng in zip(played, generators, strict=True):
            drawn = make(noise).draw(rng, MEANS, actions[t])
            assert table.setdefault((t, actions[t]), drawn) == drawn


@pytest.mark.parametrize("draws", ["round", "graph"])
def test_each_graph_may_have_noise_of_its_own(draws):
    deviations = [0.0, 1.0, 3.0]
    one, other = np.random.default_rng(0), np.random.default_rng(0)
    for action in (2, 0, 1, 2):
        expected = deviations[action] * make(draws=draws, noise_std=1.0).draw(other, MEANS, action)
        assert make(draws=draws, noise_std=deviations).draw(one, MEANS, action) == expected
