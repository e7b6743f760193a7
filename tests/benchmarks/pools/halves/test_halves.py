"""Halves of pools: the slope of a line that is known, and the command on a small pool."""

import numpy as np
import pandas as pd
import pytest
from support.molecules import some_molecules

from benchmarks import parallel
from benchmarks.pools import __main__ as command_line
from benchmarks.pools.halves import plays
from benchmarks.pools.halves.plays import COLUMNS, KEY
from benchmarks.pools.halves.tables import fit_line, pairs_of, tables
from graph_bandit_lab.execution import InProcess


def halves_of(promised, came, starts=5):
    """Plays in which an agent finds so many more of the ten best on each half, on average over the starts."""
    rows = []
    for number, means in enumerate(zip(promised, came, strict=True)):
        for half, mean in zip(plays.HALVES, means, strict=True):
            for start, more in enumerate(mean + np.linspace(-1, 1, starts), start=1):
                rows.append(
                    (
                        f"p{number}",
                        "0",
                        "a",
                        "20",
                        "5",
                        half,
                        start,
                        400,
                        100,
                        2 + more,
                        2,
                        1 + more / 2,
                        1,
                        10 * more,
                        0,
                    )
                )
    return pd.DataFrame(rows, columns=list(COLUMNS))


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
    expected, intercept = np.polyfit(promised, came, 1)
    assert (line.slope, line.intercept) == (pytest.approx(expected), pytest.approx(intercept))
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


def test_a_command_plays_both_halves_by_the_backtest(tmp_path, capsys, monkeypatch):
    (tmp_path / "rbo").mkdir()
    molecules = some_molecules(90)
    for number, name in enumerate(("QED", "LogP", "Median_1")):
        table = pd.DataFrame({"smiles": molecules.smiles, "target": molecules.targets * (-1) ** number + number})
        table.to_csv(tmp_path / "rbo" / f"zinc_{name}.csv.gz", index=False)
    monkeypatch.setattr(parallel, "Processes", lambda count: InProcess())
    out, figure = tmp_path / "halves.csv", tmp_path / "halves.svg"
    command = ["backtest", "--data", str(tmp_path), "--n", "4", "--splits", "1", "--out", str(out), "--agent", "ucb1"]
    command += ["--pools", "zinc_QED", "zinc_LogP", "zinc_Median_1", "--figure", str(figure), "--markdown"]
    assert command_line.main(command) == 0
    shown = capsys.readouterr().out
    assert "What came against what was promised, 3 pairs of halves" in shown
    assert "</svg>" in figure.read_text()
    starts = pd.read_csv(out, dtype=dict.fromkeys(KEY, str))
    assert len(starts) == 3 * 2 * 5
    assert set(starts["molecules"]) == {45}
    assert set(starts["budget"]) == {18}  # the ten that are measured first, and two batches
    monkeypatch.setattr(plays, "play_half", lambda *task: 1 / 0)
    assert command_line.main(command) == 0  # nothing is played again
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["--starts", "4"], "Expected `starts` of at least 5. Got 4"),
        (["--agent", "molecule-ucbb"], "Unknown agent `molecule-ucbb`"),
    ],
)
def test_bad_settings_are_refused(tmp_path, capsys, changes, message):
    with pytest.raises(SystemExit):
        command_line.main(["backtest", "--data", str(tmp_path), *changes])
    assert message in capsys.readouterr().err
