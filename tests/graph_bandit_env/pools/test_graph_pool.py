import numpy as np
import pytest
import torch

from graph_bandit_env import GraphPool, GraphSet
from graph_bandit_env.files import digest
from graph_bandit_env.pools import KernelPool

NODES = [np.ones((n, 2)) for n in (1, 2, 3)]
LINKS = [[], [[0, 1], [1, 0]], [[0, 1], [1, 0], [1, 2], [2, 1]]]


def test_a_pool_is_a_graph_set_with_names_and_targets():
    pool = GraphPool(NODES, LINKS, ids=["a", "b", "c"], targets=[1, float("nan"), 3])
    assert isinstance(pool, GraphSet)
    assert pool.num_nodes.tolist() == [1, 2, 3]
    assert pool[2].edge_links.tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]
    assert pool.ids == ("a", "b", "c")
    assert pool.targets.dtype == np.float64
    assert pool.known.tolist() == [True, False, True]
    assert repr(pool) == "GraphPool(3 graphs, 1 to 3 nodes, 2 features, 2 measured)"


def test_a_pool_can_leave_its_targets_behind():
    pool = GraphPool(NODES, LINKS, ids=["a", "b", "c"], targets=[1, float("nan"), 3])
    bare = pool.without_targets()
    assert not bare.known.any()
    assert bare.ids == pool.ids
    assert bare[2].edge_links.tolist() == pool[2].edge_links.tolist()
    assert pool.known.tolist() == [True, False, True]


@pytest.mark.parametrize("targets", [np.arange(3), torch.arange(3.0), (0, 1, 2)])
def test_targets_cannot_be_changed_from_outside(targets):
    pool = GraphPool(NODES, LINKS, targets=targets)
    if not isinstance(targets, tuple):
        targets[0] = 9
    assert pool.targets.tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        pool.targets[0] = 9


@pytest.mark.parametrize(
    ("arguments", "error", "field"),
    [
        ({"ids": ["a", "b"]}, ValueError, "identifier"),
        ({"ids": ["a", "b", "a"]}, ValueError, "ids"),
        ({"ids": ["a", "", "c"]}, ValueError, "ids"),
        ({"ids": ["a", 7, "c"]}, TypeError, "ids"),
        ({"ids": "abc"}, TypeError, "ids"),
        ({"targets": [1.0]}, ValueError, "targets"),
        ({"targets": [1.0, float("-inf"), 2.0]}, ValueError, "targets"),
        ({"targets": [1.0, "high", 2.0]}, TypeError, "targets"),
    ],
)
def test_mistakes_are_told(arguments, error, field):
    with pytest.raises(error, match=field):
        GraphPool(NODES, LINKS, **arguments)


PLACES = np.linspace(0, 10, 40)
KERNEL = np.exp(-((PLACES[:, None] - PLACES) ** 2))
VALUES = np.sin(PLACES) + PLACES / 10


def test_some_of_it_have_their_part_of_the_kernel():
    some = KernelPool(KERNEL, targets=VALUES).take([7, 3])
    assert some.ids == ("7", "3")
    assert (some.kernel == KERNEL[np.ix_([7, 3], [7, 3])]).all()
    assert (some.targets == VALUES[[7, 3]]).all()


@pytest.mark.parametrize("kernel", [KERNEL[:3], KERNEL[0], np.full((2, 2), np.nan)])
def test_what_is_not_a_square_of_numbers_is_refused(kernel):
    with pytest.raises(ValueError, match="kernel"):
        KernelPool(kernel)


def test_other_kernels_have_other_digests():
    assert digest(KernelPool(KERNEL)) == digest(KernelPool(KERNEL.copy()))
    assert digest(KernelPool(KERNEL)) != digest(KernelPool(KERNEL**2))
