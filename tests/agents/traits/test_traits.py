import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import Descriptors, rdMolDescriptors
from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
from support.molecules import ODD_MOLECULES

from agents.traits import BINS, TRAITS, Traits, compute_traits

SMILES = (*ODD_MOLECULES, "CCCCCC(=O)NCc1ccccc1Cl")
WHOLE = compute_traits(SMILES)


def assert_equal(traits, other):
    assert (traits.length, traits.names, traits.stereo, traits.left_out) == (
        other.length,
        other.names,
        other.stereo,
        other.left_out,
    )
    mine, theirs = traits.arrays(), other.arrays()
    assert mine.keys() == theirs.keys()
    for name, array in mine.items():
        assert array.dtype == theirs[name].dtype
        np.testing.assert_array_equal(array, theirs[name])


def test_counts_are_those_of_rdkit_in_order():
    generator, counts = GetMorganGenerator(radius=3, fpSize=BINS), WHOLE.counts["morgan"]
    for k, text in enumerate(SMILES):
        part = slice(counts.offsets[k], counts.offsets[k + 1])
        expected = generator.GetCountFingerprint(Chem.MolFromSmiles(text)).GetNonzeroElements()
        assert list(zip(counts.bins[part], counts.counts[part], strict=True)) == sorted(expected.items())


def test_numbers_are_those_of_rdkit_in_float32():
    molecules = [Chem.MolFromSmiles(text) for text in SMILES]
    for column, function in ((0, Descriptors.MolWt), (4, rdMolDescriptors.CalcNumRotatableBonds)):
        expected = np.array([function(molecule) for molecule in molecules], np.float32)
        np.testing.assert_array_equal(WHOLE.numbers["properties"][:, column], expected)
    surfaces = [rdMolDescriptors.SMR_VSA_(molecule) for molecule in molecules]
    np.testing.assert_array_equal(WHOLE.numbers["descriptors"][:, 56:66], np.array(surfaces, np.float32))


@pytest.mark.parametrize("name", TRAITS)
def test_a_trait_does_not_depend_on_which_others_are_computed(name):
    alone = compute_traits(SMILES, [name])
    assert alone.names == (name,)
    for key, array in alone.arrays().items():
        np.testing.assert_array_equal(array, WHOLE.arrays()[key])


def test_parts_stacked_and_molecules_taken_are_those_of_all():
    assert_equal(Traits.stack([compute_traits(SMILES[:3]), compute_traits(SMILES[3:])]), WHOLE)
    index = [5, 0, 2, 2, 6]
    assert_equal(WHOLE.take(index), compute_traits([SMILES[k] for k in index]))
    assert_equal(WHOLE.take([]), compute_traits([]))
    for begin, end in ((0, 8), (2, 5), (4, 4), (8, 8)):
        assert_equal(WHOLE.between(begin, end), WHOLE.take(range(begin, end)))
    assert_equal(Traits.stack([WHOLE.take([]), WHOLE]), WHOLE)


def test_traits_survive_as_arrays():
    traits = compute_traits(SMILES, ["torsions", "properties"], stereo=True, left_out=["roles", "morgan"])
    again = Traits.from_arrays(traits.arrays(), stereo=True, left_out=["roles", "morgan"])
    assert_equal(again, traits)
    assert traits.left_out == ("morgan", "roles")
    assert sorted(traits.arrays()) == ["properties", "torsions.bins", "torsions.counts", "torsions.offsets"]
