import pandas as pd
import pytest

from benchmarks.logged import COLUMNS, Settings, run, summarize


@pytest.fixture(scope="module")
def rows():
    rows, failed = run(Settings(logs=("the policy itself", "a fixed policy", "gaussian-ts"), seeds=2, rounds=60))
    assert failed == 0
    return rows


def test_each_log_is_compared_with_play_by_the_policies_themselves(rows):
    for (target, _), group in rows.groupby(["target", "seed"]):
        if not target.endswith("learning"):
            assert {"mean reward", "ips", "snips", "dr", "weighted"} <= set(group["estimate"])
            assert group["truth"].nunique() == 1
    table = summarize(rows)
    assert ("gaussian-ts", "a mixture", "weighted") in {row[:3] for row in table}
    assert {row[3].endswith("(not promised)") for row in table if row[:3] == ("gaussian-ts", "a mixture", "ips")} == {
        True
    }


def test_a_table_counts_how_often_intervals_hold_the_truth():
    def row(seed, value, low, high):
        return ("a log", str(seed), "60", "1.0", "0.2", "a policy", "ips", 1.0, value, low, high, True)

    rows = [row(0, 1.5, 0.5, 2.5), row(1, 0.5, 0.0, 1.0), row(2, 3.0, 2.0, 4.0), row(3, 1.0, 0.0, 2.0)]
    _, (*_, holds, error, bias, spread, half) = summarize(pd.DataFrame(rows, columns=COLUMNS))
    assert (holds, error) == ("75.0", "10.9")
    assert bias == "+0.500 / 0.540"
    assert spread == f"{((0.25 + 0.25 + 4) / 4) ** 0.5:.3f}"
    assert half == "0.875"


@pytest.mark.parametrize("changes", [{"logs": ("nobody",)}, {"logs": ()}, {"seeds": 0}, {"rounds": 0}])
def test_settings_out_of_range_are_refused(changes):
    with pytest.raises(ValueError, match="Expected"):
        Settings(**changes)
