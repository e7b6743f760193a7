"""What a terminal is shown of a sweep that is played."""

import math
from datetime import UTC, datetime

import pytest

from graph_bandit_lab.analysis import Standing
from graph_bandit_lab.analysis.standing import Block
from graph_bandit_lab.reports import lines_of_standing
from graph_bandit_lab.storage.following import StoredRepetition

AGENTS = ("gnn-ts:width=512,covariance=diagonal,preset=paper", "random")


def block(name, second):
    """A block of an environment whose last repetitions were stored in a second; 0: none."""
    created = datetime.fromtimestamp(second, UTC)
    stored = [
        StoredRepetition("", seed, AGENTS[0], {}, "finished", 100.0 + seed, 9, 1.0, 1.0, created)
        for seed in range(2 * bool(second))
    ]
    return Block(name, dict.fromkeys(AGENTS, 3), tuple(stored))


def standing(*blocks, **changes):
    known = {
        "title": "many sizes",
        "state": "played",
        "seen": True,
        "planned": 1234,
        "done": 1000,
        "diverged": 0,
        "failed": 0,
        "damaged": 0,
        "elsewhere": 0,
        "per_minute": 12.34,
        "seconds_left": 90.0,
        "seconds_since_last": 3.0,
    }
    return Standing(**{**known, **changes}, blocks=blocks)


def test_it_says_counts_pace_and_means():
    assert lines_of_standing(standing(block("K = 5", 9), failed=2, diverged=1)) == [
        "many sizes",
        "Playing: 1,000 of 1,234 repetitions, 1 diverged, 2 failed.",
        "12.3 a minute, about 1.5 min left; the last was stored 3.0 s ago.",
        "",
        "agent                                                repetitions  mean R_T [95 % interval]",
        "K = 5",
        "  gnn-ts:width=512,covariance=diagonal,preset=paper       2 of 3       100.5 [94.3, 107.1]",
        "  random                                                  0 of 3                         –",
    ]


def test_a_single_environment_needs_no_name():
    assert lines_of_standing(standing(block("", 9)))[-1].startswith("random ")


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"state": "finished"}, "Finished: 1,000 of 1,234 repetitions."),
        (
            {"state": "stopped"},
            "Stopped before its end: 1,000 of 1,234 repetitions. The same command goes on",
        ),
        (
            {"state": "unknown", "planned": None},
            "Nobody plays, and no plan is stored. Stored: 1,000",
        ),
        ({"per_minute": math.nan}, "It was begun 3.0 s ago, and none has been stored since."),
        ({"planned": 1000}, "All are stored; some may be played again."),
        ({"seen": False}, "A driver that was killed is not noticed"),
        ({"elsewhere": 7}, "7 repetitions of other runs or sweeps are stored here, too."),
        ({"damaged": 7}, "7 repetitions are damaged, and left out."),
    ],
)
def test_what_is_out_of_the_ordinary_is_said(changes, line):
    assert any(shown.startswith(line) for shown in lines_of_standing(standing(**changes)))


@pytest.mark.parametrize("width", [60, 80, 120])
def test_labels_are_cut_where_the_terminal_is_narrow_and_numbers_are_not(width):
    shown = lines_of_standing(standing(block("K = 5", 9), title="a long title " * 20), width)
    assert max(map(len, shown)) <= width
    assert shown[-2].endswith("2 of 3       100.5 [94.3, 107.1]")
    assert ("…" in shown[-2]) == (width < 89)


def names(lines):
    return [line for line in lines if line.startswith("K = ")]


def test_a_low_terminal_has_the_environments_that_were_played_last():
    blocks = [block("K = 1", 5), block("K = 2", 9), block("K = 3", 0), block("K = 4", 7)]
    assert names(lines_of_standing(standing(*blocks))) == ["K = 1", "K = 2", "K = 3", "K = 4"]
    shown = lines_of_standing(standing(*blocks), height=12)  # three lines of text, three around the table
    assert names(shown) == ["K = 2", "K = 4"]
    assert shown[-1] == "... and 2 more environments"
    assert len(shown) == 12
    assert names(lines_of_standing(standing(*blocks), height=2)) == ["K = 2"]
