"""The most promising products of a library, and how many of the best ones they hold."""

import numpy as np
import pytest

from agents.products import BlockBeliefs, BlockKernel
from agents.products.lists import FIRST_LIST
from graph_bandit_campaign.model.generated import ProductPool
from graph_bandit_env.pools import Slot, from_smiles
from graph_bandit_env.pools.products import Part, ProductLibrary, Reaction, example_library

pytest.importorskip("rdkit")
LIBRARY = example_library()


def lists_after(library, numbers, values, taken, seed=0):
    return beliefs_of(library, numbers, values).lists(taken, seed)


def beliefs_of(library, numbers, values):
    kernels = [[BlockKernel.of(slot) for slot in part.slots] for part in library.parts]
    return BlockBeliefs(library, kernels, dict(zip(numbers, values, strict=True)))


def small_library():
    part = LIBRARY.parts[0]
    slots = [Slot(slot.name, "structure", slot.choices[:12], slot.graphs.take(range(12))) for slot in part.slots]
    return ProductLibrary([Part(reaction=part.reaction, slots=tuple(slots))])


def additive_values(library, seed=0):
    """Values that are sums over blocks, of all products."""
    generator = np.random.default_rng(seed)
    each = [generator.normal(size=size) for size in library.parts[0].sizes]
    blocks = library.blocks_of(np.arange(len(library)))
    return sum(values[blocks[:, slot]] for slot, values in enumerate(each))


def test_without_results_every_block_of_a_slot_is_listed_as_often():
    first = next(lists_after(LIBRARY, [], [], ()))
    assert len(set(first.tolist())) == len(first) == FIRST_LIST
    for slot, size in enumerate(LIBRARY.parts[0].sizes):
        counts = np.bincount(LIBRARY.blocks_of(first)[:, slot], minlength=size)
        assert counts.min() >= len(first) // size - 2
        assert counts.max() <= len(first) // size + 3


def test_lists_hold_different_products_none_of_them_taken_until_there_are_no_more():
    library = small_library()
    taken = {0, 5, 17}
    lists = [*lists_after(library, [0, 5], [1.0, 2.0], taken)]
    listed = np.concatenate(lists).tolist()
    assert len(listed) == len(set(listed))
    assert set(listed) == set(range(len(library))) - taken


def test_the_first_list_holds_the_best_of_sums_that_few_results_teach():
    values = additive_values(LIBRARY)
    told = LIBRARY.draw(400, np.random.default_rng(1))
    first = next(lists_after(LIBRARY, told.tolist(), values[told].tolist(), told.tolist()))
    left = np.setdiff1d(np.arange(len(LIBRARY)), told)
    best = left[np.argsort(-values[left])[:50]]
    assert np.isin(best, first).mean() > 0.9
    assert np.isin(best, LIBRARY.draw(len(first), np.random.default_rng(2))).mean() < 0.2


def test_blocks_predict_products_and_a_result_is_not_predicted_by_itself():
    measured = LIBRARY.draw(400, np.random.default_rng(1))
    values = additive_values(LIBRARY)
    beliefs = beliefs_of(LIBRARY, measured.tolist(), values[measured].tolist())
    others = np.setdiff1d(LIBRARY.draw(400, np.random.default_rng(2)), measured)
    forecasts = beliefs.forecasts(np.concatenate([measured, others]))
    known, new = forecasts[: len(measured)], forecasts[len(measured) :]
    assert np.corrcoef(new, values[others])[0, 1] > 0.5
    assert 0.3 < np.corrcoef(known, values[measured])[0, 1] < 0.95


def test_equal_products_are_one_molecule_that_is_known_by_both_names():
    halides = from_smiles(["CCCl", "CCBr"], ids=["a", "b"])
    slots = (
        Slot("halide", "structure", ("a", "b"), halides),
        Slot("amine", "structure", ("n",), from_smiles(["CN"], ids=["n"])),
    )
    library = ProductLibrary([Part(reaction=Reaction("amine", "[C:1][Cl,Br].[NH2:2]>>[C:1][N:2]"), slots=slots)])
    molecules = ProductPool(library).take(np.arange(2))
    assert (len(molecules), molecules.aliases) == (1, {"b+n": "a+n"})
