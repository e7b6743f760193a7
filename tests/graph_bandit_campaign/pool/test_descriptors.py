"""Traits of a table are computed once, and a file with others is never believed."""

import numpy as np
import pytest
from support.molecules import some_molecules

from agents.molecule import TRAITS, Traits, compute_traits
from graph_bandit_campaign.pool import descriptors as kept
from graph_bandit_campaign.pool.described import DescribedMolecules
from graph_bandit_campaign.pool.descriptors import describe, kept_traits
from graph_bandit_env import from_smiles

MOLECULES = some_molecules(30)


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(kept, "FEW", 10)


@pytest.fixture
def file(cache_folder):
    """The file of the traits of `MOLECULES`."""
    return cache_folder / kept._cache_of(MOLECULES.smiles, False).name


def same(found, expected):
    assert set(found.names) >= set(expected.names)
    arrays = found.arrays()
    for name, array in expected.arrays().items():
        np.testing.assert_array_equal(arrays[name], array, strict=True)


def test_the_second_time_traits_are_those_of_the_file(file, monkeypatch):
    first = kept_traits(MOLECULES.smiles, TRAITS, keep=True)
    same(first, compute_traits(MOLECULES.smiles))
    assert list(file.parent.iterdir()) == [file]
    computed = []
    monkeypatch.setattr(
        kept, "compute_traits", lambda smiles, **how: computed.extend(smiles) or compute_traits(smiles, **how)
    )
    same(kept_traits(MOLECULES.smiles, TRAITS, keep=True), first)
    assert computed == []


@pytest.mark.parametrize("version", ["rdkit", "agents", "file"])
def test_another_version_computes_again(file, monkeypatch, version):
    kept_traits(MOLECULES.smiles, TRAITS, keep=True)
    if version == "rdkit":
        monkeypatch.setattr("rdkit.__version__", "0")
    elif version == "agents":
        monkeypatch.setattr(kept.MoleculeAgent, "algorithm", 0)
    else:
        monkeypatch.setattr(kept, "FORMAT", 0)
    same(kept_traits(MOLECULES.smiles, TRAITS, keep=True), compute_traits(MOLECULES.smiles))
    assert len(list(file.parent.iterdir())) == 2


@pytest.mark.parametrize("left", [slice(-100), slice(0)], ids=["cut", "empty"])
def test_a_damaged_file_is_replaced(file, left):
    expected = kept_traits(MOLECULES.smiles, TRAITS, keep=True)
    whole = file.read_bytes()
    file.write_bytes(whole[left])
    same(kept_traits(MOLECULES.smiles, TRAITS, keep=True), expected)
    assert file.read_bytes() == whole


def test_processes_compute_what_one_computes(monkeypatch):
    monkeypatch.setattr(kept, "CHUNK", 7)
    alone = kept_traits(MOLECULES.smiles, TRAITS)
    monkeypatch.setattr(kept, "MANY", 7)
    same(kept_traits(MOLECULES.smiles, TRAITS, workers=2), alone)
    same(alone, compute_traits(MOLECULES.smiles))


def test_a_set_has_the_traits_of_a_table_and_of_molecules_outside_it():
    every = MOLECULES.join(from_smiles(["CCO", "C1CC1"]))
    described = describe(every, ["molecule-ucb"], len(MOLECULES), keep=True)
    assert isinstance(described, DescribedMolecules)
    assert described.ids == every.ids
    same(described.traits, compute_traits(every.smiles))
    assert describe(described, ["molecule-ucb"], len(MOLECULES), keep=True) is described
    assert len(Traits.from_arrays(kept._cache_of(MOLECULES.smiles, False).load())) == len(MOLECULES)
