"""The time of a pass over a prepared pool is told before, from a sample."""

from unittest.mock import MagicMock

from graph_bandit_campaign.model.scan import passes
from graph_bandit_campaign.text import duration


def test_the_time_is_that_of_a_sample_times_the_pool(monkeypatch):
    monkeypatch.setattr(passes.time, "perf_counter", iter([5.0, 7.0]).__next__)
    block = MagicMock(__len__=lambda _: 10, take=lambda rows: MagicMock(__len__=lambda _: 10, take=lambda few: [*few]))
    pool = MagicMock(__len__=lambda _: 3000, blocks=lambda columns: iter([block]))
    worked = []
    told = passes._time(pool, passes.Timed((), worked.append, lambda *given: given), 2)
    assert told == (3000, 10, duration(300), 2)
    assert [len(each) for each in worked] == [1, 10]  # the first call is not timed
