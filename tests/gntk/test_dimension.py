import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gntk import effective_dimension, elliptical_potential, information_gain, regret_bound, rkhs_norm


def test_equals_the_determinants_it_is_defined_by():
    features = np.random.default_rng(0).normal(size=(5, 3))
    kernel = features @ features.T
    expected = np.log(np.linalg.det(np.eye(5) + 200 * kernel / 0.5)) / np.log(1 + 200 * np.linalg.norm(kernel, 2) / 0.5)
    assert effective_dimension(kernel, 200, 0.5) == pytest.approx(expected)


@given(arrays(np.float64, (4, 2), elements=st.floats(-3, 3)), st.integers(1, 10**6), st.floats(1e-3, 1e3))
def test_lies_between_zero_and_the_rank(features, horizon, ridge):
    kernel = features @ features.T
    rounding = 16 * np.finfo(np.float64).eps * np.trace(kernel)  # of eigenvalues that should be 0
    assert 0 <= effective_dimension(kernel, horizon, ridge) <= 2 + 1e-12 + horizon / ridge * rounding


def test_information_adds_up_over_rounds():
    """Chain rule: each reward tells (1/2) log(1 + variance / ridge), the variance shrunk by those before."""
    features, posterior, expected = np.random.default_rng(0).normal(size=(7, 3)), np.eye(3), 0.0
    for psi in features:
        variance = psi @ posterior @ psi
        expected += 0.5 * np.log1p(variance / 0.3)
        posterior -= np.outer(posterior @ psi, posterior @ psi) / (0.3 + variance)
    assert information_gain(features @ features.T, 0.3) == pytest.approx(expected, rel=1e-10)


@given(arrays(np.float64, (5, 2), elements=st.floats(-3, 3)), st.floats(1e-3, 1e3))
def test_one_more_round_never_loses_information(psi, ridge):
    before = information_gain(psi[:4] @ psi[:4].T, ridge)
    assert information_gain(psi @ psi.T, ridge) >= before - 1e-8


def test_norm_of_a_linear_function_is_that_of_its_weights():
    features = np.random.default_rng(0).normal(size=(8, 3))
    weights = np.array([1.0, -2.0, 0.5])
    assert rkhs_norm(features @ features.T, features @ weights) == pytest.approx(np.linalg.norm(weights), rel=1e-6)


@pytest.mark.parametrize("asymmetry", [0.9e-8, 0.9e-5 * 3])
def test_rounding_errors_of_a_kernel_are_no_reason_to_refuse_it(asymmetry):
    """Entries off the diagonal may differ by 1e-8, or by 1e-5 of what they are; eigenvalues by 1e-6 of the largest."""
    entry = 3.0 if asymmetry > 1e-8 else 0.0
    kernel = np.array([[10.0, entry + asymmetry], [entry, 10.0]])
    assert information_gain(kernel, 1.0) == pytest.approx(information_gain((kernel + kernel.T) / 2, 1.0), rel=1e-4)
    kernel[0, 1] += asymmetry
    with pytest.raises(ValueError, match="symmetric"):
        information_gain(kernel, 1.0)
    assert information_gain(np.diag([1e6, -0.9]), 1.0) == pytest.approx(np.log1p(1e6) / 2)


def test_a_cutoff_leaves_out_eigenvalues_below_that_part_of_the_largest():
    kernel, means = np.diag([0.4, 0.1, 0.025]), [2.0, 1.0, 0.5]  # a square of 10 in each direction
    norms = [rkhs_norm(kernel, means, cutoff) for cutoff in (0.0, 0.1, 0.3)]
    assert norms == pytest.approx([30**0.5, 20**0.5, 10**0.5])


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


@given(arrays(np.float64, (4, 2), elements=st.floats(-3, 3)), st.lists(st.integers(0, 3), min_size=1), ridges)
def test_no_play_of_a_graph_set_passes_what_its_effective_dimension_allows(features, actions, ridge):
    _, bound = elliptical_potential(play(features[actions], ridge)[0])
    kernel, horizon = features @ features.T, len(actions)
    allowed = effective_dimension(kernel, horizon, ridge) * math.log1p(horizon * np.linalg.norm(kernel, 2) / ridge)
    assert bound[-1] <= 2 * allowed + 1e-8


@given(sequences, sequences, ridges)
def test_information_moves_no_further_than_the_kernel(features, others, ridge):
    """Log det(I + A) is concave with a gradient (I + A)^{-1} <= I, so that it moves by at most |A - B|_* (Hölder)."""
    A, B = features @ features.T, others @ others.T
    moved = abs(information_gain(A, ridge) - information_gain(B, ridge))
    assert moved <= np.linalg.norm(A - B, "nuc") / (2 * ridge) + 1e-8


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


@given(st.floats(1e-3, 1e3))
def test_the_bound_is_in_reward_units_whatever_the_units_of_the_kernel(unit):
    bound, p = regret_bound(**PROBLEM), PROBLEM
    rewards = p | {"norm_bound": unit * p["norm_bound"], "noise_std": unit * p["noise_std"]}
    assert regret_bound(**rewards) == pytest.approx(unit * bound)
    kernel = p | {name: unit * p[name] for name in ("ridge", "largest_eigenvalue")}
    assert regret_bound(**kernel | {"norm_bound": p["norm_bound"] / math.sqrt(unit)}) == pytest.approx(bound)


@pytest.mark.parametrize(
    ("function", "arguments", "field"),
    [
        *((effective_dimension, [kernel], "`kernel`") for kernel in ([[np.nan]], [[-1.0]], [[1.0, 5.0], [0.0, 1.0]])),
        (effective_dimension, [np.diag([1e6, -1.1])], "`kernel`"),
        *((effective_dimension, [np.eye(2), horizon], "`horizon`") for horizon in (0, math.inf)),
        *((effective_dimension, [np.eye(2), 10, ridge], "`ridge`") for ridge in (0.0, math.nan)),
        (information_gain, [np.zeros((2, 3)), 1.0], "`kernel`"),
        (information_gain, [np.eye(2), 0.0], "`ridge`"),
        *((rkhs_norm, [np.eye(2), means], "`means`") for means in ([1.0], [np.inf, np.nan])),
        (rkhs_norm, [np.eye(2), [1.0, 1.0], 1.0], "`cutoff`"),
        *((elliptical_potential, [variances], "`variances`") for variances in ([-0.1], [np.nan], [[1.0]])),
        *((regret_bound, PROBLEM | {name: -0.5}, f"`{name}`") for name in PROBLEM),
        (regret_bound, PROBLEM | {"largest_eigenvalue": math.nan}, "`largest_eigenvalue`"),
    ],
)
def test_refuses_what_has_no_dimension_norm_or_bound(function, arguments, field):
    with pytest.raises(ValueError, match=field):
        function(**arguments) if isinstance(arguments, dict) else function(*arguments)


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
