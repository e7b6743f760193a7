"""Texts without characters that are not seen."""

import pytest

from graph_bandit_serve.campaigns.texts import LONGEST, REPLACEMENT, to_seen, to_told


@pytest.mark.parametrize("text", ["plain", "Grüße, 分子 α → β\n\t–", "", "e\u0301 5 µM ± 2"])
def test_what_people_see_stays(text):
    assert to_seen(text) == to_told(text) == text


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\u202e", "\u2066"])
def test_what_controls_a_page_is_replaced_everywhere(character):
    assert to_seen(f"a{character}b") == to_told(f"a{character}b") == f"a{REPLACEMENT}b"


@pytest.mark.parametrize(
    "character", ["\u200b", "\u00ad", "\ufeff", "\U000e0041", "\ufe0f", "\U000e0100", "\u2028", "\u3164"]
)
def test_what_only_programs_read_is_replaced_for_them(character):
    assert to_told(f"a{character}b") == f"a{REPLACEMENT}b"


def test_every_text_of_a_value_is_made_fit_and_the_rest_stays():
    value = {"a\u200b": ["b\u200b", {"c": "d\u200b"}], "e": [1, 2.5, None, True]}
    expected = {"a\ufffd": ["b\ufffd", {"c": "d\ufffd"}], "e": [1, 2.5, None, True]}
    assert to_told(value) == expected
    assert to_told("x" * (LONGEST + 1)) == "x" * LONGEST + "…"
