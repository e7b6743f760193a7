import numpy as np
import pytest

from graph_bandit_env.noise import make_noise


@pytest.mark.parametrize("name", ["gaussian", "uniform", "rademacher"])
def test_has_mean_zero_and_the_standard_deviation_that_is_asked(name):
    rng, noise = np.random.default_rng(0), make_noise(name, 0.5)
    drawn = np.array([noise(rng, 3.0) for _ in range(20_000)])
    assert drawn.mean() == pytest.approx(0, abs=0.02)
    assert drawn.std() == pytest.approx(0.5, rel=0.02)


@pytest.mark.parametrize(("name", "bound"), [("uniform", 3**0.5), ("rademacher", 1.0)])
def test_bounded_noises_stay_within_their_bound(name, bound):
    rng, noise = np.random.default_rng(0), make_noise(name, 2.0)
    drawn = np.abs([noise(rng, 0.0) for _ in range(1000)])
    assert drawn.max() <= 2 * bound
    assert drawn.max() == pytest.approx(2 * bound, rel=0.02)


def test_a_function_of_ones_own_is_given_the_mean():
    assert make_noise(lambda rng, mean: 10 * mean, 0.1)(np.random.default_rng(0), 0.5) == 5.0


def test_refuses_an_unknown_name_and_shows_the_nearest():
    with pytest.raises(ValueError, match="Did you mean `gaussian`"):
        make_noise("gausian", 0.1)
