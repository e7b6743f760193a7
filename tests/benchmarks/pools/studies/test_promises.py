"""Promises about suggestions: tables and fits by rows that are written down, and the command on small pools."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, t

from agents.beliefs.rewards import chosen
from agents.beliefs.rewards.targets import TAIL
from benchmarks.pools import __main__ as command_line
from benchmarks.pools.studies import promises
from benchmarks.pools.studies.promises import PromisesStudy, fit, losses, table_of_fits

COLUMNS = (*PromisesStudy.key, *PromisesStudy.scores)
STUDY = PromisesStudy(data=Path(), pools=("zinc",), by_pool=True)


def rows_of(pool="p", size="8", value=0.0, **changes):
    row = dict(zip(COLUMNS, (pool, "0", "10", size, "2", 1.0, 10.0, 0.5, 0.8, 0.3, 0.0), strict=False))
    row |= {"plain_low": -1.0, "plain_high": 1.0, "plain_probability": 0.4, "low": -2.0, "high": 2.0}
    return pd.DataFrame([row | {"probability": 0.25, "value": value} | changes])[list(COLUMNS)]


def test_tables_count_what_lay_inside_and_what_was_promised():
    rows = pd.concat(
        [
            rows_of(value=1.5, beat=1.0),
            rows_of(value=-1.0),  # the ends belong to it
            *[rows_of(pool="q", value=3.0, round=2.0)] * 2,
            rows_of(size="30", value=0.5),
        ]
    )
    by_size, by_results, first, by_pool = STUDY.tables(rows)
    assert by_size.title == "By size of batch, 2 pools"
    header, eight, thirty = by_size.rows
    assert header[0] == "batch"
    assert (eight[0], eight[1]) == ("8", "4")
    assert eight[2].startswith("25.0 [")  # means over pools, 50 and 0 %
    assert eight[3].startswith("50.0 [")
    assert eight[4:] == ("1.6", "1.0", "1")
    assert thirty == ("30", "1", "100.0", "100.0", "0.4", "0.2", "0")
    assert [row[:3] for row in by_results.rows[1:]] == [("8", "10", "4"), ("30", "10", "1")]
    assert first.rows[1][:3] == ("8", "10", "2")
    assert {row[:3] for row in by_pool.rows[1:]} == {("p", "8", "2"), ("q", "8", "2"), ("p", "30", "1")}


def drawn(count=4000, shift=0.3, widening=0.5):
    """Results that are normal around means lower by c, with the spread that a says."""
    rng = np.random.default_rng(0)
    measured, spread = rng.choice([10.0, 30.0, 120.0], count), rng.uniform(0.4, 1.0, count)
    mean = rng.normal(0.5, 0.5, count)
    factor = 1 + widening * np.sqrt(30 / measured)
    came = mean - shift * spread + factor * spread * rng.normal(size=count)
    barrier = 1.5
    return pd.DataFrame(
        {
            "pool": np.where(np.arange(count) % 2, "p", "q"),
            "size": "8",
            "results": "10",
            "measured": measured,
            "mean": mean,
            "spread": spread,
            "came": came,
            "beat": (rng.random(count) < t.cdf((mean - shift * spread - barrier) / spread, TAIL)).astype(float),
            "plain_probability": t.cdf((mean - barrier) / spread, TAIL),
        }
    )


def test_a_fit_finds_the_constants_that_results_were_drawn_with():
    shift, widening = fit(drawn())
    assert shift == pytest.approx(0.3, abs=0.05)
    assert widening == pytest.approx(0.5, abs=0.07)
    table = table_of_fits(drawn(400))
    assert [row[0] for row in table.rows] == ["fitted to", "all pools", "all but q", "all but p"]


def test_the_loss_is_that_of_the_forecast_that_is_shown():
    rows = drawn(50)
    found = losses(rows, chosen.SHIFT, chosen.WIDENING)
    assert (promises.RESULTS, promises.TAIL) == (chosen.RESULTS, TAIL)
    for k in range(50):
        row = rows.iloc[k]
        shift, factor = chosen.correction(int(row["measured"]), 1, 100)
        expected = 0.0
        for end in (0.05, 0.95):
            miss = row["came"] - (row["mean"] - shift * row["spread"] + factor * row["spread"] * norm.ppf(end))
            expected += (end * miss if miss > 0 else (end - 1) * miss) / row["spread"]
        beats = t.cdf((row["mean"] - shift * row["spread"] - 1.5) / row["spread"], 4)
        assert found[k] == pytest.approx(expected - np.log(beats if row["beat"] else 1 - beats), abs=1e-9)


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(promises, "FIRST", (10,))
    monkeypatch.setattr(promises, "BATCHES", ((1, 3), (8, 2)))


def command_of(folder, *more):
    return ["promises", "--data", str(folder), "--out", str(folder / "promises.csv"), "--starts", "1", *more]


def test_a_command_replays_what_is_missing_and_keeps_what_campaigns_promised(folder, capsys, monkeypatch):
    assert command_line.main(command_of(folder, "--pools", "zinc_QED")) == 0
    assert command_line.main(command_of(folder, "--pools", "zinc_QED", "zinc_LogP", "--fit")) == 0
    shown = capsys.readouterr().out
    assert "By size of batch, 2 pools" in shown
    assert "all but zinc_LogP" in shown
    rows = pd.read_csv(folder / "promises.csv")
    assert rows.groupby(["pool", "size"]).size().tolist() == [3, 16] * 2
    assert rows[rows["size"] == 8]["measured"].unique().tolist() == [10, 18]
    wide = (rows["high"] - rows["low"]) / (rows["plain_high"] - rows["plain_low"])
    assert (wide > 1.1).all()
    assert (rows["probability"] < rows["plain_probability"]).all()
    # inside on the scale of the targets is inside on that of the values
    for prefix, shift, factor in (
        ("plain_", 0.0, 1.0),
        ("", chosen.SHIFT, 1 + chosen.WIDENING * np.sqrt(30 / rows["measured"])),
    ):
        inside = (rows["value"] >= rows[f"{prefix}low"]) & (rows["value"] <= rows[f"{prefix}high"])
        error = (rows["came"] - rows["mean"]) / rows["spread"] + shift
        assert (inside == (error.abs() <= 1.644854 * factor)).all()
    monkeypatch.setattr(promises, "Campaign", lambda *pool, **settings: 1 / 0)
    assert command_line.main(command_of(folder, "--pools", "zinc_QED", "zinc_LogP", "--fit")) == 0
    assert capsys.readouterr().out.endswith(shown[shown.index("By size of batch, 2") :])


def test_a_pool_of_equal_values_is_refused(folder, capsys):
    path = folder / "rbo" / "zinc_QED.csv.gz"
    pd.read_csv(path).assign(target=1.0).to_csv(path, index=False)
    assert command_line.main(command_of(folder, "--pools", "zinc_QED")) == 1
    told = capsys.readouterr().err
    assert "Expected predictions on zinc_QED. Its first 10 values are equal." in told
    assert "Expected a task that was finished" in told
