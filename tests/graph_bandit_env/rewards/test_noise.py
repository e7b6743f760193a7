import numpy as np
import pytest

from graph_bandit_env.rewards.noise import NoiseStream, make_noise

MEANS = np.array([0.0, 1.0, 5.0])


@pytest.mark.parametrize("name", ["gaussian", "uniform", "rademacher"])
def test_has_mean_zero_and_the_standard_deviation_that_is_asked(name):
    noise = NoiseStream(make_noise(name, 0.5), np.random.default_rng(0), "round", len(MEANS))
    drawn = np.array([noise.draw(MEANS, 1) for _ in range(20_000)])
    assert drawn.mean() == pytest.approx(0, abs=0.02)
    assert drawn.std() == pytest.approx(0.5, rel=0.02)


@pytest.mark.parametrize(("name", "bound"), [("uniform", 3**0.5), ("rademacher", 1.0)])
def test_bounded_noises_stay_within_their_bound(name, bound):
    noise = NoiseStream(make_noise(name, 2.0), np.random.default_rng(0), "round", len(MEANS))
    drawn = np.abs([noise.draw(MEANS, 1) for _ in range(1000)])
    assert drawn.max() <= 2 * bound
    assert drawn.max() == pytest.approx(2 * bound, rel=0.02)


def stream(noise="gaussian", draws="graph", seed=0):
    return NoiseStream(make_noise(noise, 0.5), np.random.default_rng(seed), draws, len(MEANS))


@pytest.mark.parametrize("noise", ["gaussian", "uniform", "rademacher", lambda rng, mean: mean + rng.normal(size=3)[1]])
def test_noise_of_each_graph_and_round_does_not_depend_on_what_was_played(noise):
    rng = np.random.default_rng(0)
    played = rng.integers(3, size=(4, 20))
    streams = [stream(noise) for _ in played]
    table = {}
    for t in range(20):
        for actions, one in zip(played, streams, strict=True):
            drawn = one.draw(MEANS, actions[t])
            assert table.setdefault((t, actions[t]), drawn) == drawn


@pytest.mark.parametrize("draws", ["round", "graph"])
@pytest.mark.parametrize("noise", ["gaussian", "uniform", "rademacher"])
def test_noise_drawn_ahead_is_what_would_be_drawn_round_by_round(noise, draws):
    ahead, one_by_one = stream(noise, draws), stream(noise, draws)
    for rounds in (3, 8):
        block = 0.5 * ahead.draw_ahead(rounds)
        expected = [one_by_one.draw(MEANS, 2) for _ in range(rounds)]
        assert block[:, 2 if draws == "graph" else 0].tolist() == expected


@pytest.mark.parametrize("draws", ["round", "graph"])
def test_each_graph_may_have_noise_of_its_own(draws):
    deviations = np.array([0.0, 1.0, 3.0])
    own, unit = (
        NoiseStream(make_noise("gaussian", std, 3), np.random.default_rng(0), draws, 3) for std in (deviations, 1)
    )
    for action in (2, 0, 1, 2):
        assert own.draw(MEANS, action) == deviations[action] * unit.draw(MEANS, action)
