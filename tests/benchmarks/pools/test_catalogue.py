"""Pools by name, read as they are wanted."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.pools.catalogue import ADME, GROUPS, POOLS, Pool, find_pools

SMILES = ["CCO", "c1ccccc1", "CCN", "OCC", "CCCC", "c1ccccc1O", "CC", "CCCl"]  # two are ethanol


def test_groups_and_pools_are_found_once_each_in_the_order_of_their_names():
    names = [pool.name for pool in find_pools(["Mpro", "affinity", "own-columns", "docking-7"])]
    assert names == ["Mpro", "TYK2", "USP7", "D2R", "HLM+endpoints", "HLM+noise", "docking-7"]
    assert {name: len(group) for name, group in GROUPS.items() if len(group) > 6} == {"zinc": 12, "chembl": 30}
    assert len(POOLS) == sum(map(len, GROUPS.values()))  # all names are different


def test_values_that_were_computed_are_told_from_measured_ones():
    assert {pool.kind for pool in find_pools(["zinc", "TYK2", "docking-1"])} == {"computed"}
    assert {pool.kind for pool in find_pools(["chembl", "adme", "esol", "D2R"])} == {"measured"}


@pytest.mark.parametrize(
    ("name", "message"),
    [("zink", "Did you mean `zinc`"), ("docking-", "Unknown pool `docking-`"), ("HLN", "Did you mean `HLM`")],
)
def test_an_unknown_pool_is_refused(name, message):
    with pytest.raises(ValueError, match=message):
        find_pools([name])


@pytest.mark.parametrize(
    ("wanted", "value_of"), [("large", lambda x: x), ("small", lambda x: -x), ("potent", lambda x: -np.log10(x))]
)
def test_large_values_are_wanted_whatever_the_table_has(tmp_path, wanted, value_of):
    raw = [1.0, 10.0, 100.0, 4.0, 5.0, np.nan, 7.0, 8.0]
    pd.DataFrame({"smiles": SMILES, "target": raw}).to_csv(tmp_path / "table.csv.gz", index=False)
    molecules = Pool("p", "measured", "table.csv.gz", "target", wanted).read(tmp_path)
    expected = [(value_of(1.0) + value_of(4.0)) / 2, *map(value_of, [10.0, 100.0, 5.0, 7.0, 8.0])]
    assert molecules.targets.tolist() == pytest.approx(expected)


def test_pools_with_columns_of_their_own_are_the_same_molecules_with_the_same_start(tmp_path):
    endpoints = {column: [0.5, 2.0, np.nan, 1.0] for column, _ in ADME.values()}
    endpoints[ADME["HLM"][0]] = [1.0, 2.0, 3.0, np.nan]
    pd.DataFrame({"SMILES": ["CCO", "CCN", "CCCl", "CCC"], **endpoints}).to_csv(tmp_path / "adme.csv")
    plain, informed, noisy = (pool.read(tmp_path) for pool in find_pools(["HLM", "own-columns"]))
    assert plain.smiles == informed.smiles == noisy.smiles
    assert plain.targets.tolist() == informed.targets.tolist() == [-1, -2, -3]
    np.testing.assert_array_equal(informed.columns, [[0.5] * 3, [2.0] * 3, [np.nan] * 3])
    assert (plain.columns.shape, noisy.columns.shape) == ((3, 0), (3, 10))
    assert {pool.molecules for pool in GROUPS["own-columns"]} == {"HLM"}


def test_cells_are_read_as_graphs(tmp_path):
    cell = "|avg_pool_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_3x3~2|"
    pd.DataFrame({"cellstr": [cell], "accuracy": [61.5]}).to_csv(tmp_path / "cells.csv", index=False)
    pool = Pool("accuracy", "cells", "cells.csv", "accuracy", graphs="cellstr")
    assert pool.read(tmp_path).targets.tolist() == [61.5]
