"""Ways to search a library of products, and what is counted as found."""

import itertools

import numpy as np
import pytest

pytest.importorskip("rdkit")
pytest.importorskip("sklearn")

from benchmarks.products.objectives import CALM, OBJECTIVES, Objective, share_of_sums
from benchmarks.products.searchers import SEARCHERS
from graph_bandit_env.pools.products import Part, ProductLibrary, Slot, example_library

LIBRARY = example_library()


def small_library(size=40):
    part = LIBRARY.parts[0]
    slots = [Slot(name=slot.name, ids=slot.ids[:size], smiles=slot.smiles[:size]) for slot in part.slots]
    return ProductLibrary([Part(reaction=part.reaction, slots=tuple(slots))])


def sums(library, seed=0):
    generator = np.random.default_rng(seed)
    blocks = library.blocks_of(np.arange(len(library)))
    return sum(generator.normal(size=size)[blocks[:, slot]] for slot, size in enumerate(library.parts[0].sizes))


def search(name, library, values, evaluations):
    searcher, looked = SEARCHERS[name](library, 0), []
    while len(looked) < evaluations:
        numbers = searcher.ask()
        searcher.tell(numbers, values[numbers])
        looked += numbers.tolist()
    return looked


@pytest.mark.parametrize("name", SEARCHERS)
def test_no_product_is_asked_for_twice(name):
    library = small_library()
    values = sums(library)
    values[::17] = np.nan if name != "campaign" else 0.0  # a campaign never asks for what cannot be made
    looked = search(name, library, values, 700)
    assert len(set(looked)) == len(looked)


def test_all_find_more_of_sums_than_chance():
    library = small_library()
    objective = Objective(library, sums(library), 1.0)
    found = {name: objective.count_found(search(name, library, objective.values, 600)[:600], 50) for name in SEARCHERS}
    assert min(found[name] for name in SEARCHERS if name != "random") > 1.3 * found["random"]


def test_of_products_that_tie_for_the_last_place_any_counts():
    objective = Objective(LIBRARY, np.array([3.0, 2.0, 2.0, 2.0, 1.0, np.nan]), 1.0)
    assert [objective.count_found(some, most=2) for some in ([0, 1], [0, 3], [1, 2, 3], [3, 4], [4])] == [2, 2, 2, 1, 0]


def test_sums_explain_all_of_sums_and_a_known_share_of_interactions():
    library = small_library(20)
    sizes = library.parts[0].sizes
    assert share_of_sums(sums(library).reshape(sizes)) == pytest.approx(1)
    values = OBJECTIVES["interactions"][1](library, "choose", None).reshape(sizes)
    every = values - values.mean()
    own = [every.mean(axis=1 - axis, keepdims=True) for axis in range(2)]
    expected = 1 - np.var(every - own[0] - own[1]) / np.var(every)
    assert share_of_sums(values) == pytest.approx(expected)
    assert expected == pytest.approx(CALM, abs=0.02)


def test_interactions_of_two_purposes_differ():
    library = small_library(10)
    first, second = (OBJECTIVES["interactions"][1](library, purpose, None) for purpose in ("choose", "report"))
    assert not np.allclose(first, second)
    assert all(len(values) == len(library) for values in itertools.chain([first], [second]))
