import numpy as np
import pytest
from rdkit.Chem import rdMolDescriptors
from support.molecules import ODD_MOLECULES, some_molecules

from agents.traits.descriptors import ROTATABLE_BONDS, compute_descriptors, compute_properties
from agents.traits.traits import read_molecules


def test_properties_are_those_that_a_chemist_knows():
    ethanol, methane = compute_properties(read_molecules(["CCO", "C"]))
    assert ethanol[:5].tolist() == pytest.approx([46.069, 20.23, 1, 1, 0])  # mass, polar surface, OH gives and takes
    assert methane[0] == pytest.approx(16.043)


def test_descriptors_count_atoms_and_share_out_the_surface():
    """The first quantum number counts carbon, the twelfth heavy atoms; each of three sets of intervals has it all."""
    for text, carbons, heavy in (("CCO", 2, 3), ("c1ccccc1Cl", 6, 7)):
        (numbers,) = compute_descriptors(read_molecules([text]))
        assert numbers.shape == (78,)
        assert (numbers[0], numbers[11]) == (carbons, heavy)
        surfaces = [numbers[42:56].sum(), numbers[56:66].sum(), numbers[66:78].sum()]
        assert surfaces == pytest.approx([surfaces[0]] * 3, rel=1e-5)
        assert surfaces[0] > 10


def test_rotatable_bonds_are_one_of_the_quantum_numbers():
    molecules = read_molecules([*ODD_MOLECULES, *some_molecules().smiles, "CC(=O)NCCOC(=O)C#CC(C)(C)C"])
    counted = compute_descriptors(molecules)[:, ROTATABLE_BONDS]
    assert counted.tolist() == [rdMolDescriptors.CalcNumRotatableBonds(molecule) for molecule in molecules]
    np.testing.assert_array_equal(compute_properties(molecules, counted), compute_properties(molecules))
