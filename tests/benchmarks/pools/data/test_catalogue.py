import numpy as np
import pandas as pd
import pytest

from benchmarks.pools.data.catalogue import ADME, GROUPS, POOLS, find_pools

SMILES = ["CCO", "CCN", "CCCl", "CCC"]


@pytest.fixture
def folder(tmp_path):
    endpoints = {column: [0.5, 2.0, np.nan, 1.0] for column, _ in ADME.values()}
    endpoints[ADME["HLM"][0]] = [1.0, 2.0, 3.0, np.nan]
    pd.DataFrame({"SMILES": SMILES, **endpoints}).to_csv(tmp_path / "adme.csv")
    return tmp_path


def test_pools_with_columns_of_their_own_are_the_same_molecules_with_the_same_start(folder):
    plain, informed, noisy = (pool.read(folder) for pool in find_pools(["HLM", "own-columns"]))
    assert plain.smiles == informed.smiles == noisy.smiles
    assert plain.targets.tolist() == informed.targets.tolist() == [-1, -2, -3]
    np.testing.assert_array_equal(informed.columns, [[0.5] * 3, [2.0] * 3, [np.nan] * 3])
    assert (plain.columns.shape, noisy.columns.shape) == ((3, 0), (3, 10))
    assert {pool.molecules for pool in GROUPS["own-columns"]} == {"HLM"}


def test_pools_are_found_by_name_and_by_group_each_once():
    names = [pool.name for pool in find_pools(["HLM", "own-columns", "docking-7"])]
    assert names == ["HLM", "HLM+endpoints", "HLM+noise", "docking-7"]
    assert POOLS["HLM"] in GROUPS["adme"]


def test_an_unknown_pool_is_refused_with_the_nearest():
    with pytest.raises(ValueError, match="Unknown pool `HLN`. Did you mean `HLM`?"):
        find_pools(["HLN"])
