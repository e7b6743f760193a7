import mpmath
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from agents.beliefs import Belief
from agents.beliefs.rules import ExpectedImprovement
from agents.beliefs.rules.memoryless import log_gain
from agents.contract.inputs import masked_argmax

MASK, GENERATOR = torch.ones(3, dtype=torch.bool), torch.Generator()


def index_of(mean, spread, best=None):
    belief = Belief(torch.tensor(mean, dtype=torch.float64), torch.tensor(spread, dtype=torch.float64), best=best)
    return ExpectedImprovement()(belief, MASK, GENERATOR)


@pytest.mark.parametrize(("mean", "spread", "best"), [(0.3, 1.2, 0.5), (2.0, 0.1, 1.0), (-1.0, 0.5, 1.5)])
def test_it_is_the_integral_of_the_gain(mean, spread, best):
    expected, _ = quad(lambda r: (r - best) * norm.pdf(r, mean, spread), best, best + 12 * spread + 12, epsabs=1e-12)
    found = index_of([mean] * 3, [spread] * 3, best)[0].exp().item()
    assert found == pytest.approx(expected, rel=1e-8)


@given(st.floats(-1e6, 40.0))
def test_the_logarithm_is_that_of_the_plain_formula_in_many_digits(z):
    with mpmath.workdps(60):
        expected = float(mpmath.log(mpmath.npdf(z) + z * mpmath.ncdf(z))) if z > -1e3 else None
        if expected is None:  # phi(z) (z^-2 - 3 z^-4 + ...)
            expected = float(-(mpmath.mpf(z) ** 2) / 2 - mpmath.log(2 * mpmath.pi) / 2 - 2 * mpmath.log(-z))
    assert log_gain(torch.tensor([z], dtype=torch.float64)).item() == pytest.approx(expected, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("z", [-1000.5, -1500.0, -4000.0])
def test_far_below_zero_the_series_keeps_the_digits(z):
    with mpmath.workdps(80):
        expected = float(mpmath.log(mpmath.npdf(z) + z * mpmath.ncdf(z)))
    assert log_gain(torch.tensor([z], dtype=torch.float64)).item() == pytest.approx(expected, rel=0, abs=1e-8)


@given(st.floats(-1e6, 1e6), st.floats(0, 1e3), st.floats(-1e6, 1e6))
def test_it_is_never_nan(mean, spread, best):
    assert not index_of([mean, best, 0.0], [spread, 0.0, 1.0], best).isnan().any()


def test_a_sure_gain_is_the_gain_and_a_sure_loss_gains_nothing():
    gains = index_of([3.0, 1.0, 0.0], [0.0, 0.0, 0.0], best=1.0).exp()
    assert gains[0].item() == pytest.approx(2.0)
    assert gains[1].item() == pytest.approx(0.0, abs=1e-12)
    assert gains[2].item() == pytest.approx(0.0, abs=1e-40)


def test_graphs_that_cannot_be_played_do_not_hide_how_the_others_differ():
    belief = Belief(torch.tensor([9.0, -1e4, -1e4 - 1]).double(), torch.ones(3).double(), best=0.0)
    left = torch.tensor([False, True, True])
    index = ExpectedImprovement()(belief, left, GENERATOR)
    assert masked_argmax(index, left, GENERATOR) == 1


def test_the_best_mean_counts_only_where_it_was_seen():
    """A graph that looks best and was never played still gains; one that was played gains by its uncertainty alone."""
    unseen, seen = index_of([1.0, 0.0, 0.0], [0.1] * 3, best=0.0), index_of([1.0, 0.0, 0.0], [0.1] * 3, best=1.0)
    assert unseen[0].exp().item() == pytest.approx(1.0, rel=1e-6)
    assert seen[0].exp().item() == pytest.approx(0.1 * norm.pdf(0), rel=1e-6)
