"""What another assay adds: its results as values, classes and bounds, and differences of equal plays."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.pools.studies.sources import PAIRS, SourcesStudy, _results_of

VALUES = np.arange(10.0)


def test_no_assay_is_played_to_choose_and_to_report():
    assays = [{name for pair in pairs for name in pair.split(":")} for pairs in PAIRS.values()]
    assert not assays[0] & assays[1]


def test_classes_and_bounds_are_of_the_same_results():
    values, sides = _results_of("classes", VALUES)
    assert set(values) == {0.0}
    assert sides.tolist() == [-1] * 8 + [1] * 2
    values, sides = _results_of("censored", VALUES)
    assert sides.tolist() == [-1] * 5 + [0] * 5
    assert values[5:].tolist() == VALUES[5:].tolist()
    assert set(values[:5]) == {4.5}


def test_differences_are_those_of_equal_pairs_results_and_seeds():
    rows = [
        (pair, results, player, str(seed), 1.0, 0.5 + gain / 100 + seed, 10 + gain + seed, 90.0, 0.4)
        for pair in ("a:b", "c:d")
        for results in ("10", "30")
        for seed in range(3)
        for player, gain in (("alone", 0), ("classes", 2 + (pair == "c:d")))
    ]
    asked = SourcesStudy(data=Path(), results=(10, 30), players=("alone", "classes"))
    classes, means = asked.tables(pd.DataFrame(rows, columns=[*asked.key, *asked.scores]))
    assert classes.title == "What the other assay in two classes adds, with 95 % intervals over starts"
    assert classes.rows[1][:4] == ("a:b", "+0.40", "+0.020 [+0.020, +0.020]", "+2.0 [+2.0, +2.0]")
    assert classes.rows[3][3].startswith("+2.5 [")
    assert len(means.rows) == 3


def test_an_unknown_player_is_refused():
    with pytest.raises(ValueError, match=r"`both`.*censored"):
        SourcesStudy(data=Path(), players=("both",))
