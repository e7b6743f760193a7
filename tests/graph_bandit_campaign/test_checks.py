"""What is checked and written alike everywhere: ids, numbers, flags, masks, and names like formulas."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents import LARGEST_REWARD
from graph_bandit_campaign import BacktestSettings, Campaign, Goal, SuggestSettings
from graph_bandit_campaign.checks import check_noise, check_value
from graph_bandit_campaign.constraints.batch.batch import BatchConstraints
from graph_bandit_campaign.results.matching import Matcher, match_rows
from graph_bandit_campaign.results.rows import MeasuredRow
from graph_bandit_campaign.text import percent, shield, unshield
from graph_bandit_env import from_smiles

NUMBERS = [0.5, 1, np.float32(0.25), np.int64(2), LARGEST_REWARD]


@pytest.mark.parametrize("number", NUMBERS)
def test_values_and_noises_are_numbers_that_can_be_computed_with(number):
    assert check_noise("a", number) == check_value("a", number) == -check_value("a", -number) == float(number)
    assert check_noise("a", None) is None


@pytest.mark.parametrize(
    "number", [float("nan"), np.float32("inf"), 2 * LARGEST_REWARD, 10**400, True, "1", 0, -1e-101]
)
def test_others_are_refused_and_a_noise_is_above_zero_and_of_no_bound(number):
    with pytest.raises(ValueError, match="`a`"):
        check_noise("a", number)
    if number != 0:
        with pytest.raises(ValueError, match="`a`"):
            check_value("a", number)
    with pytest.raises(ValueError, match="`a`"):
        check_noise("a", 0.1, ">")


POOL, PATHS = from_smiles(["CCO", "CCN", "CCCl"]), (Path("a.csv"), Path("b.csv"))
FLAGS = {
    "maximize": lambda given: Campaign(POOL, maximize=given),
    "ignore_failures": lambda given: Campaign(POOL, ignore_failures=given),
    "strict": lambda given: Goal("a", "limit", high=1, strict=given),
    "budget_only": lambda given: BatchConstraints(prices=1, budget=2, budget_only=given),
    "next_batch": lambda given: SuggestSettings(*PATHS, maximize=("y",), next_batch=given),
    "skip_bad_rows": lambda given: BacktestSettings(*PATHS, maximize="y", skip_bad_rows=given),
}


@pytest.mark.parametrize("flag", ["min", "minimize", "False", 1, 0.0, "", None])
@pytest.mark.parametrize("set_flag", FLAGS.values(), ids=FLAGS)
def test_what_is_no_bool_is_no_flag(set_flag, flag):
    if flag is not None or set_flag is not FLAGS["maximize"]:  # where None means the direction of the file
        with pytest.raises(ValueError, match=re.escape(f"to be True or False. Got {flag!r}.")):
            set_flag(flag)


@pytest.mark.parametrize("name", FLAGS)
def test_a_bool_of_numpy_is_a_flag(name):
    FLAGS[name](np.False_)
    assert type(Goal("a", "limit", high=1, strict=np.True_).strict) is bool  # so that it can be saved


@pytest.mark.parametrize("mask", [["True", "False", "True"], [0, 1, 2], [1.0, 0.0, 1.0]])
def test_a_mask_holds_bools_alone(mask):
    with pytest.raises(ValueError, match="True or False"):
        Campaign(POOL, offered=mask)
    with pytest.raises(ValueError, match="True or False"):
        Campaign(POOL).ask(among=mask)


@given(st.text(alphabet="'=+-@a1 ü＝"))
def test_a_name_is_read_back_as_it_was(name):
    assert unshield(shield(name)) == name
    assert not re.match(r"[=+\-@]", shield(name))


@pytest.mark.parametrize("name", ["=1+1", "+5", "-5", "@SUM(A1)", "'=1", "A-5", "5", "'quoted'", "", "a=b"])
def test_names_like_formulas_get_an_apostrophe_and_others_stay(name):
    assert shield(name) == (f"'{name}" if name.lstrip("'")[:1] in tuple("=+-@") else name)


def test_only_what_is_certain_is_0_or_100_percent():
    shares = (None, 0, 1e-9, 0.005, 0.354, 0.995, 0.999999, 1)
    assert [*map(percent, shares)] == ["", "0 %", "< 1 %", "< 1 %", "35 %", "> 99 %", "> 99 %", "100 %"]


def test_results_know_molecules_by_both_names():
    pool = from_smiles(["CCO", "CCN"], ids=["=a", "-b"])
    rows = [MeasuredRow("line 2", "'=a", "", 1.0), MeasuredRow("line 3", "-b", "", 2.0)]
    assert [(each.id, each.value) for each in match_rows({"": rows}, Matcher(pool)).results] == [
        ("=a", 1.0),
        ("-b", 2.0),
    ]
