"""Verdicts of backtests are read, and values of a pool are shuffled among its molecules."""

import pandas as pd
import pytest
from support.molecules import some_molecules

from benchmarks.pools.studies import backtests as plays
from benchmarks.pools.studies.backtests import ShuffledStudy, read_verdict


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
