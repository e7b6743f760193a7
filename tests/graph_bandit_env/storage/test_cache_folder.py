"""The cache folder is the user's alone, holds no more than it may, and gives up nothing but its own files."""

import os
import stat
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from graph_bandit_env import from_smiles_csv
from graph_bandit_env.storage import ArrayCache, CacheWarning, cache_path, clear_cache, measure_cache
from graph_bandit_env.storage import cache_folder as module

needs_unix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes and owners of this kind")
ARRAYS = {"numbers": np.arange(10)}


def save(*keys):
    return [cache.name for cache in (ArrayCache(key.encode(), 10_000) for key in keys) if cache.save(ARRAYS)]


@needs_unix
def test_a_new_folder_is_open_to_its_user_alone(cache_folder):
    save("key")
    assert stat.S_IMODE(cache_folder.stat().st_mode) == 0o700


@needs_unix
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_a_folder_that_others_may_write_into_is_not_used(cache_folder, mode):
    cache_folder.mkdir()
    cache_folder.chmod(mode)
    with pytest.warns(CacheWarning, match=r"It is open to others who write, so it is not used\. Set its mode to 700"):
        assert save("key") == []
    assert list(cache_folder.iterdir()) == []


@needs_unix
def test_a_folder_of_another_user_is_not_used(cache_folder, monkeypatch):
    save("key")
    monkeypatch.setattr(os, "geteuid", lambda: cache_folder.stat().st_uid + 1)
    with pytest.warns(CacheWarning, match="It belongs to another user"):
        assert ArrayCache(b"key", 10_000).load() is None


def test_without_the_variable_the_folder_is_that_of_the_system(monkeypatch):
    monkeypatch.delenv(module.VARIABLE)
    assert cache_path().name == "graph-bandit" or "graph-bandit" in cache_path().parts
    monkeypatch.setenv(module.VARIABLE, "here")
    assert cache_path() == module.Path.cwd() / "here"


def test_without_a_home_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(module.VARIABLE)
    monkeypatch.setattr(module.platformdirs, "user_cache_path", lambda *_, **__: module.Path("~", ".cache"))
    assert save("key") == []
    assert list(tmp_path.iterdir()) == []


def test_the_files_that_were_used_the_longest_time_ago_make_room(cache_folder, monkeypatch):
    names = save("a", "b", "c")
    for age, name in enumerate(names):
        os.utime(cache_folder / name, ns=(10**9 * (age + 1),) * 2)
    assert ArrayCache(b"a", 10_000).load() is not None  # used now
    monkeypatch.setattr(module, "MOST", 3 * (cache_folder / names[0]).stat().st_size)
    (last,) = save("d")
    assert {path.name for path in cache_folder.iterdir()} == {names[0], names[2], last}
    monkeypatch.setattr(module, "MOST_FILES", 2)
    (another,) = save("e")
    assert another in {path.name for path in cache_folder.iterdir()}
    assert measure_cache()[0] == 2


def test_what_killed_writers_left_counts_and_others_files_do_not(cache_folder):
    (name,) = save("key")
    (cache_folder / f"{name}.77.{'0' * 16}.part").write_bytes(b"half")
    (cache_folder / "own.npz").write_bytes(b"mine")
    size = (cache_folder / name).stat().st_size
    assert measure_cache() == (2, size + 4)
    clear_cache()
    assert [path.name for path in cache_folder.iterdir()] == ["own.npz"]
    assert measure_cache() == (0, 0)


def test_clearing_a_folder_that_is_not_there_is_no_error():
    clear_cache()
    assert measure_cache() == (0, 0)


def test_files_of_earlier_versions_are_named_never_read_and_never_deleted(tmp_path):
    table, others = tmp_path / "pool.csv", [".pool.csv.gz.npz", ".pool.csv.notes.npz", ".other.csv.npz", "pool.csv.npz"]
    table.write_text("smiles\nCCO\n")
    for name in (".pool.csv.npz", *others):
        (tmp_path / name).write_bytes(b"old")
    with pytest.warns(CacheWarning) as told:
        from_smiles_csv(table)
    assert str(told[0].message) == "`.pool.csv.npz` is from an earlier version, is not read, and may be deleted."
    for name in (".pool.csv.traits.npz", ".pool.csv.0123456789ab.npz.77.part", ".pool.csv.npz.part"):
        (tmp_path / name).write_bytes(b"old")
    with pytest.warns(CacheWarning, match=r"`\.pool\.csv\.0123456789ab\.npz\.77\.part`, .* are from an earlier"):
        from_smiles_csv(table)
    assert len(list(tmp_path.iterdir())) == 9


def test_a_table_in_a_folder_of_others_is_read_as_it_stands(tmp_path):
    """Whoever may write next to a table cannot exchange its molecules."""
    first, second = (tmp_path / name for name in ("a.csv", "b.csv"))
    first.write_text("id,smiles\nx,CCO\ny,CCN\n")
    second.write_text("id,smiles\nx,CCN\ny,CCO\n")
    assert [from_smiles_csv(path, identifier="id").smiles for path in (first, second)] == [
        ("CCO", "CCN"),
        ("CCN", "CCO"),
    ]
    assert {path.name for path in tmp_path.iterdir()} == {"a.csv", "b.csv"}


def test_two_equal_tables_share_a_file(tmp_path, cache_folder):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("smiles\nCCO\n")
        from_smiles_csv(tmp_path / name)
    assert len(list(cache_folder.iterdir())) == 1


def test_windows_has_no_owners_to_look_at(cache_folder, monkeypatch):
    cache_folder.mkdir(mode=0o777)
    monkeypatch.setattr(module, "os", SimpleNamespace(environ=os.environ))
    assert module.open_cache() == cache_folder
