"""Backtests: the slope of a line that is known, verdicts that are read, and commands on small pools."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.molecules import some_molecules

from benchmarks.pools import __main__ as command_line
from benchmarks.pools.studies import backtests as plays
from benchmarks.pools.studies.backtests import HalvesStudy, ShuffledStudy, fit_line, pairs_of, read_verdict


def halves_of(promised, came, starts=5):
    """Plays in which an agent finds so many more of the ten best on each half, on average over the starts."""
    rows = []
    for number, means in enumerate(zip(promised, came, strict=True)):
        for half, mean in zip(plays.HALVES, means, strict=True):
            for start, more in enumerate(mean + np.linspace(-1, 1, starts), start=1):
                scores = (2 + more, 2, 1 + more / 2, 1, 10 * more, 0)
                rows.append((f"p{number}", "0", half, start, 400, 100, *scores))
    return pd.DataFrame(rows, columns=[*HalvesStudy.key, *HalvesStudy.scores])


def tables(rows):
    return [*HalvesStudy(data=Path()).tables(rows)]


def test_a_pair_is_the_mean_difference_of_each_half():
    pairs = pairs_of(halves_of([1, 4], [2, 3]), "found")
    assert pairs[["promised", "came"]].to_numpy().tolist() == [[pytest.approx(1), pytest.approx(2)], [4, 3]]
    assert (pairs["promised_low"] < pairs["promised"]).all()
    assert (pairs["promised"] < pairs["promised_high"]).all()
    assert pairs_of(halves_of([1, 4], [2, 3]), "known")["came"].tolist() == pytest.approx([1, 1.5])


def test_the_line_is_that_of_least_squares_and_its_interval_holds_the_slope():
    generator = np.random.default_rng(0)
    promised = generator.uniform(0, 6, 12)
    came = 0.5 + 0.8 * promised + generator.normal(0, 0.3, 12)
    line = fit_line(pairs_of(halves_of(promised, came), "found"))
    assert line.slope == pytest.approx(np.polyfit(promised, came, 1)[0])
    assert line.low < 0.8 < line.high < line.low + 0.6
    exact = fit_line(pairs_of(halves_of(promised, 2 * promised), "found"))
    assert (exact.slope, exact.low, exact.high) == (pytest.approx(2), pytest.approx(2), pytest.approx(2))


def test_a_half_without_the_other_is_left_out():
    starts = halves_of([1, 4, 2], [2, 3, 3])
    missing = starts[~((starts["pool"] == "p1") & (starts["half"] == "second"))]
    *_, lines = tables(missing)
    assert lines.title.endswith("2 pairs of halves")
    assert len(lines.rows) == 1  # two points tell nothing of a line
    assert tables(starts)[-1].rows[1][:3] == ("of the ten best, known on average", "+1.17", "+1.33")


def test_a_command_plays_both_halves_by_the_backtest(folder, capsys, monkeypatch):
    for name, value in (("AGENT", "ucb1"), ("BATCH", 4)):
        monkeypatch.setattr(plays, name, value)
    out = folder / "halves.csv"
    command = ["backtest", "--data", str(folder), "--splits", "1", "--out", str(out), "--markdown"]
    assert command_line.main([*command, "--pools", "zinc_QED", "zinc_LogP", "zinc_Median_1"]) == 0
    assert "What came against what was promised, 3 pairs of halves" in capsys.readouterr().out
    starts = pd.read_csv(out)
    assert len(starts) == 3 * 2 * 5
    assert set(starts["molecules"]) == {45}
    assert set(starts["budget"]) == {18}  # the ten that are measured first, and two batches


@pytest.mark.parametrize(
    ("headline", "ten", "good", "expected"),
    [
        ("It would have helped.", "+1.2 (+0.1 to +2.3)", "+2.2 (−0.1 to +3.7)", (1, 1)),
        ("It would have done harm: random choice found more.", "−1 (−2 to −0.1)", "−2 (−3 to +1)", (-1, -1)),
        ("It would not have helped, as far as can be told.", "+0.1 (−1 to +1)", "+2 (+0.2 to +4)", (0, 1)),
        ("Whether it would have helped cannot be told.", "+0.1 (−1 to +1)", "+2 (−0.2 to +4)", (0, 0)),
    ],
)
def test_a_verdict_is_read_with_what_it_rested_on_before(headline, ten, good, expected):
    text = f"400 molecules\n\n{headline}\n  Averaged, the difference is {ten}. If.\n  The difference is {good}, x."
    assert read_verdict(text) == expected


def test_a_backtest_without_a_verdict_is_no_result():
    with pytest.raises(ValueError, match="Expected one verdict"):
        read_verdict("400 molecules with value")


def test_values_of_a_pool_are_shuffled_and_its_molecules_stay(tmp_path, monkeypatch):
    pool, seen = some_molecules(60), []
    monkeypatch.setattr(plays, "read_molecules", lambda *_: pool)

    def backtest(settings):
        seen.append(pd.read_csv(settings.table))
        print("It would have helped.\n  The difference is +1 (+0.5 to +2), x.")

    monkeypatch.setattr(plays, "run_backtest", backtest)
    asked = ShuffledStudy(data=tmp_path, pools=("HLM",))
    rows = [row for shuffle in (0, 1, 1, 2) for row in asked.play_alone("HLM", shuffle)]
    as_it_is, once, again, twice = seen
    assert dict(zip(as_it_is["smiles"], as_it_is["value"], strict=True)) == pytest.approx(
        dict(zip(pool.smiles, pool.targets, strict=True))
    )
    assert once.equals(again)
    for shuffled in (once, twice):
        assert shuffled["smiles"].equals(as_it_is["smiles"])
        assert sorted(shuffled["value"]) == pytest.approx(sorted(as_it_is["value"]))
        assert not shuffled["value"].equals(as_it_is["value"])
    assert not once["value"].equals(twice["value"])
    ((_, table),) = asked.tables(pd.DataFrame(rows, columns=[*asked.key, *asked.scores]))
    assert table[1] == ("HLM", "60", "helped", "3", "3 helped, 0 harm", "3 helped, 0 harm")
