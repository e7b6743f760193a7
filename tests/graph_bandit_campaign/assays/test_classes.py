"""Two classes in a column, read as bounds."""

from pathlib import Path

import pytest

from graph_bandit_campaign.assays.classes import classes_as_bounds, order_classes
from graph_bandit_env.tables import Table


@pytest.mark.parametrize(
    "words",
    [
        ("inactive", "active"),
        ("no", "yes"),
        ("false", "true"),
        ("negative", "positive"),
        ("non-toxic", "toxic"),
        ("not soluble", "soluble"),
        ("low", "high"),
        ("failed", "passed"),
        ("insoluble", "soluble"),
        ("blue", "red"),
    ],
)
def test_the_lower_class_is_found_in_any_order(words):
    assert order_classes(words) == order_classes(words[::-1]) == words


def table(cells):
    return Table(Path("a.csv"), ("id", "Hit"), [(k, ["m", cell]) for k, cell in enumerate(cells, start=2)])


def test_numbers_bounds_and_states_stay_as_they_are():
    for cells in (
        ["1", "2.5", "", "failed"],
        [">1", "<3", "pending"],
        ["failed", "pending"],
        ["1", "active"],
        ["", "-"],
    ):
        given = table(cells)
        assert classes_as_bounds(given, "hit") == (given, "")


def test_capitals_and_blanks_of_classes_do_not_count():
    read, remark = classes_as_bounds(table([" Yes", "no ", "YES", "", "failed"]), "HIT")
    assert [cells[1] for _, cells in read.records] == [">0", "<0", ">0", "", "failed"]
    assert remark == "`Hit` has two classes: `yes` counts as above `no`"


def test_a_row_that_is_too_short_stays_short():
    given = table(["yes", "no"])
    given.records.append((4, ["m"]))
    assert classes_as_bounds(given, "hit")[0].records[-1] == (4, ["m"])
