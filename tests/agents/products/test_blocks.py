"""The kernel of building blocks, against RDKit's similarity."""

import numpy as np
import pytest

from agents.products import BlockKernel

SMILES = ["CCO", "CCN", "c1ccccc1O", "CCO", "C"]


def test_it_is_half_identity_and_half_similarity():
    pytest.importorskip("rdkit")
    from rdkit import Chem
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
    from rdkit.DataStructs import TanimotoSimilarity

    generator = GetMorganGenerator(radius=2, fpSize=1024)
    prints = [generator.GetFingerprint(Chem.MolFromSmiles(text)) for text in SMILES]
    similarity = np.array([[TanimotoSimilarity(one, other) for other in prints] for one in prints])
    kernel = BlockKernel.of_smiles(SMILES).columns(np.array([2, 0, 4]))
    np.testing.assert_allclose(kernel, ((similarity + np.eye(5)) / 2)[:, [2, 0, 4]], atol=1e-6)


def test_blocks_without_bits_are_equal_to_themselves_alone():
    kernel = BlockKernel(np.zeros((2, 8), np.float32)).columns(np.array([0, 1]))
    np.testing.assert_array_equal(kernel, np.eye(2))
