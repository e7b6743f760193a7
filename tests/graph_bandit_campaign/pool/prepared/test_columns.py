"""Traits as columns of Parquet files, and back."""

import numpy as np
import pyarrow as pa
import pytest
from support.molecules import some_molecules

from agents.molecule import compute_traits
from graph_bandit_campaign.pool.prepared.columns import from_arrow, to_arrow

TRAITS_OF_NINE = compute_traits(some_molecules(9).smiles)
TABLE = pa.table(to_arrow(TRAITS_OF_NINE))


def back(table):
    return from_arrow(table, TRAITS_OF_NINE.names, TRAITS_OF_NINE.stereo, ())


def assert_equal(traits, expected):
    assert len(traits) == len(expected)
    arrays = traits.arrays()
    assert arrays.keys() == expected.arrays().keys()
    for name, array in expected.arrays().items():
        np.testing.assert_array_equal(arrays[name], array)


@pytest.mark.parametrize(("begin", "end"), [(0, 9), (0, 4), (4, 9), (3, 3)])
def test_rows_come_back_as_the_traits_of_their_molecules(begin, end):
    assert_equal(back(TABLE.slice(begin, end - begin)), TRAITS_OF_NINE.between(begin, end))


def test_columns_in_several_chunks_come_back_whole():
    assert_equal(back(pa.concat_tables([TABLE.slice(0, 2), TABLE.slice(2)])), TRAITS_OF_NINE)
