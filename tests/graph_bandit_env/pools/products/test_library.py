"""A library of products that nobody enumerates: numbers, ids, prices, and what reacts."""

from types import SimpleNamespace

import numpy as np
import pytest

from graph_bandit_env.pools import Slot, from_smiles
from graph_bandit_env.pools.products import Part, ProductLibrary, Reaction


def blocks(name, ids, smiles, prices=None):
    return Slot(name, "structure", ids, from_smiles(smiles, ids=ids), prices=prices)


AMIDE = "[#6:1]C(=O)[OH].[NH2:2][#6:3]>>[#6:1]C(=O)[N:2][#6:3]"
ESTER = "[#6:1]C(=O)[OH].[OH:2][CX4:3]>>[#6:1]C(=O)[O:2][C:3]"
ACIDS = blocks("acid", ("A1", "A2", "A3"), ("CC(=O)O", "O=C(O)CC(=O)O", "O=C(O)CCC(=O)OC"))
AMINES = blocks("amine", ("B1", "B2"), ("CN", "NCCO"), np.array([2.0, 3.5]))
ALCOHOLS = blocks("alcohol", ("C1", "C2"), ("CO", "OC1CC1"))


def amides():
    return ProductLibrary([Part(reaction=Reaction("amide", AMIDE), slots=(ACIDS, AMINES))])


def both():
    parts = [
        Part(reaction=Reaction("amide", AMIDE), slots=(ACIDS, AMINES)),
        Part(reaction=Reaction("ester", ESTER), slots=(ACIDS, ALCOHOLS)),
    ]
    return ProductLibrary(parts)


HALOGENS = "[C:1][F].[C:2][Cl].[C:3][Br].[C:4][I]>>[C:1][C:2][C:3][C:4]"
FIVE_BONDS = "[C:1](=O)[OH].[NH2:2][C:3]>>[C:1](=O)(=O)[N:2][C:3]"


@pytest.mark.parametrize(
    ("smarts", "joined", "product", "problem"),
    [
        (AMIDE, ("CC(=O)O", "CN"), "CNC(C)=O", ""),
        (AMIDE, ("O=C(O)CC(=O)O", "CN"), "CNC(=O)CC(=O)O", ""),  # two equal groups
        (AMIDE, ("CC(C(=O)O)CC(=O)O", "CN"), "", "the blocks give 2 products"),
        (AMIDE, ("CCO", "CN"), "", "the blocks do not react"),
        (FIVE_BONDS, ("CC(=O)O", "CN"), "", "no molecule"),
        (HALOGENS, ("CF", "CCl", "CBr", "CI"), "CCCC", ""),
    ],
)
def test_blocks_make_one_product_or_it_is_said_why_not(smarts, joined, product, problem):
    slots = tuple(blocks(f"s{k}", ("a",), (block,)) for k, block in enumerate(joined))
    (made,) = ProductLibrary([Part(reaction=Reaction("x", smarts), slots=slots)]).make([0])
    assert (made.smiles, made.problem[: len(problem)]) == (product, problem)


def test_ids_lead_back_to_numbers_and_strange_ones_to_none():
    for library in (amides(), both()):
        assert [library.number_of(library.id_of(number)) for number in range(len(library))] == [*range(len(library))]
    for strange in ("", "A1", "A1+B9", "A1+B1+B1", "ester:A1+B1", "amide:A1+B1"):
        assert amides().number_of(strange) is None


def test_numbers_and_blocks_are_inverse():
    library = both()
    blocks = library.blocks_of([6, 9, 11], part=1)
    np.testing.assert_array_equal(blocks, [[0, 0], [1, 1], [2, 1]])
    np.testing.assert_array_equal(library.numbers_of(blocks, part=1), [6, 9, 11])
    with pytest.raises(ValueError, match="out of bounds"):
        library.blocks_of([6], part=0)


def test_a_product_costs_its_blocks_if_all_prices_are_known():
    acids = blocks("acid", ACIDS.choices, ACIDS.spelt, np.array([10.0, 20.0, 30.0]))
    priced = ProductLibrary([Part(reaction=Reaction("amide", AMIDE), slots=(acids, AMINES))])
    np.testing.assert_array_equal(priced.prices_of([0, 5]), [12.0, 33.5])
    assert np.isnan(amides().prices_of([0, 5])).all()


def test_products_that_are_drawn_are_different_and_follow_from_the_seed():
    library = both()
    drawn = library.draw(7, np.random.default_rng(0))
    assert len(set(drawn.tolist())) == 7
    np.testing.assert_array_equal(drawn, library.draw(7, np.random.default_rng(0)))
    assert sorted(library.draw(50, np.random.default_rng(0)).tolist()) == [*range(12)]


def test_a_library_of_ten_to_the_fifteen_is_counted_and_its_last_product_made():
    many = 100_000
    names = tuple(f"x{k}" for k in range(many))
    acid = Slot("acid", "structure", names, SimpleNamespace(smiles=("CC(=O)O",) * many))
    amine = Slot("amine", "structure", names, SimpleNamespace(smiles=("CN",) * many))
    library = ProductLibrary([Part(reaction=Reaction("amide", AMIDE), slots=(acid, amine))])
    assert len(library) == 10**10
    assert library.make([10**10 - 1])[0] == ("x99999+x99999", "CNC(C)=O", "")


def test_reactions_blocks_and_prices_change_the_digest():
    reaction = Reaction("amide", AMIDE)
    dearer = blocks("amine", AMINES.choices, AMINES.spelt, np.array([2.0, 3.6]))
    others = [(reaction, dearer), (Reaction("amide", AMIDE, most_atoms=20), AMINES), (Reaction("amide", ESTER), AMINES)]
    libraries = [ProductLibrary([Part(reaction=one, slots=(ACIDS, slot))]) for one, slot in others]
    assert len({library.digest for library in (amides(), amides(), *libraries)}) == 4


@pytest.mark.parametrize(
    "smarts", ["nonsense", "[C:1]>>[C:1]", "[C:1].[C:2].[C:3].[C:4].[C:5]>>[C:1][C:2]", "[C:1].[N:2]>>[C:1].[N:2]"]
)
def test_reactions_that_cannot_be_used_are_refused(smarts):
    with pytest.raises(ValueError, match="`x`"):
        Reaction("x", smarts)
