"""Features of molecules that may go with failing."""

import numpy as np
import pytest
from rdkit import Chem
from support.molecules import ODD_MOLECULES, some_molecules

from graph_bandit_campaign.model.failures.features import describe, log_prior, look_up, name_of

SMILES = (*some_molecules(20).smiles, *map(Chem.CanonSmiles, ODD_MOLECULES))
MOLECULES = [Chem.MolFromSmiles(text) for text in SMILES]


def test_molecules_have_the_features_that_they_were_described_by():
    features, has = describe(MOLECULES)
    assert np.array_equal(look_up(features, SMILES, len(SMILES)), has)
    assert {feature.kind for feature in features} == {"group", "environment", "property"}
    assert len(set(features)) == len(features)
    assert (has.any(0) & ~has.all(0)).all()


def test_the_fragment_of_an_environment_is_a_smarts_of_the_molecules_that_have_it():
    features, has = describe(MOLECULES)
    for column, feature in enumerate(features):
        if feature.kind == "environment":
            pattern = Chem.MolFromSmarts(name_of(feature, MOLECULES).removeprefix("the fragment "))
            found = [molecule.HasSubstructMatch(pattern) for molecule in MOLECULES]
            assert np.array(found)[has[:, column]].all(), name_of(feature, MOLECULES)


def test_environments_reach_two_bonds_from_an_atom():
    chains = [Chem.MolFromSmiles("C" * length) for length in (1, 12)]
    named = [name_of(feature, chains) for feature in describe(chains)[0] if feature.kind == "environment"]
    assert max(Chem.MolFromSmarts(name.split()[-1]).GetNumAtoms() for name in named) == 5


def test_kinds_share_the_prior_whatever_their_number():
    features, _ = describe(MOLECULES)
    prior = np.exp(log_prior(features))
    shares = {kind: prior[[feature.kind == kind for feature in features]].sum() for kind in ("group", "property")}
    assert shares == pytest.approx({"group": 0.4, "property": 0.2})
    assert prior.sum() == pytest.approx(1)
