"""Forms, read strictly."""

import pytest
from fastapi import HTTPException
from hypothesis import given
from hypothesis import strategies as st

from graph_bandit_serve.web.forms import Sent, changed, number_of, settings_of


def form(**fields):
    return Sent(tuple(fields.items()), ())


def test_settings_are_those_that_the_form_has_without_blanks_around_them():
    assert settings_of(form(n=" 3 ", require=" mw<500\n\nhbd<9 ", price="", other="x")) == {
        **{"n": 3, "require": ["mw<500", "hbd<9"], "price": None}
    }
    assert Sent((("value-0:m 1", " 2 "), ("value-0:m2", "  ")), ()).starting("value-") == {"0:m 1": "2"}


@pytest.mark.parametrize("text", ["x", "1,5", "0x10", "9" * 5000])
def test_what_is_no_whole_number_is_refused(text):
    with pytest.raises(HTTPException) as caught:
        number_of(form(n=text), "n", int)
    assert (caught.value.status_code, len(caught.value.detail) < 500) == (422, True)


LINES = st.lists(st.text("abc<=.1", min_size=1), max_size=3)


@given(st.integers(1, 99), LINES, st.none() | st.floats(0.1, 1e6))
def test_a_form_that_is_sent_as_it_was_shown_changes_nothing(n, require, budget):
    command = {"n": n, "require": tuple(require), **({} if budget is None else {"budget": budget})}
    fields = {"n": f"{n}", "require": "\r\n".join(require), "budget": f"{budget or ''}", "forbid": "", "only": ""}
    assert changed(settings_of(form(**fields)), command) == {}
