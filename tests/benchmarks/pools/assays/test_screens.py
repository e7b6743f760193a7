"""A screen before a dear assay: who measures what, and what it costs."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.pools.assays import screens

POOL = "zinc_QED"


@pytest.fixture(autouse=True)
def few(monkeypatch):
    for name, value in (("START", 12), ("BATCH", 6), ("MOST", 24), ("FIRST", 6), ("TREES", 20)):
        monkeypatch.setattr(screens, name, value)
    screens._read.cache_clear()


@pytest.mark.parametrize("player", ["dear", "screened", "list"])
def test_each_player_measures_as_many_molecules_once(player, folder):
    study = screens.ScreensStudy(data=folder, pools=(POOL,))
    rows = [*study.play(POOL, player, 0)]
    start = 12 if player == "dear" else 6
    assert [row[1] for row in rows] == [*range(start, 25, 6)]
    assert {row[2] for row in rows} == {0 if player == "dear" else 45}
    found = [row[3] for row in rows]
    assert found == sorted(found)
    assert found[-1] <= rows[-1][4] == 4


def test_the_classes_of_a_screen_find_more_than_chance(folder):
    study = screens.ScreensStudy(data=folder, pools=(POOL,))
    found = [[*study.play(POOL, "screened", seed)][-1][3] for seed in range(3)]
    assert np.mean(found) > 4 * 24 / 90


def test_costs_are_in_dear_results_and_gains_of_equal_plays(folder):
    rows = [
        ("p", player, str(seed), 1.0, results, screened, found, 10)
        for seed in range(3)
        for player, screened, start in (("dear", 0, 0), ("screened", 100, 2))
        for results, found in ((6, start + 1), (12, start + 2), (18, start + 3), (24, start + 4))
    ]
    asked = screens.ScreensStudy(data=folder, pools=(POOL,))
    at_10, at_100 = asked.tables(pd.DataFrame(rows, columns=[*asked.key, *asked.scores]))
    assert at_10.rows[1][2:] == ("40.0 [40.0, 40.0]", "", "24 [24, 24]")
    assert at_10.rows[2][2:] == ("40.0 [40.0, 40.0]", "+0.0 [+0.0, +0.0]", "22 [22, 22]")  # 12 and 100 / 10
    assert at_100.rows[2][2:] == ("50.0 [50.0, 50.0]", "+10.0 [+10.0, +10.0]", "13 [13, 13]")
