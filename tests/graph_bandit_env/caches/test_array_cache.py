"""A cache gives back what was saved for the same key, or nothing."""

import numpy as np
import pytest

from graph_bandit_env.caches import ArrayCache

ARRAYS = {"counts.bins": np.arange(50, dtype=np.uint16), "numbers": np.array([[0.5, np.nan]], np.float32)}


@pytest.fixture
def cache(tmp_path):
    return ArrayCache(tmp_path / "pool.csv", b"key", 10_000, "traits")


def same(found):
    assert list(found) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_arrays_come_back_as_they_were(cache):
    assert cache.load() is None
    assert cache.save(ARRAYS)
    assert cache.path.name == ".pool.csv.traits.npz"
    same(cache.load())


def test_equal_arrays_make_equal_files(cache):
    cache.save(ARRAYS)
    before = cache.path.read_bytes()
    cache.save(ARRAYS)
    assert cache.path.read_bytes() == before


def test_a_file_of_another_key_or_with_too_much_in_it_is_not_read(cache):
    cache.save(ARRAYS | {"zeros": np.zeros(9000, np.uint8)})
    table = cache.path.with_name("pool.csv")
    assert ArrayCache(table, b"key", 10_000, "traits").load() is not None
    assert ArrayCache(table, b"yek", 10_000, "traits").load() is None
    assert ArrayCache(table, b"key", 9000, "traits").load() is None


def test_objects_are_neither_written_nor_read(cache):
    with pytest.raises(ValueError, match="pickle"):
        cache.save({"objects": np.array([{}])})
    assert cache.load() is None


def test_a_folder_that_takes_no_file_takes_no_cache(tmp_path):
    cache = ArrayCache(tmp_path / "none" / "pool.csv", b"key", 10_000)
    assert not cache.save(ARRAYS)
    assert cache.load() is None
