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
