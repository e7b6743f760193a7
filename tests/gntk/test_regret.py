import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from agents.neural.covariance import DiagonalCovariance, FrozenCovariance, RefreshedCovariance
from gntk import effective_dimension, elliptical_potential, information_gain, regret_bound, rkhs_norm
from gntk.engines import HeldFeatures

PROBLEM = {
    "effective_dimension": 3.0,
    "horizon": 1000,
    "num_graphs": 50,
    "ridge": 0.5,
    "norm_bound": 2.0,
    "largest_eigenvalue": 20.0,
    "noise_std": 0.3,
}
sequences = arrays(np.float64, (6, 3), elements=st.floats(-3, 3))
ridges = st.floats(1e-2, 1e2)


def play(features, ridge):
    """The definition: sigma_s^2 = psi_s^T U^{-1} psi_s, with U inverted before each of the plays; and the last U."""
    U, variances = ridge * np.eye(features.shape[1]), []
    for psi in features:
        variances.append(psi @ np.linalg.inv(U) @ psi)
        U += np.outer(psi, psi)
    return np.array(variances), U


def log_determinant(matrix):
    return np.linalg.slogdet(matrix).logabsdet


@given(sequences, ridges)
def test_the_potential_never_passes_the_determinant_of_u(features, ridge):
    variances, U = play(features, ridge)
    potential, bound = elliptical_potential(variances)
    assert potential[-1] == pytest.approx(sum(min(1.0, variance) for variance in variances))
    assert potential[-1] <= 2 * log_determinant(U / ridge) + 1e-8
    assert bound[-1] == pytest.approx(2 * log_determinant(U / ridge), abs=1e-8)


def test_both_sides_run_with_the_rounds():
    potential, bound = elliptical_potential([0.0, 0.5, 3.0])
    np.testing.assert_allclose(potential, [0, 0.5, 1.5])
    np.testing.assert_allclose(bound, 2 * np.log([1, 1.5, 6]))
    assert [len(side) for side in elliptical_potential([])] == [0, 0]


@given(arrays(np.float64, (4, 2), elements=st.floats(-3, 3)), st.lists(st.integers(0, 3), min_size=1), ridges)
def test_no_play_of_a_graph_set_passes_what_its_effective_dimension_allows(features, actions, ridge):
    _, bound = elliptical_potential(play(features[actions], ridge)[0])
    kernel, horizon = features @ features.T, len(actions)
    allowed = effective_dimension(kernel, horizon, ridge) * math.log1p(horizon * np.linalg.norm(kernel, 2) / ridge)
    assert bound[-1] <= 2 * allowed + 1e-8


def test_features_that_move_have_the_determinant_of_the_u_that_keeps_them():
    """Each round has its own features, as at moving weights. Refreshed, U forgets them, and the sum is of no one U."""
    ridge, rounds = 0.4, np.random.default_rng(0).normal(size=(8, 5, 3)).astype(np.float32)
    actions = [0, 1, 0, 2, 4, 0, 3, 1]
    U = ridge * np.eye(3) + sum(np.outer(psi[a], psi[a]) for psi, a in zip(rounds, actions, strict=True))

    def bound(covariance):
        variances = []
        for psi, action in zip(torch.from_numpy(rounds), actions, strict=True):
            features = HeldFeatures(torch.zeros(5), psi)
            variances.append(covariance.variance(features)[action])
            covariance.add(features, torch.tensor([action]))
        return elliptical_potential(variances)[1][-1].item()

    assert bound(FrozenCovariance(ridge, 3)) == pytest.approx(2 * log_determinant(U / ridge), rel=1e-6)
    assert bound(RefreshedCovariance(ridge, 5)) != pytest.approx(2 * log_determinant(U / ridge), rel=1e-2)
    assert bound(DiagonalCovariance(ridge, 3)) < 2 * np.log(np.diag(U) / ridge).sum()


@pytest.mark.parametrize("variances", [[-0.1], [np.nan], [np.inf], [[1.0]]])
def test_refuses_what_are_no_variances(variances):
    with pytest.raises(ValueError, match="`variances`"):
        elliptical_potential(variances)


@given(sequences, sequences, ridges)
def test_information_moves_no_further_than_the_kernel(features, others, ridge):
    """Log det(I + A) is concave with a gradient (I + A)^{-1} <= I, so that it moves by at most |A - B|_* (Hölder)."""
    A, B = features @ features.T, others @ others.T
    moved = abs(information_gain(A, ridge) - information_gain(B, ridge))
    assert moved <= np.linalg.norm(A - B, "nuc") / (2 * ridge) + 1e-8


def test_information_moves_as_far_as_the_kernel_where_there_is_none_yet():
    small = 1e-6 * np.diag([1.0, 2.0, 0.0])
    assert information_gain(small, 0.5) == pytest.approx(np.linalg.norm(small, "nuc") / (2 * 0.5), rel=1e-5)


def test_the_bound_of_one_round_by_hand():
    """c_T = 0 and nu_T = B sqrt(ridge) = 6, but no graph costs more than 2 B sqrt(rho_max) = 6 sqrt(rho_max)."""
    one = {"effective_dimension": 2, "horizon": 1, "num_graphs": 1, "ridge": 4, "norm_bound": 3}
    assert regret_bound(**one, largest_eigenvalue=4 * math.expm1(1)) == pytest.approx(12 * math.sqrt(4 * math.expm1(1)))
    assert regret_bound(**one, largest_eigenvalue=4 * math.expm1(0.1)) == pytest.approx(6 * math.sqrt(0.4))


