"""Molecules whose atoms and bonds are read when somebody asks for them are those that are read at once."""

import pickle

import numpy as np
import pytest
from support.molecules import some_molecules
from support.pools import assert_equal_pools

from graph_bandit_env import MoleculeSet, from_smiles
from graph_bandit_env.pools import unread_graphs

TEXTS = ("OCC", "C[NH3+].[Cl-]", "OCC [temp=60; who=a]", "OCC [temp=80; who=a]", *some_molecules(20).smiles[3:])
READ = from_smiles(TEXTS)


def unread(molecules):
    texts = [TEXTS[READ.smiles.index(text)] for text in molecules.smiles]
    return MoleculeSet(unread_graphs(texts, "merge"), molecules.smiles, molecules.ids, salts=molecules.salts)


def is_read(molecules):
    return "nodes" in vars(molecules._packed)


@pytest.mark.parametrize(
    ("change", "index"),
    [
        (lambda some: some, np.arange(len(READ))),
        (lambda some: some.take(np.arange(len(some))[::-2]), np.arange(len(READ))[::-2]),
        (lambda some: pickle.loads(pickle.dumps(some)), np.arange(len(READ))),
        (lambda some: some.take([0, 1]).join(some.take([1, 4, 3])), [0, 1, 4, 3]),
    ],
    ids=["all", "take", "pickle", "join"],
)
def test_graphs_are_those_that_are_read_at_once_and_not_read_before(change, index):
    changed = change(unread(READ))
    assert not is_read(changed)
    assert_equal_pools(changed, READ.take(index))
    assert is_read(changed)
