"""Forecasts that a molecule beats the best: each counted once, in its bin, with the plays that were finished."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.pools import __main__ as command_line
from benchmarks.pools.campaign import FORECAST_COLUMNS
from benchmarks.pools.reliability.forecasts import read_forecasts, reliability_of, tables


def forecasts_of(rows):
    """A table of (pool, kind, player, seed, molecule, probability, beat)."""
    return pd.DataFrame(
        [(f"{pool}, 1 + 1 x 9", player, seed, pool, kind, 1, *rest) for pool, kind, player, seed, *rest in rows],
        columns=list(FORECAST_COLUMNS),
    )


def simulate(count=4000, seeds=20, bias=0.0):
    """Forecasts on two pools that come true as often as they say, less a bias."""
    generator = np.random.default_rng(0)
    probability = generator.uniform(size=count)
    beats = generator.uniform(size=count) < probability - bias
    return forecasts_of(
        ("p" if k % 2 else "q", "measured", "a", k % seeds, k, probability[k], int(beats[k])) for k in range(count)
    )


def test_forecasts_are_counted_in_their_bins_and_certainty_in_the_last():
    rows = [
        ("p", "measured", "a", 0, k, p, beat) for k, (p, beat) in enumerate([(0.0, 0), (0.05, 1), (0.1, 1), (1, 1)])
    ]
    found = reliability_of(forecasts_of(rows))
    assert found.count.tolist() == [2, 1, 0, 0, 0, 0, 0, 0, 0, 1]
    assert found.forecast[[0, 1, 9]].tolist() == pytest.approx([0.025, 0.1, 1.0])
    assert found.share[[0, 1, 9]].tolist() == [0.5, 1.0, 1.0]
    for numbers in (found.forecast, found.share, found.low, found.high):
        assert np.isnan(numbers).tolist() == [False, False, *[True] * 7, False]


def test_a_few_forecasts_that_all_failed_prove_little():
    """By Wilson's formula: n forecasts of which none came true."""
    found = reliability_of(forecasts_of([("p", "measured", "a", seed, 0, 0.35, 0) for seed in range(6)]))
    z2 = 1.959964**2
    assert (found.low[3], found.share[3]) == (0.0, 0.0)
    assert found.high[3] == pytest.approx(z2 / (6 + z2), rel=1e-5)


def test_intervals_hold_the_share_and_stay_between_0_and_1():
    found = reliability_of(simulate().query("pool == 'p'"))
    np.testing.assert_allclose(found.forecast, np.arange(10) / 10 + 0.05, atol=0.01)
    assert ((found.low >= 0) & (found.low < found.share) & (found.share < found.high) & (found.high <= 1)).all()
    assert ((found.low < found.forecast) & (found.forecast < found.high)).sum() >= 8
    biased = reliability_of(simulate(bias=0.3).query("pool == 'p'"))
    assert (biased.high < biased.forecast).sum() >= 8


def test_intervals_over_plays_are_about_those_of_a_binomial():
    """Each play of the simulation is a sample of independent forecasts."""
    found = reliability_of(simulate(20_000, seeds=100).query("pool == 'p'"))
    expected = 2 * 1.96 * np.sqrt(found.share * (1 - found.share) / found.count)
    np.testing.assert_allclose(found.high - found.low, expected, rtol=0.35)


def test_forecasts_of_several_pools_are_drawn_by_pool():
    rows = [(pool, "measured", "a", seed, 0, 0.55, beat) for pool, beat in (("p", 0), ("q", 1)) for seed in range(50)]
    found = reliability_of(forecasts_of(rows))
    assert (found.low[5], found.share[5], found.high[5]) == (0.0, 0.5, 1.0)


def test_the_sum_of_forecasts_is_shown_with_what_came_and_the_brier_score():
    rows = [
        ("p", "measured", "a", 0, 0, 0.5, 1),
        ("p", "measured", "a", 1, 0, 0.2, 0),
        ("z", "computed", "a", 0, 0, 0.9, 1),
    ]
    *bins, summary = tables(forecasts_of(rows))
    assert [table.title for table in bins] == ["a, measured values, 1 pool", "a, computed values, 1 pool"]
    assert summary.rows[1] == ("a", "measured", "2", "2", "0.7", "1", f"{(0.25 + 0.04) / 2:.4f}", "0.2500")
    assert summary.rows[2] == ("a", "computed", "1", "1", "0.9", "1", "0.0100", "0.0000")


@pytest.fixture
def kept(tmp_path):
    """A file of two finished plays; forecasts of a third one, and some twice, since a play was killed."""
    rows = [("p", "measured", "a", seed, k, 0.25, seed) for seed in (0, 1) for k in range(3)]
    rows += [("z", "computed", "a", 0, 0, 0.75, 1), *rows[:2]]
    table = forecasts_of(rows)
    table.to_csv(tmp_path / "plays.forecasts.csv", index=False)
    finished = table[table["pool"] == "p"][["screen", "player", "seed"]].drop_duplicates()
    finished.assign(seconds=1.0).to_csv(tmp_path / "plays.csv", index=False)
    return tmp_path / "plays.csv"


def test_a_forecast_counts_once_and_only_with_a_finished_play(kept):
    with (kept.parent / "plays.forecasts.csv").open("a") as file:
        file.write('"p, 1 + 1 x 9",a,1,p,meas')  # a play that is being written
    assert len(read_forecasts([kept, kept])) == 6


@pytest.mark.parametrize(
    ("choice", "message"),
    [({"players": ["b"]}, "Got none for b. Known: a."), ({"pools": ["z"]}, "Got none for z. Known: p.")],
)
def test_players_and_pools_without_forecasts_are_refused(kept, choice, message):
    with pytest.raises(ValueError, match=message):
        read_forecasts([kept], **choice)


def test_one_command_prints_tables_and_draws_the_diagram(kept, capsys):
    figure = kept.parent / "reliability.svg"
    assert command_line.main(["reliability", str(kept), "--figure", str(figure), "--markdown"]) == 0
    assert "| 0.2 to 0.3 | 0.250 | 0.500 [0.000, 1.000] | 6 |" in capsys.readouterr().out
    assert "<svg" in figure.read_text()
    assert command_line.main(["reliability", str(kept.parent / "none.csv")]) == 1
