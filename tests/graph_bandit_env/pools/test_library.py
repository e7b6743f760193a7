import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import Crippen

from graph_bandit_env.pools.library import enumerate_library


@pytest.fixture(scope="module")
def library():
    return enumerate_library("logp")


def test_it_has_thousands_of_different_molecules_and_no_bad_one(library):
    assert 3000 < len(library) < 6000
    assert library.skipped == ()
    assert library.merged == 0
    assert len(set(library.smiles)) == len(library)
    assert not any("." in smiles for smiles in library.smiles)


def test_targets_are_those_of_rdkit(library):
    for k in (0, 1000, 2500):
        assert library.targets[k] == Crippen.MolLogP(Chem.MolFromSmiles(library.smiles[k]))
    assert np.ptp(library.targets) > 5


def test_it_is_the_same_every_time(library):
    again = enumerate_library("tpsa")
    assert again.smiles == library.smiles
    assert again.targets.min() >= 0


def test_an_unknown_property_is_told():
    with pytest.raises(ValueError, match="one of qed, logp, tpsa. Got 'mass'"):
        enumerate_library("mass")
