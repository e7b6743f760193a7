import numpy as np
import pandas as pd
import pytest

from benchmarks.sweeps.changing import compare


def results(**regrets):
    rows = [
        {"label": label, "seed": seed, "regret": np.asarray(regret, float)}
        for label, by_seed in regrets.items()
        for seed, regret in enumerate(by_seed)
    ]
    return pd.DataFrame(rows)


def test_agents_are_compared_with_random_play_and_in_pairs():
    table = compare(
        results(random=[[10, 10], [30, 30]], lin=[[2, 2], [6, 2]], best=[[3, 0], [5, 0]], started=[[1, 1]]), "lin"
    )
    rows = {row[0]: row[1:] for row in table[1:]}
    assert [row[0] for row in table] == ["agent", "started", "best", "lin", "random"]
    assert rows["best"][1:3] == ("0.100", "0.000")
    assert rows["best"][3] == "-2.0 [-14.7, +10.7]"  # of 3 - 4 and 5 - 8
    assert rows["lin"][1:4] == ("0.150", "0.100", "")
    assert rows["started"][1:] == ("0.100", "0.100", "-2.0 [-2.0, -2.0]", "1")  # on the seed that it has played


def test_the_agents_to_compare_with_must_be_there():
    with pytest.raises(ValueError, match="Expected results of `lin` in each environment"):
        compare(results(random=[[1, 1]]), "lin")
