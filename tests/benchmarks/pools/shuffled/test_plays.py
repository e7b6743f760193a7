"""Verdicts on shuffled values: what is read of a backtest, and the command on a small pool."""

import pandas as pd
import pytest
from support.molecules import some_molecules

from benchmarks.pools.shuffled import plays
from benchmarks.pools.shuffled.command import table_of
from benchmarks.pools.shuffled.plays import COLUMNS, backtest_pool, read_verdict


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
    pool = some_molecules(60)
    monkeypatch.setattr(plays, "find_pools", lambda names: [names[0]])
    monkeypatch.setattr(plays, "read_molecules", lambda *_: pool)
    seen = []

    def backtest(settings):
        seen.append(pd.read_csv(settings.table))
        print("It would have helped.\n  The difference is +1 (+0.5 to +2), x.")

    monkeypatch.setattr(plays, "run_backtest", backtest)
    rows = [backtest_pool("p", shuffle, "molecule-ucb", 8, 5, 60, tmp_path)[0] for shuffle in (0, 1, 1, 2)]
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
    table = table_of(pd.DataFrame(rows, columns=list(COLUMNS)))
    assert table.rows[1] == ("p", "60", "helped", "3", "3 helped, 0 harm", "3 helped, 0 harm")
