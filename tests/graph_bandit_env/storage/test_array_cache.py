"""A cache gives back what was saved for the same key, or nothing."""

import numpy as np
import pytest

from graph_bandit_env.storage import ArrayCache

ARRAYS = {"counts.bins": np.arange(50, dtype=np.uint16), "numbers": np.array([[0.5, np.nan]], np.float32)}


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
