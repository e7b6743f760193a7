"""A cache is read only if it holds exactly the molecules of a table."""

import os

import numpy as np
import pytest

from graph_bandit_env.pools import molecule_parser
from graph_bandit_env.pools.molecule_parser import Cache, parse
from graph_bandit_env.pools.molecule_sources import from_smiles_csv

SMILES = ("CCO", "c1ccccc1C(=O)[O-].[Na+]", "C", "F/C=C\\F", "N[C@@H](C)C(=O)O", "C#N", "O=[N+]([O-])c1ccc(Br)cc1")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "pool.csv"
    path.write_text("\n".join(["smiles", *SMILES]) + "\n")
    return path


@pytest.fixture
def file(cache_folder):
    """The cache of `SMILES`."""
    return cache_folder / Cache(SMILES).file.name


def everything(molecules):
    return molecules.smiles, [[part.tolist() for part in graph] for graph in molecules]


def test_the_cache_gives_the_same_and_follows_the_content(table, file, monkeypatch):
    first = from_smiles_csv(table, salts="separate")
    assert file.is_file()
    with monkeypatch.context() as patch:
        patch.setattr("graph_bandit_env.pools.molecule_parser._parse_here", lambda smiles: pytest.fail("read again"))
        again = from_smiles_csv(table, salts="separate")
    assert everything(again) == everything(first)
    table.write_text(table.read_text().replace("CCO", "CCN"))
    assert from_smiles_csv(table, salts="separate").smiles[0] == "CCN"


def test_a_cache_with_a_flipped_bit_or_cut_off_or_empty_is_replaced(table, file):
    molecules = parse(SMILES, cache=True)
    cache, generator = Cache(SMILES), np.random.default_rng(0)
    whole = file.read_bytes()
    assert np.array_equal(cache.load().links, molecules.links)
    damaged = [b"", whole + b"\0", whole[:-1], whole[1:], generator.bytes(500)]
    damaged += [whole[: generator.integers(len(whole))] for _ in range(10)]
    for place, bit in zip(generator.integers(len(whole), size=25), generator.integers(8, size=25), strict=True):
        damaged.append(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
    for content in damaged:
        file.write_bytes(content)
        assert cache.load() is None
    assert from_smiles_csv(table, salts="separate").smiles == molecules.canonical
    assert file.read_bytes() == whole


def test_a_cache_of_other_molecules_or_another_version_is_not_read(monkeypatch):
    parse(SMILES, cache=True)
    assert Cache(SMILES).load() is not None
    assert Cache(SMILES[::-1]).load() is None
    assert Cache(("CCO\nC", *SMILES[2:])).load() is None
    with monkeypatch.context() as patch:
        patch.setattr(molecule_parser, "FORMAT", 0)
        assert Cache(SMILES).load() is None
    monkeypatch.setattr("rdkit.__version__", "0")
    assert Cache(SMILES).load() is None


def test_a_table_is_read_where_no_cache_can_be_kept(table, file, monkeypatch):
    file.mkdir(parents=True)
    assert from_smiles_csv(table, salts="separate").smiles == parse(SMILES).canonical
    file.rmdir()
    monkeypatch.setattr(os, "fsync", lambda file: (_ for _ in ()).throw(OSError("no space left")))
    assert from_smiles_csv(table, salts="separate").smiles == parse(SMILES).canonical
    assert list(file.parent.iterdir()) == []