@pytest.mark.parametrize(("horizon", "num_graphs"), [(1, math.exp(8)), (math.exp(4), 1)])
def test_the_bound_reads_the_same_determinant_as_the_effective_dimension(horizon, num_graphs):
    """With B = 0 and c_T = 4, what is left is (1 + 4) 4 noise_std sqrt(2 T log det(I + T K / ridge))."""
    features = np.random.default_rng(0).normal(size=(6, 3))
    kernel = features @ features.T
    bound = regret_bound(
        effective_dimension=effective_dimension(kernel, horizon, 0.7),
        horizon=horizon,
        num_graphs=num_graphs,
        ridge=0.7,
        norm_bound=0,
        largest_eigenvalue=np.linalg.norm(kernel, 2),
        noise_std=0.1,
    )
    assert bound == pytest.approx(2 * math.sqrt(2 * horizon * log_determinant(np.eye(6) + horizon * kernel / 0.7)))


@pytest.mark.parametrize("name", sorted(PROBLEM.keys() - {"ridge"}))
@given(st.floats(1.01, 1e3), st.floats(1e-3, 1e3))
def test_a_larger_problem_has_a_larger_bound(name, factor, ridge):
    problem = PROBLEM | {"ridge": ridge, "norm_bound": 0.1}  # so small that a round may cost more than its uncertainty
    assert regret_bound(**problem | {name: factor * problem[name]}) > regret_bound(**problem)


def test_neither_noise_nor_graphs_make_a_round_cost_more_than_there_is_to_lose():
    problem = PROBLEM | {"norm_bound": 1e3, "ridge": 1e-3}
    assert regret_bound(**problem | {"noise_std": 1.0, "num_graphs": 500}) == regret_bound(**problem)


@given(st.floats(1e-3, 1e3), st.floats(1.01, 1e3))
def test_the_ridge_trades_noise_for_bias(ridge, factor):
    noisy, exact = PROBLEM | {"norm_bound": 0}, PROBLEM | {"noise_std": 0}
    assert regret_bound(**noisy | {"ridge": factor * ridge}) < regret_bound(**noisy | {"ridge": ridge})
    ridge = max(ridge, PROBLEM["largest_eigenvalue"])  # from here on the bias is what a round can cost
    assert regret_bound(**exact | {"ridge": factor * ridge}) > regret_bound(**exact | {"ridge": ridge})


@given(st.floats(1e-3, 1e3))
def test_the_bound_is_in_reward_units_whatever_the_units_of_the_kernel(unit):
    bound, p = regret_bound(**PROBLEM), PROBLEM
    rewards = p | {"norm_bound": unit * p["norm_bound"], "noise_std": unit * p["noise_std"]}
    assert regret_bound(**rewards) == pytest.approx(unit * bound)
    kernel = p | {name: unit * p[name] for name in ("ridge", "largest_eigenvalue")}
    assert regret_bound(**kernel | {"norm_bound": p["norm_bound"] / math.sqrt(unit)}) == pytest.approx(bound)


def test_the_bound_grows_as_the_root_of_dimension_and_horizon():
    assert regret_bound(**PROBLEM | {"effective_dimension": 12.0}) == pytest.approx(2 * regret_bound(**PROBLEM))
    late, later = (regret_bound(**PROBLEM | {"horizon": horizon}) for horizon in (10**12, 10**16))
    assert 0.5 < math.log10(later / late) / 4 < 0.6


@pytest.mark.parametrize("nothing", [{"effective_dimension": 0}, {"largest_eigenvalue": 0}, {"constant": 0}])
def test_where_there_is_nothing_to_learn_there_is_nothing_to_lose(nothing):
    assert regret_bound(**PROBLEM | nothing) == 0


def test_the_constant_multiplies():
    assert regret_bound(**PROBLEM, constant=212.0) == pytest.approx(212 * regret_bound(**PROBLEM))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("effective_dimension", -1),
        ("horizon", 0),
        ("num_graphs", 0),
        ("ridge", 0),
        ("ridge", math.inf),
        ("norm_bound", math.inf),
        ("norm_bound", -0.5),
        ("largest_eigenvalue", math.nan),
        ("largest_eigenvalue", -0.5),
        ("noise_std", -0.1),
        ("constant", -1),
    ],
)
def test_refuses_what_bounds_nothing(name, value):
    with pytest.raises(ValueError, match=f"`{name}`"):
        regret_bound(**PROBLEM | {name: value})


def test_thompson_sampling_stays_below_the_bound_that_random_play_passes():
    """Eight graphs on a sphere, one exactly where the weights point; ridge regression with the exact covariance."""
    horizon, ridge, noise_std, generator = 10_000, 0.01, 0.05, np.random.default_rng(0)
    features = generator.normal(size=(8, 3))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    means, kernel = features @ features[0], features @ features.T
    norm_bound = rkhs_norm(kernel, means)
    bound = regret_bound(
        effective_dimension=effective_dimension(kernel, horizon, ridge),
        horizon=horizon,
        num_graphs=len(features),
        ridge=ridge,
        norm_bound=norm_bound,
        largest_eigenvalue=np.linalg.norm(kernel, 2),
        noise_std=noise_std,
    )
    scale = norm_bound * math.sqrt(ridge) + noise_std * math.sqrt(4 * math.log(horizon) + 2 * math.log(len(features)))
    inverse, moment, regret = np.eye(3) / ridge, np.zeros(3), 0.0
    for _ in range(horizon):
        spread = np.sqrt(np.einsum("kp,pq,kq->k", features, inverse, features))
        action = generator.normal(features @ inverse @ moment, scale * spread).argmax()
        psi, regret = features[action], regret + means[0] - means[action]
        inverse -= np.outer(inverse @ psi, inverse @ psi) / (1 + psi @ inverse @ psi)
        moment += psi * (means[action] + generator.normal(scale=noise_std))
    assert 0 < regret < bound / 2
    assert horizon * (means[0] - means.mean()) > 2 * bound
