"""A set of molecules has what agents compare it by, whoever computes it."""

import numpy as np
from support.molecules import some_molecules

from agents.molecule import compute_traits
from graph_bandit_campaign.pool import descriptors as module
from graph_bandit_campaign.pool.described import DescribedMolecules
from graph_bandit_campaign.pool.descriptors import describe

MOLECULES = some_molecules(30)


def test_processes_compute_what_one_computes(monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 7)
    alone = describe(MOLECULES, ["molecule-ucb"])
    monkeypatch.setattr(module, "MANY", 7)
    described = describe(MOLECULES, ["molecule-ucb"], workers=2)
    assert isinstance(described, DescribedMolecules)
    assert described.ids == MOLECULES.ids
    assert describe(described, ["molecule-ucb"]) is described
    expected = compute_traits(MOLECULES.smiles).arrays()
    for found in (alone, described):
        for name, array in found.traits.arrays().items():
            np.testing.assert_array_equal(array, expected[name], strict=True)
