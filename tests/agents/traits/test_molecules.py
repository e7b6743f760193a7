"""What the agents for molecules read of a set: no atoms, and its traits and scales where it brings some."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.molecules import some_molecules

import registry
from agents.molecule import Scales, compute_traits
from graph_bandit_env import from_smiles

MOLECULES = some_molecules()
VALUES = MOLECULES.targets
EVERY = compute_traits(MOLECULES.smiles)


def no_atoms():
    raise AssertionError("The agent needs no atoms.")


def molecules(index=range(40), **given):
    return SimpleNamespace(to_pyg=no_atoms, smiles=[MOLECULES.smiles[k] for k in index], **given)


def taught(molecules, measured=range(0, 40, 4), name="molecule-ucb", **settings):
    agent = registry.make_agent(name, **settings)
    agent.reset(None, seed=3, graph_set=molecules)
    agent.update(None, list(measured), VALUES[::4])
    return agent


def test_an_agent_plays_saves_and_loads_without_atoms():
    agent, other = taught(molecules()), taught(molecules())
    agent.select_batch(None, 3)
    other.load_state_dict(agent.state_dict())
    assert np.array_equal(other.predict().mean, agent.predict().mean)
    assert np.array_equal(taught(MOLECULES).predict().mean, agent.predict().mean)


def test_traits_of_the_set_are_not_computed_again_but_for_a_few_to_check_them(monkeypatch):
    def compute_few(smiles, *given):
        assert len(smiles) <= 4
        return compute_traits(smiles, *given)

    expected = taught(molecules()).predict()
    monkeypatch.setattr("agents.molecule.parts.compute_traits", compute_few)
    found = taught(molecules(traits=EVERY)).predict()
    assert np.array_equal(found.mean, expected.mean)
    assert np.array_equal(found.std, expected.std)


def test_traits_that_the_set_lacks_are_computed_unless_they_were_left_out():
    names = ["atom_pairs", "properties"]
    filled = taught(molecules(traits=compute_traits(MOLECULES.smiles, names)))
    assert np.array_equal(filled.predict().mean, taught(molecules()).predict().mean)
    left_out = ["morgan", "torsions", "roles", "descriptors"]
    lean = taught(molecules(traits=compute_traits(MOLECULES.smiles, names, left_out=left_out)))
    assert list(lean.shares()) == ["atom pairs", "properties"]
    assert not np.allclose(lean.predict().mean, filled.predict().mean)


def test_some_molecules_on_the_scales_of_all_are_predicted_as_among_all():
    columns, some = np.random.default_rng(0).normal(size=(40, 2)), np.array([*range(0, 40, 4), 7, 5])
    whole = taught(molecules(columns=columns)).predict()
    part = molecules(some, columns=columns[some], scales=Scales.of(EVERY, columns), traits=EVERY.take(some))
    found = taught(part, range(10)).predict()
    np.testing.assert_allclose(found.mean, whole.mean[some], rtol=1e-9)
    np.testing.assert_allclose(found.std, whole.std[some], rtol=1e-9)
    alone = taught(molecules(some, columns=columns[some]), range(10)).predict()
    assert not np.allclose(alone.mean, whole.mean[some])


def test_a_state_belongs_to_its_scales():
    scaled = Scales.of(compute_traits(MOLECULES.smiles[:9], ["properties", "descriptors"]))
    with pytest.raises(ValueError, match="graphs"):
        taught(molecules()).load_state_dict(taught(molecules(scales=scaled)).state_dict())
    with pytest.raises(ValueError, match="graphs"):
        taught(molecules()).load_state_dict(taught(molecules(np.arange(40)[::-1])).state_dict())


def test_an_agent_that_starts_anew_on_other_traits_describes_them():
    agent = taught(molecules(traits=EVERY)).blank()
    lean = compute_traits(MOLECULES.smiles, ["morgan"], left_out=["atom_pairs", "torsions", "roles"])
    agent.reset(None, graph_set=molecules(traits=lean))
    assert list(agent.shares()) == ["neighbourhoods", "properties", "descriptors"]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"traits": EVERY.take([0, 1])}, ValueError, "Expected traits of 40 molecules. Got those of 2"),
        ({"traits": EVERY.arrays()}, TypeError, "Expected `traits` of molecules to be Traits. Got dict"),
        ({"scales": EVERY}, TypeError, "Expected `scales` of molecules to be Scales. Got Traits"),
    ],
)
def test_refuses_traits_of_other_molecules(given, error, message):
    with pytest.raises(error, match=message):
        taught(molecules(**given))


def test_refuses_traits_with_other_stereoisomers():
    with pytest.raises(ValueError, match="Expected fingerprints with `stereo` True"):
        taught(molecules(traits=EVERY), stereo=True)


def test_traits_of_other_molecules_or_in_another_order_are_refused():
    order = np.arange(len(MOLECULES))
    for index in (order[::-1], np.roll(order, 1)):
        with pytest.raises(ValueError, match="Expected the traits of these molecules. [34] of 4"):
            taught(molecules(traits=EVERY.take(index)))


def test_a_round_that_shows_graphs_is_compared_by_atoms():
    def observation(smiles):
        env = registry.make_environment(graphs=from_smiles(smiles), reward_model=np.arange(3.0), observe="graphs")
        return env.reset(seed=0)[0]

    shown = from_smiles(["CCO", "CCN", "CCC"])
    agent = registry.make_agent("molecule-ucb")
    agent.reset(None, graph_set=shown)
    agent.update(observation(shown.smiles), 0, 1.0)
    with pytest.raises(ValueError, match="Expected the graphs of `reset` in each observation"):
        agent.update(observation(["CCO", "CCN", "CCS"]), 0, 1.0)
    assert len(agent.history) == 1
