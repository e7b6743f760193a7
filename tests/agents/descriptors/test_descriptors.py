import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import Descriptors as RdkitDescriptors
from rdkit.Chem import rdMolDescriptors
from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
from support.molecules import ODD_MOLECULES

from agents.descriptors import BINS, DESCRIPTORS, Counts, Descriptors, compute_descriptors, mask_atoms

SMILES = (*ODD_MOLECULES, "CCCCCC(=O)NCc1ccccc1Cl")
WHOLE = compute_descriptors(SMILES)


def assert_equal(descriptors, other):
    assert (len(descriptors), *descriptors.kind) == (len(other), *other.kind)
    mine, theirs = descriptors.arrays(), other.arrays()
    assert mine.keys() == theirs.keys()
    for name, array in mine.items():
        assert array.dtype == theirs[name].dtype
        np.testing.assert_array_equal(array, theirs[name])


def dense(counts):
    rows = np.zeros((len(counts), BINS), np.int64)
    rows[np.repeat(np.arange(len(counts)), np.diff(counts.offsets)), counts.bins] = counts.counts
    return rows


def test_counts_are_those_of_rdkit_in_order():
    generator, counts = GetMorganGenerator(radius=3, fpSize=BINS), WHOLE.counts["ecfp"]
    for k, text in enumerate(SMILES):
        part = slice(counts.offsets[k], counts.offsets[k + 1])
        expected = generator.GetCountFingerprint(Chem.MolFromSmiles(text)).GetNonzeroElements()
        assert list(zip(counts.bins[part], counts.counts[part], strict=True)) == sorted(expected.items())
    crowded = Counts.of([{7: 3, 2: 1_000_000}, {}, {5: 1}])
    assert [part.tolist() for part in vars(crowded).values()] == [[0, 2, 2, 3], [2, 7, 5], [65_535, 3, 1]]


def test_numbers_are_those_of_rdkit_in_float32():
    molecules = [Chem.MolFromSmiles(text) for text in SMILES]
    for column, function in ((0, RdkitDescriptors.MolWt), (4, rdMolDescriptors.CalcNumRotatableBonds)):
        expected = np.array([function(molecule) for molecule in molecules], np.float32)
        np.testing.assert_array_equal(WHOLE.numbers["properties"][:, column], expected)
    surfaces = [rdMolDescriptors.SMR_VSA_(molecule) for molecule in molecules]
    np.testing.assert_array_equal(WHOLE.numbers["rdkit"][:, 56:66], np.array(surfaces, np.float32))
    assert WHOLE.numbers["properties"][0, :4] == pytest.approx([46.069, 20.23, 1, 1])  # of ethanol


@pytest.mark.parametrize("name", DESCRIPTORS)
def test_a_trait_does_not_depend_on_which_others_are_computed(name):
    assert_equal(compute_descriptors(SMILES, [name]), WHOLE.only([name]))


def test_parts_stacked_and_molecules_taken_are_those_of_all():
    assert_equal(Descriptors.stack([compute_descriptors(SMILES[:3]), compute_descriptors(SMILES[3:])]), WHOLE)
    assert_equal(WHOLE.take([5, 0, 2, 2, 6]), compute_descriptors([SMILES[k] for k in (5, 0, 2, 2, 6)]))
    assert_equal(WHOLE.take([]), compute_descriptors([]))
    assert_equal(Descriptors.stack([WHOLE.take([]), WHOLE.take(range(3)), WHOLE.take(range(3, 8))]), WHOLE)


def test_descriptors_survive_as_arrays():
    descriptors = compute_descriptors(SMILES, ["torsions", "properties"], stereo=True, left_out=["fcfp", "ecfp"])
    assert_equal(Descriptors.from_arrays(descriptors.arrays(), stereo=True, left_out=("ecfp", "fcfp")), descriptors)
    assert sorted(descriptors.arrays()) == ["properties", "torsions.bins", "torsions.counts", "torsions.offsets"]


@pytest.mark.parametrize("smiles", ["c1ccccc1", "CC(=O)Nc1ccc(O)cc1", "C[C@H](N)C(=O)O", "CC[NH3+].[Cl-]", "C"])
def test_masked_atoms_have_less_than_the_whole_molecule_which_comes_first(smiles):
    masked, whole = mask_atoms(smiles, DESCRIPTORS), compute_descriptors([smiles])
    assert len(masked) == 1 + Chem.MolFromSmiles(smiles).GetNumAtoms()
    assert_equal(masked.take([0]), whole)
    for counts in masked.counts.values():
        assert (dense(counts) <= dense(counts)[0]).all()
    for name, numbers in masked.numbers.items():
        assert np.array_equal(numbers, np.repeat(whole.numbers[name], len(masked), axis=0), equal_nan=True)


@pytest.mark.parametrize(("kind", "radius"), [("ecfp", 3), ("fcfp", 2)])
def test_neighbourhoods_that_reach_an_atom_go_with_it(kind, radius):
    last = 8  # of a chain, in which a neighbourhood is an interval; RDKit counts equal ones once
    rows = dense(mask_atoms("CCCCCCCCN", (kind,)).counts[kind]).sum(axis=1)
    reach = {(max(0, at - far), min(last, at + far)) for at in range(last + 1) for far in range(1, radius + 1)}
    assert rows[0] - rows[-1] == 1 + sum(end == last for _, end in reach)
