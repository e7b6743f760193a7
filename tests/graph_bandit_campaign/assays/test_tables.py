"""What `--also` reads: tables and campaigns; which column, which molecules, and what is left out."""

import pytest
from support.tables import write

from graph_bandit_campaign import Campaign, Goal
from graph_bandit_campaign.assays.tables import match_other_tables, read_other_tables
from graph_bandit_env import from_smiles

POOL = from_smiles(["CCN", "CCO", "c1ccccc1"], ids=["1", "2", "3"], salts="merge")
OTHER = from_smiles(["CCO", "CCCO", "CCCCO"], ids=["x", "y", "3"])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def read(*texts):
    return match_other_tables(read_other_tables(texts, None, "smiles", ("pic50",)), POOL, 250)


def test_the_only_column_of_values_need_not_be_named():
    write("rlm.csv", [("ID", "smiles", "RLM"), ("x", "CCO", 1), ("y", "CCCO", 2)])
    assert read("rlm.csv").values == {"RLM": {"CCO": [1.0], "CCCO": [2.0]}}


def test_of_several_columns_one_is_to_be_named():
    write("rlm.csv", [("smiles", "a", "b"), ("CCO", 1, 5), ("CCCO", 2, 4)])
    with pytest.raises(ValueError, match="a, b"):
        read("rlm.csv")
    assert read("rlm.csv:b").values == {"b": {"CCO": [5.0], "CCCO": [4.0]}}
    assert set(read("rlm.csv:a", "rlm.csv:b").values) == {"a", "b"}


def test_a_smiles_counts_and_not_the_id_of_another_project():
    write("rlm.csv", [("id", "smiles", "v"), ("1", "OCC", 1), ("9", "CC[NH3+].[Cl-]", 2)])
    assert read("rlm.csv").values == {"v": {"CCO": [1.0], "CCN": [2.0]}}


def test_ids_of_the_pool_will_do():
    write("rlm.csv", [("id", "v"), ("3", 1), ("1", 2)])
    assert read("rlm.csv").values == {"v": {"c1ccccc1": [1.0], "CCN": [2.0]}}
    write("rlm.csv", [("id", "v"), ("3", 1), ("17", 2)])
    with pytest.raises(ValueError, match="17"):
        read("rlm.csv")


def test_repeats_count_as_their_mean_and_bounds_as_bounds():
    rows = [("CCO", 1), ("OCC", 3), ("CCCO", 5), ("CCCCO", ">7"), ("CCO", "<= 9"), ("CCN", "failed"), ("CN", "")]
    write("rlm.csv", [("smiles", "v"), *rows])
    told = read("rlm.csv")
    assert told.values == {"v": {"CCO": [2.0, "<9.0"], "CCCO": [5.0], "CCCCO": [">7.0"]}}


def test_two_classes_are_bounds_on_either_side_of_a_number():
    rows = [("CCO", "Active"), ("CCCO", "inactive"), ("CCCCO", "n.d."), ("CCN", "ACTIVE"), ("CN", "pending")]
    write("hts.csv", [("smiles", "screen"), *rows])
    told = read("hts.csv")
    assert told.values == {"screen": {"CCO": [">0.0"], "CCCO": ["<0.0"], "CCN": [">0.0"]}}


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([("CCO", 1), ("nonsense", 2)], "line 3"),
        ([("CCO", 1), ("CCN", "about 3")], "about 3"),
        ([("CCO", 1), ("CCN", 1)], "rlm"),
        ([("CCO", "low"), ("CCN", "medium"), ("CN", "high")], "high, low, medium"),
    ],
)
def test_bad_tables_are_refused(rows, text):
    write("rlm.csv", [("smiles", "v"), *rows])
    with pytest.raises(ValueError, match=text):
        read("rlm.csv")


def finished(path="old.campaign.json", **settings):
    """Another campaign, which measured all of its molecules."""
    made = Campaign(OTHER, "molecule-ucb", state=path, **settings)
    names = [goal.name for goal in settings.get("goals", ())] or [""]
    made.ask(3)
    for name in names:
        made.tell({"x": 5.0, "y": 6.0}, goal=name)
        made.tell({"3": f">{7.0}"}, goal=name)
    return path


def test_a_campaign_teaches_by_the_structures_that_it_has():
    told = read(finished(target="pic50"))  # the name is that of this campaign's own goal
    assert told.values == {"old pic50": {"CCO": [5.0], "CCCO": [6.0], "CCCCO": [">7.0"]}}


def test_each_goal_of_a_campaign_teaches_and_one_can_be_named():
    path = finished(goals=[Goal("pic50"), Goal("logd", "minimize")])
    assert list(read(path).values) == ["logd", "old pic50"]
    assert list(read(f"{path}:LogD").values) == ["logd"]
    with pytest.raises(ValueError, match="solubility"):
        read(f"{path}:solubility")
