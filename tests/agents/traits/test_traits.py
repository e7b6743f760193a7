import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import Descriptors, rdMolDescriptors
from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
from support.molecules import ODD_MOLECULES, some_molecules

from agents.traits import BINS, FINGERPRINTS, TRAITS, Traits, compute_traits

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


def test_molecules_read_in_blocks_are_those_read_at_once(monkeypatch):
    monkeypatch.setattr("agents.traits.traits.AT_A_TIME", 3)
    assert_equal(compute_traits(SMILES), WHOLE)


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


def test_further_traits_join_those_of_the_same_molecules():
    some = compute_traits(SMILES, ["descriptors"])
    assert_equal(some.join(compute_traits(SMILES, [*FINGERPRINTS, "properties"])), WHOLE)
    with pytest.raises(ValueError, match="Expected further traits of 8 molecules"):
        WHOLE.join(compute_traits(["C"]))
    with pytest.raises(ValueError, match="with `stereo` False. Got 8 molecules, with `stereo` True"):
        WHOLE.join(compute_traits(SMILES, ["roles"], stereo=True))


def test_molecules_take_about_a_kilobyte_each():
    traits = compute_traits(some_molecules().smiles)
    assert sum(map(traits.nbytes_of, TRAITS)) == traits.nbytes < 1500 * len(traits)


def broken(name, change):
    arrays = WHOLE.arrays()
    return {**arrays, name: change(arrays[name].copy())}


def put(place, value):
    def change(array):
        array[place] = value
        return array

    return change


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, "Got none"),
        ({"shoe": np.zeros(3)}, "Got shoe"),
        ({name: array for name, array in WHOLE.arrays().items() if name != "roles.bins"}, "as `Traits.arrays`"),
        (broken("properties", lambda array: array[:, 1:]), r"Expected `properties` of shape `\(K, 12\)` and float32"),
        (broken("descriptors", lambda array: array.astype(np.float64)), r"`descriptors` of shape .* Got .* of float64"),
        (broken("properties", lambda array: array[1:]), "Expected traits of the same molecules"),
        (broken("morgan.bins", put(0, 4096)), "Expected bins of `morgan` below 4096"),
        (broken("morgan.bins", lambda array: array[::-1]), "that increase within each molecule"),
        (broken("morgan.counts", put(3, 0)), "with positive counts"),
        (broken("morgan.counts", lambda array: array.astype(np.int64)), "bins and counts uint16. Got int64"),
        (broken("morgan.counts", lambda array: array[1:]), "Expected offsets of `morgan` that increase"),
        (broken("morgan.offsets", put(-1, 7)), "Expected offsets of `morgan` that increase"),
        (broken("morgan.offsets", put(1, 9999)), "Expected offsets of `morgan` that increase"),
    ],
)
def test_refuses_arrays_that_are_no_traits(arrays, message):
    with pytest.raises(ValueError, match=message):
        Traits.from_arrays(arrays)


def test_refuses_to_stack_different_traits():
    with pytest.raises(ValueError, match="Expected parts with the same traits"):
        Traits.stack([WHOLE, compute_traits(SMILES, ["morgan"])])
    with pytest.raises(ValueError, match="at least one part"):
        Traits.stack([])


def test_refuses_what_is_no_smiles_or_no_trait(monkeypatch):
    monkeypatch.setattr("agents.traits.traits.AT_A_TIME", 2)
    with pytest.raises(ValueError, match="number 3, 'nonsense'"):
        compute_traits(["C", "CC", "CCC", "nonsense"])
    with pytest.raises(ValueError, match="Expected a list of names of traits, of atom_pairs, .* Got colour"):
        compute_traits(["C"], ["morgan", "colour"])
    with pytest.raises(ValueError, match="Got morgan"):
        compute_traits(["C"], "morgan")
