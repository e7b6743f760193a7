"""The compiled sums are those of the plain route, more exact than it, and depend on two graphs alone."""

import mpmath
import numba
import numpy as np
import pytest
import torch
from mpmath import mpf

from gntk import AggregatedGraphs, select_graphs
from gntk.infinite_width import node_pair_sums_in_torch
from gntk.node_pairs import TILE, arcsin, node_pair_sums, obtuse_ratio

SIZES = (5, 1, 2 * TILE + 3, 7, TILE, 2, 1, 12)


def graphs_of(*sets):
    """Graphs of these nodes, undivided."""
    offsets = torch.tensor([0, *np.cumsum([len(nodes) for nodes in sets])])
    return AggregatedGraphs(torch.tensor(np.concatenate(sets)), offsets, torch.ones(len(sets)).double())


def random_sets(sizes=SIZES, feature_dim=5, seed=0):
    """Nodes of any length, some of them zero, equal or opposite."""
    rng = np.random.default_rng(seed)
    sets = [rng.normal(size=(n, feature_dim)) for n in sizes]
    sets[0][2] = 0
    sets[2][5:8] = [sets[0][0], 3 * sets[0][1], -2 * sets[0][1]]
    return sets


def in_python(loop):
    """The loop before it is compiled, for numbers that Numba does not know."""
    return getattr(loop, "py_func", loop)


def exact_kernel(h, g, depth):
    """Forty digits of k_MLP by the recursion of Jacot et al."""
    h, g = [mpf(x) for x in h.tolist()], [mpf(x) for x in g.tolist()]
    lengths = mpmath.norm(h) * mpmath.norm(g)
    if not lengths:
        return mpf(0)
    cosine = tau = max(min(mpmath.fdot(h, g) / lengths, mpf(1)), mpf(-1))
    for layer in range(1, depth):
        angle = mpmath.acos(cosine)
        rest = mpmath.pi - angle
        cosine = (mpmath.sin(angle) + rest * cosine) / mpmath.pi
        tau = cosine / 2**layer + tau * rest / (2 * mpmath.pi)
    return lengths * tau


# --- Accuracy


def test_the_arc_sine_errs_by_what_its_docstring_says():
    with mpmath.workdps(40):
        for s in [mpf(k) / 600 for k in range(-300, 301) if k]:
            assert abs(in_python(arcsin)(s, s * s) / mpmath.asin(s) - 1) < mpf(2) ** -57
            assert abs(mpf(arcsin(float(s), float(s) ** 2)) / mpmath.asin(mpf(float(s))) - 1) < 2.3e-16


def test_the_kernel_of_obtuse_angles_errs_by_what_its_docstring_says():
    with mpmath.workdps(40):
        for gap in [mpf(k) / 500 for k in range(1, 501)]:
            angle = mpmath.acos(gap - 1)
            tau = (mpmath.sin(angle) / 2 + (mpmath.pi - angle) * (gap - 1)) / mpmath.pi
            assert abs(in_python(obtuse_ratio)(gap) - tau / mpmath.sqrt(gap)) < mpf(2) ** -55


@pytest.mark.parametrize("feature_dim", [1, 3, 16])
@pytest.mark.parametrize("depth", [2, 3, 4])
def test_each_pair_of_nodes_is_exact_to_1e_15_however_small_the_angle(feature_dim, depth):
    rng = np.random.default_rng(1)
    unit = rng.normal(size=feature_dim)
    unit /= np.linalg.norm(unit)
    nodes = [unit, 3 * unit, -unit, 0 * unit, unit + rng.normal(size=feature_dim)]
    for size in (0.2, 1e-2, 1e-4, 1e-8, 1e-12, 1e-16):
        nodes += [sign * unit + size * rng.normal(size=feature_dim) for sign in (1, -1)]
    graphs = graphs_of(*[node[None] for node in nodes])
    compiled, plain = node_pair_sums(graphs, graphs, depth), node_pair_sums_in_torch(graphs, graphs, depth)
    with mpmath.workdps(40):
        for i, h in enumerate(nodes):
            for j, g in enumerate(nodes):
                expected, lengths = exact_kernel(h, g, depth), np.linalg.norm(h) * np.linalg.norm(g)
                assert abs(compiled[i, j].item() - expected) <= 1e-15 * lengths
                assert abs(plain[i, j].item() - expected) <= 2e-8 * lengths


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_sums_are_those_of_torch(depth):
    graphs = graphs_of(*random_sets(feature_dim=16))
    others = graphs_of(*random_sets(sizes=(3, 40, 90), feature_dim=16, seed=1))
    for columns in (graphs, others):
        expected = node_pair_sums_in_torch(graphs, columns, depth)
        torch.testing.assert_close(node_pair_sums(graphs, columns, depth), expected, rtol=1e-8, atol=1e-7)


@pytest.mark.parametrize("depth", [2, 3])
def test_what_is_not_a_number_stays_so_in_its_graph_alone(depth):
    sets = random_sets()
    sets[3][1, 0] = np.nan
    sums = node_pair_sums(graphs_of(*sets), graphs_of(*sets[:3], *sets[4:]), depth)
    assert sums[3].isnan().all()
    assert not sums[[0, 1, 2, 4, 5, 6, 7]].isnan().any()


# --- An entry depends on its two graphs alone, to the last bit


@pytest.mark.parametrize("depth", [2, 3])
def test_a_sum_is_the_same_number_in_any_company(depth):
    graphs = graphs_of(*random_sets())
    whole = node_pair_sums(graphs, graphs, depth)
    assert torch.equal(whole, whole.T)
    rng = np.random.default_rng(0)
    for _ in range(2 if numba.config.DISABLE_JIT else 10):
        rows, columns = (torch.from_numpy(rng.choice(len(SIZES), rng.integers(1, 9))) for _ in range(2))
        some, others = select_graphs(graphs, rows), select_graphs(graphs, columns)
        assert torch.equal(node_pair_sums(some, others, depth), whole[rows][:, columns])
        assert torch.equal(node_pair_sums(some, some, depth), whole[rows][:, rows])


def test_a_set_may_be_empty():
    graphs = graphs_of(*random_sets())
    nothing = select_graphs(graphs, torch.zeros(0, dtype=torch.int64))
    assert node_pair_sums(graphs, nothing, 2).shape == (len(SIZES), 0)
    assert node_pair_sums(nothing, graphs, 2).shape == (0, len(SIZES))
    assert node_pair_sums(nothing, nothing, 2).shape == (0, 0)
