"""The cache folder is the user's alone, holds no more than it may, and gives up nothing but its own pools."""

import os
import stat
import sys

import pytest

from graph_bandit_env.storage import cache_folder as module
from graph_bandit_env.storage import clear_cache, make_room, measure_cache, open_cache

needs_unix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes and owners of this kind")


def put(letter, size=100):
    """Put a pool into the folder."""
    pool = open_cache() / f"{letter * 64}.pool"
    pool.mkdir()
    (pool / "part").write_bytes(b"x" * size)
    return pool


@needs_unix
def test_a_new_folder_is_open_to_its_user_alone(cache_folder):
    assert open_cache() == cache_folder
    assert stat.S_IMODE(cache_folder.stat().st_mode) == 0o700


@needs_unix
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_a_folder_that_others_may_write_into_is_not_used(cache_folder, mode):
    cache_folder.mkdir()
    cache_folder.chmod(mode)
    assert open_cache() is None


def test_what_was_used_the_longest_time_ago_makes_room(cache_folder, monkeypatch):
    pools = [put(letter) for letter in "abcd"]
    for age, pool in zip((4, 1, 3, 2), pools, strict=True):
        os.utime(pool, ns=(10**9 * age,) * 2)
    monkeypatch.setattr(module, "MOST", 300)
    make_room(cache_folder)
    assert not pools[1].exists()
    monkeypatch.setattr(module, "MOST", 200)
    make_room(cache_folder)
    assert sorted(cache_folder.iterdir()) == [pools[0], pools[2]]
    monkeypatch.setattr(module, "MOST", 50)  # less than the one that is used now
    make_room(cache_folder)
    assert [*cache_folder.iterdir()] == [pools[0]]


def test_what_is_ours_is_counted_and_cleared_and_others_files_are_not(cache_folder):
    put("a")
    (cache_folder / f"{'0' * 64}.lock").write_bytes(b"of another process")
    (cache_folder / "own.npz").write_bytes(b"mine")
    assert measure_cache() == (2, 118)
    clear_cache()
    assert [path.name for path in cache_folder.iterdir()] == ["own.npz"]
