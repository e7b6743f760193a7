"""The cache folder is the user's alone, holds no more than it may, and gives up nothing but its own files."""

import os
import stat
import sys

import numpy as np
import pytest

from graph_bandit_env.storage import ArrayCache, cache_path, clear_cache, measure_cache
from graph_bandit_env.storage import cache_folder as module

needs_unix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes and owners of this kind")
ARRAYS = {"counts.bins": np.arange(50, dtype=np.uint16), "numbers": np.array([[0.5, np.nan]], np.float32)}


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
    assert not save("key")
    assert not [*cache_folder.iterdir()]


def test_without_the_variable_the_folder_is_that_of_the_system(monkeypatch):
    monkeypatch.delenv(module.VARIABLE)
    assert cache_path().name == "graph-bandit" or "graph-bandit" in cache_path().parts
    monkeypatch.setenv(module.VARIABLE, "here")
    assert cache_path() == module.Path.cwd() / "here"


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
    pool = cache_folder / f"{'1' * 64}.pool"
    pool.mkdir()
    (pool / "part").write_bytes(b"a table")
    size = (cache_folder / name).stat().st_size
    assert measure_cache() == (3, size + 11)
    clear_cache()
    assert [path.name for path in cache_folder.iterdir()] == ["own.npz"]
    assert measure_cache() == (0, 0)


@pytest.fixture
def cache():
    return ArrayCache(b"key", 10_000)


def same(found):
    assert list(found) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_arrays_come_back_as_they_were(cache, cache_folder):
    assert cache.load() is None
    assert cache.save(ARRAYS)
    assert [path.name for path in cache_folder.iterdir()] == [cache.name]
    same(cache.load())


def test_a_file_of_another_key_or_with_too_much_in_it_is_not_read(cache, cache_folder):
    cache.save(ARRAYS)
    assert ArrayCache(b"key", 10_000).load() is not None
    assert ArrayCache(b"key", 100).load() is None
    other = ArrayCache(b"yek", 10_000)
    (cache_folder / cache.name).rename(cache_folder / other.name)
    assert other.load() is None


def test_a_folder_that_takes_no_file_takes_no_cache(cache, cache_folder):
    cache_folder.write_text("a file")
    assert not cache.save(ARRAYS)
    assert cache.load() is None
