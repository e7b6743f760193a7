from rdkit import Chem

from agents.molecule import TRAITS
from benchmarks.speed import molecules


def test_molecules_are_different_canonical_and_of_the_size_of_drugs():
    smiles = molecules.drug_like(40)
    parsed = [Chem.MolFromSmiles(text) for text in smiles]
    assert len(set(smiles)) == 40
    assert [Chem.MolToSmiles(molecule) for molecule in parsed] == smiles
    assert 15 < sum(molecule.GetNumAtoms() for molecule in parsed) / 40 < 30


def test_every_trait_is_timed():
    rows = molecules.time_traits(molecules.drug_like(5))
    assert min(rows[0].value, rows[1].value, rows[-1].value) > 0
    assert [row.name.split("`")[1] for row in rows[2:-1]] == list(TRAITS)


def test_ratings_are_timed_in_a_process_of_their_own():
    rows = molecules.time_ratings(molecules.drug_like(60), numbers=(4, 7))
    assert [row.name for row in rows[::2]] == ["rating a molecule, 4 results", "rating a molecule, 7 results"]
    assert all(row.value > 0 for row in rows)
