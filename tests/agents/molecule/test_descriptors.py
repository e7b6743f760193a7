import pytest

from agents.molecule.descriptors import compute_descriptors, compute_properties
from agents.molecule.fingerprints import read_molecules


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
        assert surfaces == pytest.approx([surfaces[0]] * 3)
        assert surfaces[0] > 10
