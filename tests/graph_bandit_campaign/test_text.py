import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_bandit_campaign.results.books import match_goals
from graph_bandit_campaign.results.rows import MeasuredRow
from graph_bandit_campaign.text import percent, shield, unshield
from graph_bandit_env import from_smiles


@given(st.text(alphabet="'=+-@a1 ü＝"))
def test_a_name_is_read_back_as_it_was(name):
    assert unshield(shield(name)) == name
    assert not re.match(r"[=+\-@]", shield(name))


@pytest.mark.parametrize("name", ["=1+1", "+5", "-5", "@SUM(A1)", "'=1"])
def test_names_like_formulas_get_an_apostrophe(name):
    assert shield(name) == f"'{name}"


@pytest.mark.parametrize("name", ["A-5", "5", "'quoted'", "", "a=b"])
def test_other_names_stay_as_they_are(name):
    assert shield(name) == unshield(name) == name


def test_only_what_is_certain_is_0_or_100_percent():
    shares = (None, 0, 1e-9, 0.005, 0.354, 0.995, 0.999999, 1)
    assert [*map(percent, shares)] == ["", "0 %", "< 1 %", "< 1 %", "35 %", "> 99 %", "> 99 %", "100 %"]


def test_results_know_molecules_by_both_names():
    pool = from_smiles(["CCO", "CCN"], ids=["=a", "-b"])
    rows = [MeasuredRow("line 2", "'=a", "", 1.0), MeasuredRow("line 3", "-b", "", 2.0)]
    assert match_goals({"": rows}, pool)[""].measured == (("=a", 1.0), ("-b", 2.0))
