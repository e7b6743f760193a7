"""The most promising products of a library, and how many of the best ones they hold."""

import numpy as np
import pytest

from graph_bandit_campaign.model import products
from graph_bandit_campaign.model.products import BlockBeliefs, ProductLists, read_kernels
from graph_bandit_env.pools.products import Part, ProductLibrary, Reaction, Slot, example_library

pytest.importorskip("rdkit")
LIBRARY = example_library()


def lists_after(library, numbers, values, taken, seed=0):
    beliefs = BlockBeliefs(library, read_kernels(library), numbers, values)
    return ProductLists(beliefs, seed).after(taken)


def small_library():
    part = LIBRARY.parts[0]
    slots = [Slot(name=slot.name, ids=slot.ids[:12], smiles=slot.smiles[:12]) for slot in part.slots]
    return ProductLibrary([Part(reaction=part.reaction, slots=tuple(slots))])


def additive_values(library, seed=0):
    """Values that are sums over blocks, of all products."""
    generator = np.random.default_rng(seed)
    each = [generator.normal(size=size) for size in library.parts[0].sizes]
    blocks = library.blocks_of(np.arange(len(library)))
    return sum(values[blocks[:, slot]] for slot, values in enumerate(each))


def test_without_results_every_block_of_a_slot_is_listed_as_often():
    first = next(lists_after(LIBRARY, [], [], ()))
    assert len(set(first.tolist())) == len(first) == products.FIRST_LIST
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


def test_lists_follow_from_the_seed():
    told, values = [3, 700, 9000], [0.1, 0.5, 0.3]
    lists = [next(lists_after(LIBRARY, told, values, told, seed)) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(lists[0], lists[1])
    assert (lists[0] != lists[2]).any()


def test_reactions_without_results_are_listed_at_random():
    part = LIBRARY.parts[0]
    other = Part(reaction=Reaction("other", part.reaction.smarts), slots=part.slots)
    library = ProductLibrary([part, other])
    told = LIBRARY.draw(50, np.random.default_rng(0))
    first = next(lists_after(library, told.tolist(), additive_values(LIBRARY)[told].tolist(), told.tolist()))
    share = (library.part_of(first) == 1).mean()
    assert 0 < share < 0.5


def test_blocks_predict_products_and_a_result_is_not_predicted_by_itself():
    measured = LIBRARY.draw(400, np.random.default_rng(1))
    values = additive_values(LIBRARY)
    beliefs = BlockBeliefs(LIBRARY, read_kernels(LIBRARY), measured.tolist(), values[measured].tolist())
    others = np.setdiff1d(LIBRARY.draw(400, np.random.default_rng(2)), measured)
    forecasts = beliefs.forecasts(np.concatenate([measured, others]))
    known, new = forecasts[: len(measured)], forecasts[len(measured) :]
    assert np.corrcoef(new, values[others])[0, 1] > 0.5
    assert 0.3 < np.corrcoef(known, values[measured])[0, 1] < 0.95


def test_nothing_is_said_of_products_whose_reaction_has_no_results():
    part = LIBRARY.parts[0]
    other = Part(reaction=Reaction("other", part.reaction.smarts), slots=part.slots)
    library = ProductLibrary([part, other])
    beliefs = BlockBeliefs(library, read_kernels(library), [0, 300, 9000], [1.0, 2.0, 3.0])
    forecasts = beliefs.forecasts(np.array([5, len(LIBRARY) + 5]))
    assert np.isfinite(forecasts[0])
    assert np.isnan(forecasts[1])


def test_of_many_results_the_best_and_others_of_all_ranks_teach(monkeypatch):
    monkeypatch.setattr(products, "MOST_RESULTS", 50)
    measured, values = LIBRARY.draw(400, np.random.default_rng(1)), additive_values(LIBRARY)
    kernels, taught = read_kernels(LIBRARY), []
    monkeypatch.setattr(products, "ProductProcess", lambda kernels, tuples, values: taught.append(values))
    BlockBeliefs(LIBRARY, kernels, measured.tolist(), values[measured].tolist())
    (kept,) = taught
    best = np.sort(values[measured])[::-1]
    assert len(kept) == 50
    assert {*best[:25]} <= {*kept}
    assert best[-1] in kept
