"""Two classes in a column: read as bounds, or as 0 and 1."""

from pathlib import Path

import pytest

from graph_bandit_campaign.results.classes import read_classes
from graph_bandit_campaign.results.rows import BadResultsError, ResultTables
from graph_bandit_env.tables import Table

PAIRS = (
    "inactive/active, no/yes, false/true, negative/positive, non-toxic/toxic, not soluble/soluble, low/high, "
    "failed/passed, insoluble/soluble"
)


def table(cells):
    return Table(Path("a.csv"), ("id", "Hit"), [(k, ["m", cell]) for k, cell in enumerate(cells, start=2)])


@pytest.mark.parametrize("words", PAIRS.split(", "))
def test_the_lower_class_is_found_in_any_order(words):
    for cells in (words.split("/"), words.split("/")[::-1]):
        values, kind, _ = read_classes(ResultTables([table(cells)]), "hit")
        assert (kind, values) == ("class", dict(zip(words.split("/"), (0, 1), strict=True)))


@pytest.mark.parametrize(
    ("cells", "given", "kind", "read"),
    [
        ("0 1 1.0", "", "class", "0 1 1.0"),
        ("no YES pending", "", "class", "0 1 pending"),
        ("FALSE true", "", "class", "0 1"),
        ("inactive active failed", "", "class", "0 1 failed"),
        ("hit no", "", "class", "1 0"),
        ("non-binder binder", "", "class", "0 1"),
        ("passed failed", "", "class", "1 0"),
        ("yes 0", "", "class", "1 0"),
        ("yes", "", "class", "1"),
        ("0 0", "", "", "0 0"),
        ("1", "class", "class", "1"),
        ("0 1 2", "", "", "0 1 2"),
        (">1 <3 pending", "", "", ">1 <3 pending"),
        ("failed pending", "", "", "failed pending"),
        ("0 1 >1", "", "", "0 1 >1"),
        ("0 1 high 3", "", "", "0 1 high 3"),  # a word among numbers is refused by the reader
        ("no yes", "number", "number", "0 1"),
        ("0 1 2", "number", "number", "0 1 2"),
        ("high", "number", "number", "1"),
    ],
)
def test_classes_of_a_goal_are_0_and_1(cells, given, kind, read):
    words, found, _ = read_classes(ResultTables([table(cells.split())]), "hit", given)
    values = [f"{words[cell]}"[:1] if (cell := each.casefold()) in words else each for each in cells.split()]
    assert (found, values) == (kind, read.split())


@pytest.mark.parametrize(("cells", "kind"), [("no yes maybe", ""), ("0 1 2", "class"), ("0 >1", "class")])
def test_a_third_value_is_refused_with_its_row_and_the_flag(cells, kind):
    with pytest.raises(BadResultsError, match=f"line {len(cells.split()) + 1}: .*--goal-kind hit=number"):
        read_classes(ResultTables([table(cells.split())]), "hit", kind)


def test_it_has_to_be_known_which_class_is_a_hit():
    with pytest.raises(ValueError, match="blue, red"):
        read_classes(ResultTables([table(["red", "blue"])]), "hit")
