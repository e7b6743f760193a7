"""Tables of plays: pairs of equal starts, whole pools drawn for intervals, computed and measured values apart."""

from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.pools.data.catalogue import POOLS
from benchmarks.pools.data.sources import PLANS, DockingScores, Replay
from benchmarks.pools.summary import tables
from graph_bandit_lab.analysis import bootstrap_interval

WAY = "% of the way"


def replay(name):
    return Replay(Path(), POOLS[name], PLANS["zinc"])


def plays_of(rows):
    """A table of (pool, player, seed, share of the way)."""
    columns = ["screen", "player", "seed", "seconds", *Replay.scores]
    filled = [(replay(pool).name, player, seed, 2.0, *[way] * len(Replay.scores)) for pool, player, seed, way in rows]
    return pd.DataFrame(filled, columns=columns)


def test_differences_are_those_of_common_seeds():
    source = DockingScores(Path(), draw=1)
    rows = [("a", 0, 1.0, 10.0), ("a", 1, 3.0, 30.0), ("b", 1, 5.0, 35.0)]
    plays = pd.DataFrame(
        [(source.name, *row) for row in rows], columns=["screen", "player", "seed", "seconds", *source.scores]
    )
    (table,) = tables(plays, [source], ["b", "c", "a"], reference="a")
    header, first, second = table.rows
    assert header[:3] == ("player", "% of the top 100 [95 % interval]", "less a [95 % interval]")
    assert first == ("b", "35.0 [35.0, 35.0]", "+5.0 [+5.0, +5.0]", "1", "5.0")
    assert second == ("a", "20.0 [10.0, 30.0]", "", "2", "2.0")


def test_every_pool_counts_once_and_intervals_draw_whole_pools():
    """So that a pool with many starts, which resemble each other, does not look like much evidence."""
    names = ["zinc_QED", "zinc_LogP", "zinc_Median_1"]
    levels, starts = dict(zip(names, (10.0, 40.0, 70.0), strict=True)), dict(zip(names, (9, 2, 1), strict=True))
    rows = [(name, "a", seed, levels[name]) for name in names for seed in range(starts[name])]
    rows += [(name, "b", seed, levels[name] + 3.0 + (seed == 0)) for name in names for seed in range(starts[name])]
    found = tables(plays_of(rows), [replay(name) for name in names], ["a", "b"], reference="a")
    assert found[0].title == "3 pools, computed: % of the way, with 95 % intervals over pools"
    _, first, second = found[0].rows
    low, high = bootstrap_interval(np.array([10.0, 40.0, 70.0]))
    assert first == ("a", f"40.0 [{low:.1f}, {high:.1f}]", "", "3", "12", "2.0")
    assert second[2].startswith("+3.5 [")  # the mean of 3 + 1/9, 3 + 1/2 and 3 + 1


def test_rows_of_each_pool_have_intervals_over_starts():
    rows = [
        ("zinc_QED", player, seed, 10.0 * seed + shift) for player, shift in (("a", 0), ("b", 1)) for seed in (0, 1)
    ]
    rows += [("zinc_LogP", "a", 0, 5.0)]
    sources = [replay("zinc_LogP"), replay("zinc_QED")]
    by_pool = tables(plays_of(rows), sources, ["a", "b"], reference="a", by_pool=True)[1]
    assert by_pool.title == "By pool, computed: % of the way, with 95 % intervals over starts"
    assert by_pool.rows[1:] == [
        ("zinc_LogP", "a", "5.0 [5.0, 5.0]", "", "1"),
        ("zinc_QED", "a", "5.0 [0.0, 10.0]", "", "2"),
        ("zinc_QED", "b", "6.0 [1.0, 11.0]", "+1.0 [+1.0, +1.0]", "2"),
    ]


def test_computed_and_measured_values_have_tables_of_their_own():
    rows = [("zinc_QED", "a", 0, 1.0), ("Mpro", "a", 0, 3.0)]
    found = tables(plays_of(rows), [replay("zinc_QED"), replay("Mpro")], ["a"], reference="a")
    assert len(found) == 2 * len(PLANS["zinc"].shown)
    assert [table.rows[1][1] for table in found if WAY in table.title] == ["1.0 [1.0, 1.0]", "3.0 [3.0, 3.0]"]
