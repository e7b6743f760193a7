"""Numbers in cells: what can only be one is read, what could be two is refused."""

from pathlib import Path

import pytest

from graph_bandit_env.tables.table import EITHER, Table, decimal_mark


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
    assert Table(Path("t.csv"), ("y",), (), decimal=decimal).number(text) == value


@pytest.mark.parametrize(
    ("text", "decimal"),
    [
        *(("1.234", ","), ("-12.345", ","), ("1,234", EITHER), ("1,5", "."), ("1,234,567", EITHER)),
        *((text, ".") for text in ("5-Mar", "02.03.2026", "5 ± 1", "2 to 3", "1_000", "inf", "1e999")),
    ],
)
def test_what_could_be_two_numbers_or_none_is_refused(text, decimal):
    with pytest.raises(ValueError, match="`y`"):
        Table(Path("t.csv"), ("y",), (), decimal=decimal).number(text, " in `y`")


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
