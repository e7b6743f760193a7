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


@pytest.mark.parametrize("damage", ["cut", "empty", "fewer", "no traits"])
def test_a_file_with_something_else_is_replaced(file, damage):
    expected = kept_traits(MOLECULES.smiles, TRAITS, keep=True)
    cache = kept._cache_of(MOLECULES.smiles, False)
    whole = file.read_bytes()
    if damage == "cut":
        file.write_bytes(whole[:-100])
    elif damage == "empty":
        file.write_bytes(b"")
    elif damage == "wrong":  # as if the code that computes them had changed
        cache.save(Traits.from_arrays(expected.arrays() | {"properties": expected.numbers["properties"] + 1}).arrays())
    elif damage == "fewer":
        cache.save(expected.take(range(20)).arrays())
    else:
        cache.save({"x": np.zeros(3)})
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
    assert len(kept._load(kept._cache_of(MOLECULES.smiles, False), MOLECULES.smiles, False)) == len(MOLECULES)
