"""Flags and masks are bools, and nothing that counts as one."""

import re
from pathlib import Path

import numpy as np
import pytest

from graph_bandit_campaign import BacktestSettings, Campaign, Goal, SuggestSettings
from graph_bandit_campaign.constraints.batch.batch import BatchConstraints
from graph_bandit_env import from_smiles

POOL, PATHS = from_smiles(["CCO", "CCN", "CCCl"]), (Path("a.csv"), Path("b.csv"))
FLAGS = {
    "maximize": lambda given: Campaign(POOL, maximize=given),
    "ignore_failures": lambda given: Campaign(POOL, ignore_failures=given),
    "strict": lambda given: Goal("a", "limit", high=1, strict=given),
    "budget_only": lambda given: BatchConstraints(prices=1, budget=2, budget_only=given),
    "more": lambda given: SuggestSettings(*PATHS, maximize=("y",), more=given),
    "skip_bad_rows": lambda given: BacktestSettings(*PATHS, maximize="y", skip_bad_rows=given),
}


@pytest.mark.parametrize("given", ["min", "minimize", "False", 1, 0.0, "", None])
@pytest.mark.parametrize("set_flag", FLAGS.values(), ids=FLAGS)
def test_what_is_no_bool_is_no_flag(set_flag, given):
    if given is not None or set_flag is not FLAGS["maximize"]:  # where None means the direction of the file
        with pytest.raises(ValueError, match=re.escape(f"to be True or False. Got {given!r}.")):
            set_flag(given)


@pytest.mark.parametrize("name", FLAGS)
def test_a_bool_of_numpy_is_a_flag(name):
    FLAGS[name](np.False_)
    assert type(Goal("a", "limit", high=1, strict=np.True_).strict) is bool  # so that it can be saved


@pytest.mark.parametrize("given", [["True", "False", "True"], [0, 1, 2], [1.0, 0.0, 1.0]])
def test_a_mask_holds_bools_alone(given):
    with pytest.raises(ValueError, match="True or False"):
        Campaign(POOL, offered=given)
    with pytest.raises(ValueError, match="True or False"):
        Campaign(POOL).ask(among=given)
