"""Coverage: splits without common graphs or scaffolds, scores by their definitions, and rows that are kept."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from agents.contract import Prediction
from benchmarks.pools import __main__ as command_line
from benchmarks.pools.catalogue import find_pools
from benchmarks.pools.studies import coverage as plays
from benchmarks.pools.studies.coverage import CoverageStudy, split_at_random, split_by_scaffold


@given(st.integers(2, 900), st.integers(1, 900), st.integers(0, 5))
def test_random_parts_are_disjoint_and_more_results_contain_fewer(num_graphs, results, seed):
    parts = split_at_random(num_graphs, results, np.random.default_rng(seed))
    assert len(parts.measured) == min(results, num_graphs)
    assert len(parts.tested) == min(500, num_graphs - len(parts.measured))
    assert len(np.unique(np.concatenate(parts))) == len(parts.measured) + len(parts.tested)
    more = split_at_random(num_graphs, results + 1, np.random.default_rng(seed))
    assert more.measured[: len(parts.measured)].tolist() == parts.measured.tolist()


@given(st.lists(st.sampled_from("abcdefgh"), min_size=2, max_size=60), st.integers(1, 60), st.integers(0, 5))
def test_no_molecule_is_tested_whose_scaffold_was_measured(scaffolds, results, seed):
    parts = split_by_scaffold(scaffolds, results, np.random.default_rng(seed))
    assert len(parts.measured) == min(results, len(scaffolds))
    measured = {scaffolds[k] for k in parts.measured}
    others = {k for k, scaffold in enumerate(scaffolds) if scaffold not in measured}
    assert set(parts.tested.tolist()) == others
    begun = [scaffolds[k] for k in parts.measured]
    whole = measured - {begun[-1]}
    assert all(begun.count(scaffold) == scaffolds.count(scaffold) for scaffold in whole)


def test_a_true_normal_is_covered_as_often_as_it_claims():
    generator = np.random.default_rng(0)
    mean, std = generator.normal(size=20_000), generator.uniform(0.5, 2, 20_000)
    values = mean + np.hypot(std, 0.7) * generator.normal(size=20_000)
    values[:100] = 1e6  # measured, so not tested
    in_90, in_50, correlation, width = plays.score(Prediction(mean, std, 0.7), values, results=100, unit=2.0)
    assert (in_90, in_50) == pytest.approx((90, 50), abs=1.0)
    ranks = (pd.Series(numbers[100:]).rank() for numbers in (mean, values))
    assert correlation == pytest.approx(np.corrcoef(*ranks)[0, 1])
    assert width == pytest.approx(2 * norm.ppf(0.95) * np.hypot(std, 0.7)[100:].mean() / 2.0)


def test_a_bound_on_a_value_is_within_and_equal_means_order_nothing():
    prediction = Prediction(np.zeros(3), np.zeros(3), noise_std=0.0)
    assert plays.score(prediction, np.array([5.0, 0.0, 1.0]), results=1, unit=1.0) == (50.0, 50.0, 0.0, 0.0)


def test_an_interval_that_is_not_a_number_is_refused():
    with pytest.raises(ValueError, match="Expected intervals of all graphs. Got 1 that are none"):
        plays.score(Prediction(np.array([0.0, np.nan]), np.ones(2), 0.1), np.zeros(2), results=0, unit=1.0)


@pytest.fixture
def data(folder, monkeypatch):
    """A folder with small tables of molecules and cells, of which 40 or fewer are tested."""
    operations = ["none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"]
    cells = [f"|{a}~0|+|{b}~0|{c}~1|+|none~0|none~1|{a}~2|" for a in operations for b in operations for c in operations]
    table = {"cellstr": cells, "cifar10-val": np.random.default_rng(0).normal(size=125)}
    pd.DataFrame(table).to_csv(folder / "nasbench201_mini.csv.gz", index=False)
    monkeypatch.setattr(plays, "MOST_TESTED", 40)
    monkeypatch.setattr(plays, "LEAST_TESTED", 10)
    plays._scaffolds_of.cache_clear()
    return folder


@pytest.mark.filterwarnings("ignore:.*does not read directions:agents.contract.BlindAgentWarning")
def test_a_command_tests_what_is_missing_and_leaves_out_what_cannot_be_tested(data, capsys):
    out = data / "coverage.csv"
    command = ["coverage", "--data", str(data), "--out", str(out), "--markdown", "--draws", "2"]
    command += ["--results", "20", "85", "--pools", "zinc_QED", "cifar10-val", "--players", "tanimoto"]
    assert command_line.main(command) == 0
    assert out.read_text().count("\n") == 1 + 2 * 2  # the zinc molecules at 20 results, by both splits
    assert "zinc_QED, tanimoto, random, 85, 0: 0 rows" in capsys.readouterr().err
    assert command_line.main([*command, "wl-ucb"]) == 0
    shown = capsys.readouterr()
    assert "zinc_QED, tanimoto, random, 20" not in shown.err
    assert "| zinc_QED | random | 20 | wl-ucb |" in shown.out
    assert "| cifar10-val | random | 85 | wl-ucb |" in shown.out
    assert "| cifar10-val | scaffold |" not in shown.out
    assert "| cifar10-val | random | 20 | tanimoto |" not in shown.out


def test_all_players_of_a_draw_are_told_and_tested_on_the_same(data, monkeypatch):
    seen = []

    class Recorder:
        def begin(self, molecules, seed):
            self.smiles = molecules.smiles

        def predict(self, measured, values):
            seen.append((self.smiles, measured.tolist(), values.tolist()))
            return Prediction(np.zeros(len(self.smiles)), np.ones(len(self.smiles)), 0.0)

    monkeypatch.setattr(plays, "make_forecaster", lambda text: Recorder())
    (pool,), asked = find_pools(["zinc_QED"]), CoverageStudy(data=data, players=("a", "b"))
    for player, draw in (("a", 0), ("b", 0), ("a", 1)):
        ((tested, *_),) = asked.play("zinc_QED", player, "random", 30, draw)
        assert tested == 40
    assert seen[0] == seen[1] != seen[2]
    smiles, measured, values = seen[0]
    assert (len(smiles), measured, len(values)) == (70, list(range(30)), 30)
    whole = pool.read(data)
    assert values == [whole.targets[whole.smiles.index(text)] for text in smiles[:30]]


def test_a_table_has_mean_and_range_over_pools_of_means_over_draws():
    names = ["zinc_QED", "zinc_LogP"]
    told = [(names[0], "tanimoto", 0, 80.0), (names[0], "tanimoto", 1, 90.0)]
    told += [(names[1], "tanimoto", 0, 95.0), (names[1], "forest", 0, 70.0)]
    rows = [(pool, player, "random", "50", str(draw), 500, 1.0, inside) for pool, player, draw, inside in told]
    table = pd.DataFrame([(*row, 50.0, 0.5, 2.0) for row in rows], columns=[*CoverageStudy.key, *CoverageStudy.scores])
    asked = CoverageStudy(data=Path(), players=("forest", "tanimoto"), by_pool=True)
    over, by_pool = asked.tables(table)
    assert [row[:4] for row in over.rows[1:]] == [
        ("random", "50", "forest", "70.0 (70.0 to 70.0)"),
        ("random", "50", "tanimoto", "90.0 (85.0 to 95.0)"),
    ]
    assert [(row[0], row[3], row[4], row[-1]) for row in by_pool.rows[1:]] == [
        ("zinc_LogP", "forest", "70.0", "1"),
        ("zinc_LogP", "tanimoto", "95.0", "1"),
        ("zinc_QED", "tanimoto", "85.0", "2"),
    ]
