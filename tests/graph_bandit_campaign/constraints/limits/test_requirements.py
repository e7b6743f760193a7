"""The parser of limits, against numbers that Python writes itself."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_bandit_campaign.constraints.limits.requirements import Choice, Requirement

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("C",)), min_size=1).map(str.strip)
NAMES = NAMES.filter(lambda name: name and name[-1] not in "<>=!≤≥")
SIGNS = {
    "<": lambda value, end: value < end,
    "<=": lambda value, end: value <= end,
    "≤": lambda value, end: value <= end,
    ">": lambda value, end: value > end,
    ">=": lambda value, end: value >= end,
    "≥": lambda value, end: value >= end,
    "=": lambda value, end: value == end,
}


@given(NAMES, st.sampled_from(sorted(SIGNS)), NUMBERS, NUMBERS, st.sampled_from(["", " ", "  "]))
def test_a_limit_accepts_what_its_sign_says(name, sign, end, value, blank):
    limit = Requirement.parse(f"{blank}{name}{blank}{sign}{blank}{end!r}{blank}")
    assert limit.name == name
    for number in (value, end, math.nextafter(end, -math.inf), math.nextafter(end, math.inf)):
        assert limit.accepts(number) == SIGNS[sign](number, end)
    assert not limit.accepts(math.nan)


@given(NAMES, NUMBERS, NUMBERS, NUMBERS)
def test_both_ends_of_a_range_meet_it_and_one_may_be_left_out(name, first, second, value):
    low, high = sorted([first, second])
    limit = Requirement.parse(f"{name}={low!r}..{high!r}")
    assert limit.name == name
    assert limit.accepts(low)
    assert limit.accepts(high)
    assert limit.accepts(value) == (low <= value <= high)
    assert Requirement.parse(f"{name}=..{high!r}").accepts(value) == (value <= high)
    assert Requirement.parse(f"{name}={low!r}..").accepts(value) == (low <= value)


@pytest.mark.parametrize(
    "text",
    [
        *("", "mw", "mw<", "<5", "mw<200,5", "mw==5", "mw!=5", "mw<>5", "mw<1..5", "mw=..", "mw=5..2", "mw<5 6"),
        *("mw=1...", "mw<nan", "mw<inf", "mw<1e999", "mw=1..1e999", "mw<1_000", "mw<0x10", "mw=1....5"),
    ],
)
def test_what_is_not_a_limit_is_refused(text):
    with pytest.raises(ValueError, match="Expected a limit"):
        Requirement.parse(text)


def test_values_of_text_are_separated_by_commas_unless_quoted():
    assert Choice.parse(" vendor = A, B ").values == ("A", "B")
    assert Choice.parse('vendor="Sigma, Inc",B').values == ("B", "Sigma, Inc")
    assert Choice.parse("formula=a=b").values == ("a=b",)
    assert Choice.parse("stock=yes").values == ("yes",)
