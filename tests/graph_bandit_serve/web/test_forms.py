"""Forms, read strictly."""

import pytest
from fastapi import HTTPException
from hypothesis import given
from hypothesis import strategies as st

from graph_bandit_serve.web.forms import Sent, changed, number_of, settings_of


def form(**fields):
    return Sent(tuple(fields.items()), ())


def test_texts_have_no_blanks_around_them_and_empty_lines_do_not_count():
    sent = Sent((("a", " x \n\n y\n"), ("value-0:m 1", " 2 "), ("value-0:m2", "  "), ("a-", "z")), ())
    assert (sent.get("a"), sent.get("b"), sent.lines("a")) == ("x \n\n y", "", ["x", "y"])
    assert sent.starting("value-") == {"0:m 1": "2"}


@pytest.mark.parametrize("text", ["x", "1,5", "0x10", "9" * 5000, "1e5"])
def test_what_is_no_whole_number_is_refused(text):
    with pytest.raises(HTTPException) as caught:
        number_of(Sent((("n", text),), ()), "n", int)
    assert caught.value.status_code == 422
    assert len(caught.value.detail) < 500


def test_settings_are_those_that_the_form_has():
    assert settings_of(form(n="3", require="mw<500\n\nhbd<9", price="", other="x")) == {
        **{"n": 3, "require": ["mw<500", "hbd<9"], "price": None}
    }


LINES = st.lists(st.text("abc<=.1", min_size=1), max_size=3)


@given(st.integers(1, 99), LINES, st.none() | st.floats(0.1, 1e6))
def test_a_form_that_is_sent_as_it_was_shown_changes_nothing(n, require, budget):
    command = {"n": n, "require": tuple(require), **({} if budget is None else {"budget": budget})}
    fields = {"n": f"{n}", "require": "\r\n".join(require), "budget": f"{budget or ''}", "forbid": "", "only": ""}
    assert changed(settings_of(form(**fields)), command) == {}
