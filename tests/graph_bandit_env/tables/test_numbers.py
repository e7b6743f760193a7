import pytest

from graph_bandit_env.tables.numbers import EITHER, decimal_mark, read_number


@pytest.mark.parametrize(
    ("text", "decimal", "value"),
    [
        ("1.234", ".", 1.234),
        ("1,234", ",", 1.234),
        ("1.5", ",", 1.5),
        ("0.234", ",", 0.234),
        ("1234.567", ",", 1234.567),
        ("1.234e3", ",", 1234.0),
        ("4,0", EITHER, 4.0),
        ("1.234", EITHER, 1.234),
        ("0,234", EITHER, 0.234),
        ("-,25e2", ",", -25.0),
        ("\N{MINUS SIGN}2", ".", -2.0),
        ("n.d.", ",", None),
        ("-", ".", None),
    ],
)
def test_what_can_only_be_one_number_is_read(text, decimal, value):
    assert read_number(text, decimal) == value


@pytest.mark.parametrize(
    ("text", "decimal", "remedy"),
    [
        ("1.234", ",", "Write 1234, or 1,2340."),
        ("-12.345", ",", "Write -12345, or -12,3450."),
        ("1,234", EITHER, "Write 1234, or 1.2340."),
        ("1,5", ".", "Write 3.5 for three and a half"),
        ("1,234,567", EITHER, "1234 for a thousand"),
        ("1.234.567", ",", "Write the number alone"),
        ("5-Mar", ".", "That is a date"),
        ("Mar-05", ".", "That is a date"),
        ("02.03.2026", ",", "That is a date"),
        ("5 ± 1", ".", "a column of its own"),
        ("5 +/- 1", ".", "a column of its own"),
        ("2 to 3", ".", "one number for the range"),
        ("1_000", ".", "Write the number alone"),
    ],
)
def test_what_could_be_two_numbers_or_none_is_refused_with_a_remedy(text, decimal, remedy):
    with pytest.raises(ValueError, match="expected a number in `y`. Got") as caught:
        read_number(text, decimal, " in `y`")
    assert remedy in str(caught.value)


@pytest.mark.parametrize(
    ("delimiter", "cells", "mark"),
    [
        (",", ["1,5"], "."),
        (";", [], ","),
        (";", ["1,5", "1.5"], ","),
        (";", ["1.5", "950"], "."),
        (";", ["1.234", "950"], ","),
        (";", ["1,234", "0.5"], "."),
        ("\t", [], "."),
        ("\t", ["1,5", "950"], ","),
        ("\t", ["1,5", "1.5"], "."),
        ("\t", ["1,234", "950"], "."),
    ],
)
def test_the_decimal_mark_is_what_clear_numbers_show(delimiter, cells, mark):
    assert decimal_mark(delimiter, cells) == mark
