"""What the agents for molecules read of a set: no atoms, and its descriptors and scales where it brings some."""

from types import SimpleNamespace

import numpy as np
from support.molecules import some_molecules

import registry
from agents.molecule import Scales, compute_descriptors

MOLECULES = some_molecules()
VALUES = MOLECULES.targets
EVERY = compute_descriptors(MOLECULES.smiles)


def no_atoms():
    raise AssertionError("The agent needs no atoms.")


def molecules(index=range(40), **given):
    return SimpleNamespace(to_pyg=no_atoms, smiles=[MOLECULES.smiles[k] for k in index], **given)


def taught(molecules, measured=range(0, 40, 4), name="molecule-ucb", **settings):
    agent = registry.make_agent(name, **settings)
    agent.reset(None, seed=3, graph_set=molecules)
    agent.update(None, list(measured), VALUES[::4])
    return agent


def test_some_molecules_on_the_scales_of_all_are_predicted_as_among_all():
    columns, some = np.random.default_rng(0).normal(size=(40, 2)), np.array([*range(0, 40, 4), 7, 5])
    whole = taught(molecules(columns=columns)).predict()
    part = molecules(some, columns=columns[some], scales=Scales.of(EVERY, columns), descriptors=EVERY.take(some))
    found = taught(part, range(10)).predict()
    np.testing.assert_allclose(found.mean, whole.mean[some], rtol=1e-9)
    np.testing.assert_allclose(found.std, whole.std[some], rtol=1e-9)
    alone = taught(molecules(some, columns=columns[some]), range(10)).predict()
    assert not np.allclose(alone.mean, whole.mean[some])
