"""A cache is read only if it holds exactly the molecules of a table."""

import io
import os
from concurrent.futures import ThreadPoolExecutor

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
    first = from_smiles_csv(table, forms="apart")
    assert file.is_file()
    with monkeypatch.context() as patch:
        patch.setattr("graph_bandit_env.pools.molecule_parser._parse_here", lambda smiles: pytest.fail("read again"))
        again = from_smiles_csv(table, forms="apart")
    assert everything(again) == everything(first)
    table.write_text(table.read_text().replace("CCO", "CCN"))
    assert from_smiles_csv(table, forms="apart").smiles[0] == "CCN"


def test_a_cache_with_a_flipped_bit_or_cut_off_or_empty_is_replaced(table, file):
    molecules = parse(SMILES, cache=True)
    cache, generator = Cache(SMILES), np.random.default_rng(0)
    whole = file.read_bytes()
    assert np.array_equal(cache.load().links, molecules.links)
    damaged = [b"", whole + b"\0", whole[:-1], whole[1:], generator.bytes(500)]
    damaged += [whole[: generator.integers(len(whole))] for _ in range(50)]
    for place, bit in zip(generator.integers(len(whole), size=150), generator.integers(8, size=150), strict=True):
        damaged.append(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
    for content in damaged:
        file.write_bytes(content)
        assert cache.load() is None
    assert from_smiles_csv(table, forms="apart").smiles == molecules.canonical
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


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("canonical", lambda array: array[:3]),
        ("canonical", lambda array: np.full_like(array, 255)),
        ("written", lambda array: array[:3]),
        ("atom_offsets", lambda array: array + 1),
        ("atom_offsets", lambda array: array[::-1]),
        ("bond_offsets", lambda array: array - array[-1]),
        ("atom_offsets", lambda array: array[:-1]),
        ("atoms", lambda array: array[:, :5]),
        ("atoms", lambda array: array.astype(float)),
        ("atoms", lambda array: array[:-1]),
        ("links", lambda array: array + 100),
        ("links", lambda array: -array),
        ("links", lambda array: array.astype(np.int32)),
        ("links", lambda array: array.astype(np.float16)),
        ("bonds", lambda array: array.astype(object)),
        ("bonds", lambda array: np.zeros((1 << 20, 3), np.uint8)),  # packed into a few kB
    ],
)
def test_a_forged_cache_is_not_read(file, name, change):
    """A right digest makes no molecules out of arrays that are none."""
    arrays = dict(vars(parse(SMILES)))
    for texts in ("canonical", "written"):
        arrays[texts] = np.frombuffer("\n".join(arrays[texts]).encode(), np.uint8)
    content, cache = io.BytesIO(), Cache(SMILES)
    file.parent.mkdir()
    np.savez_compressed(content, **arrays)
    file.write_bytes(content.getvalue() + cache.file.digest(content.getvalue()))
    assert cache.load() is not None
    content = io.BytesIO()
    np.savez_compressed(content, **arrays | {name: change(arrays[name])})
    file.write_bytes(content.getvalue() + cache.file.digest(content.getvalue()))
    assert cache.load() is None


def test_writers_at_the_same_time_leave_one_whole_cache(file):
    molecules, cache = parse(SMILES), Cache(SMILES)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(cache.save, [molecules] * 64))
    assert cache.load().canonical == molecules.canonical
    assert list(file.parent.iterdir()) == [file]


def test_a_cache_is_on_the_disk_before_it_has_its_name(table, monkeypatch):
    steps, fsync, replace = [], os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda file: (steps.append("fsync"), fsync(file)))
    monkeypatch.setattr(os, "replace", lambda *paths: (steps.append("replace"), replace(*paths)))
    from_smiles_csv(table, forms="apart")
    assert steps == ["fsync", "replace"]


def test_a_table_is_read_where_no_cache_can_be_kept(table, file, monkeypatch):
    file.mkdir(parents=True)
    assert from_smiles_csv(table, forms="apart").smiles == parse(SMILES).canonical
    file.rmdir()
    monkeypatch.setattr(os, "fsync", lambda file: (_ for _ in ()).throw(OSError("no space left")))
    assert from_smiles_csv(table, forms="apart").smiles == parse(SMILES).canonical
    assert list(file.parent.iterdir()) == []
