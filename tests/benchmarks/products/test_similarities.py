"""Similarities from pairs of blocks, against products that are made one by one."""

import numpy as np
import pytest

pytest.importorskip("rdkit")
pytest.importorskip("sklearn")

from rdkit import Chem, DataStructs

from benchmarks.products.objectives import QUERIES, QUINAZOLINE
from benchmarks.products.similarities import PRINTS, similarities
from graph_bandit_env.pools.products import Part, ProductLibrary, Reaction, Slot

BLOCKS = (
    ("Nc1ccccc1C(=O)O", "Nc1cscc1C(=O)O", "Nc1cc(F)cnc1C(=O)O"),
    ("CN", "NCc1ccccn1", "CC(C)(C)CN", "NC1CC1"),
    ("OC(=O)CCc1ccncc1", "OC(=O)C1CC1", "O=C(O)[C]1C[C@@H](O)CN1", "OC(=O)c1ccco1"),
)


def library(smarts, blocks=BLOCKS):
    slots = (
        Slot(name=f"s{k}", ids=tuple(map(str, range(len(some)))), smiles=tuple(map(Chem.CanonSmiles, some)))
        for k, some in enumerate(blocks)
    )
    return ProductLibrary([Part(reaction=Reaction("r", smarts), slots=tuple(slots))])


@pytest.mark.parametrize("query", QUERIES.values())
def test_pairs_of_blocks_give_what_the_products_give(query):
    made = library(QUINAZOLINE)
    query = Chem.MolFromSmiles(query)
    products = [Chem.MolFromSmiles(product.smiles) for product in made.make(range(len(made)))]
    expected = DataStructs.BulkTanimotoSimilarity(PRINTS.GetFingerprint(query), [*map(PRINTS.GetFingerprint, products)])
    assert len({*expected}) > 20
    assert similarities(made, query, same=(3, 4)) == pytest.approx(np.array(expected), rel=1e-6)


def test_an_environment_within_all_three_blocks_is_refused():
    with pytest.raises(ValueError, match="all three"):
        similarities(library(QUINAZOLINE), Chem.MolFromSmiles("CC"))


def test_blocks_that_do_not_react_are_refused():
    with pytest.raises(ValueError, match="any three blocks"):
        similarities(library(QUINAZOLINE, (BLOCKS[0], BLOCKS[1], ("OC=O",))), Chem.MolFromSmiles("CC"), same=(3, 4))
