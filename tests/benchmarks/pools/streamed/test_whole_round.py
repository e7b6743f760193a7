import pytest

from benchmarks.pools.streamed import whole_round


def test_a_streamed_round_is_compared_with_the_same_in_memory():
    (row,) = whole_round.rows(molecules=60, results=20, pairs=1)
    assert row.value > 0
    assert row.name.startswith("a round on a prepared pool of 60 molecules, 20 results")
    assert row.asked is None


def test_rounds_that_differ_are_no_comparison(monkeypatch):
    chosen = iter((["m1"], ["m2"]))
    monkeypatch.setattr(whole_round.Rounds, "play", lambda rounds, pool: next(chosen))
    with pytest.raises(RuntimeError, match="Expected the same suggestions"):
        whole_round.rows(molecules=30, results=5)
