"""Pools by name, read as they are wanted, and the scores of a replay by their definitions."""

import types
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.pools.data import sources
from benchmarks.pools.data.catalogue import GROUPS, POOLS, Pool, find_pools
from benchmarks.pools.data.sources import PLANS, Plan, Replay, share_of_way
from graph_bandit_env import MoleculeSet

SMILES = ["CCO", "c1ccccc1", "CCN", "OCC", "CCCC", "c1ccccc1O", "CC", "CCCl"]  # two are ethanol


def test_groups_and_pools_are_found_once_each_in_the_order_of_their_names():
    assert [pool.name for pool in find_pools(["Mpro", "affinity", "docking-7"])] == [
        "Mpro",
        "TYK2",
        "USP7",
        "D2R",
        "docking-7",
    ]
    assert {name: len(group) for name, group in GROUPS.items() if len(group) > 6} == {"zinc": 12, "chembl": 30}
    assert len(POOLS) == sum(map(len, GROUPS.values()))  # all names are different


def test_values_that_were_computed_are_told_from_measured_ones():
    assert {pool.kind for pool in find_pools(["zinc", "TYK2", "docking-1"])} == {"computed"}
    assert {pool.kind for pool in find_pools(["chembl", "adme", "esol", "D2R"])} == {"measured"}


@pytest.mark.parametrize(
    ("name", "message"), [("zink", "Did you mean `zinc`"), ("docking-", "Unknown pool `docking-`")]
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


def test_cells_are_read_as_graphs_and_are_not_screened(tmp_path):
    cell = "|avg_pool_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_3x3~2|"
    pd.DataFrame({"cellstr": [cell], "accuracy": [61.5]}).to_csv(tmp_path / "cells.csv", index=False)
    pool = Pool("accuracy", "cells", "cells.csv", "accuracy", graphs="cellstr")
    assert pool.read(tmp_path).targets.tolist() == [61.5]
    with pytest.raises(ValueError, match="Expected a pool of molecules. Got `accuracy`, which has cells"):
        Replay(tmp_path, pool, PLANS["sequential"]).read()


def test_a_replay_mixes_the_rows_of_a_table(tmp_path):
    """A player that breaks ties by index must not profit from a table that is sorted by value."""
    chains = ["C" * n for n in range(1, 41)]
    pd.DataFrame({"smiles": chains, "target": range(40)}).to_csv(tmp_path / "table.csv", index=False)
    screens = [
        Replay(tmp_path, Pool(name, "computed", "table.csv", "target"), Plan(3, 2, 4, (), ())).read()
        for name in ("p", "p", "q")
    ]
    assert [(screen.start, screen.batch, screen.rounds) for screen in screens] == [(3, 2, 4)] * 3
    first, again, other = (screen.values.tolist() for screen in screens)
    assert first == again != other != sorted(other)
    assert [len(smiles) - 1 for smiles in screens[0].molecules.smiles] == first


def test_the_name_of_a_replay_tells_how_the_pool_is_measured():
    assert Replay(Path(), POOLS["Mpro"], PLANS["affinity"]).name == "Mpro, 60 + 10 x 30"


def test_plans_are_those_of_the_papers_and_show_scores_that_there_are():
    assert {name: (plan.start, plan.batch, plan.rounds) for name, plan in PLANS.items()} == {
        "affinity": (60, 30, 10),
        "zinc": (10, 5, 18),
        "chembl": (30, 20, 5),
        "sequential": (10, 1, 40),
    }
    assert all(set(plan.shown) <= set(Replay.scores) and find_pools(plan.pools) for plan in PLANS.values())


def test_scores_of_a_replay_are_those_of_its_order():
    generator = np.random.default_rng(0)
    values = generator.permutation(200).astype(float)  # the top 1, 2 and 5 % are 2, 4 and 10 molecules
    order = np.argsort(values)[[0, 50, 100, 150, 190, 199, 197]]
    screen = types.SimpleNamespace(values=values, start=3)
    scores = dict(zip(Replay.scores, Replay(Path(), POOLS["Mpro"], PLANS["zinc"]).score(screen, order), strict=True))
    assert scores == pytest.approx(
        {
            "% of the top 1 %": 50.0,
            "% of the top 2 %": 50.0,
            "% of the top 5 %": 30.0,
            "% of the way": 100.0,
            "% optimum found": 100.0,
            "mean simple regret (sd)": np.mean([49, 9, 0, 0]) / np.std(np.arange(200)),
        }
    )
    short = Replay(Path(), POOLS["Mpro"], PLANS["zinc"]).score(screen, order[:5])
    assert short[3:5] == pytest.approx((100 * 90 / 99, 0.0))


def test_there_is_no_way_to_go_from_the_best():
    values = np.array([1.0, 5.0, 3.0])
    assert share_of_way(values, np.array([1, 0]), start=1) == 1.0
    assert share_of_way(values, np.array([0, 2]), start=1) == 0.5


def test_molecules_of_a_pool_are_molecules(tmp_path):
    pd.DataFrame({"smiles": SMILES, "target": range(8)}).to_csv(tmp_path / "table.csv", index=False)
    assert isinstance(sources.read_molecules(Pool("p", "measured", "table.csv", "target"), tmp_path), MoleculeSet)
