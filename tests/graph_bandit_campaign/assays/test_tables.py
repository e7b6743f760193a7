"""What `--also` reads: tables, campaigns and folders."""

from pathlib import Path

import pytest
from support.tables import write

from graph_bandit_campaign import Campaign, Goal
from graph_bandit_campaign.assays.matched import match_other_tables
from graph_bandit_campaign.assays.tables import read_other_tables
from graph_bandit_env import from_smiles

POOL = from_smiles(["CCN", "CCO", "c1ccccc1"], ids=["1", "2", "3"], forms="joined")
OTHER = from_smiles(["CCO", "CCCO", "CCCCO"], ids=["x", "y", "3"])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def read(*texts, goals=("pic50",)):
    return read_other_tables(texts, None, "smiles", goals)


def finished(path="old.campaign.json", **settings):
    """Another campaign, which measured all of its molecules."""
    made = Campaign(OTHER, "molecule-ucb", state=path, **settings)
    names = [goal.name for goal in settings.get("goals", ())] or [""]
    made.ask(3)
    for name in names:
        made.tell_many({"x": 5.0, "y": 6.0}, goal=name)
        made.tell("3", 7.0, "above", goal=name)
    return path


def test_a_campaign_teaches_by_the_structures_that_it_has():
    (table,) = read(finished(target="pic50"))
    assert table.name == "old pic50"  # the name is that of this campaign's own goal
    assert table.remarks == []
    assert match_other_tables([table], POOL, 250).values == {
        "old pic50": {"CCO": [5.0], "CCCO": [6.0], "CCCCO": [">7.0"]}
    }


def test_each_goal_of_a_campaign_teaches_and_one_can_be_named():
    path = finished(goals=[Goal("pic50"), Goal("logd", "minimize")])
    logd, pic50 = tables = read(path)
    assert [table.name for table in tables] == ["logd", "old pic50"]
    assert pic50.remarks == []
    assert logd.remarks == ["no goal has the name `logd`, which old.campaign.json has measured"]
    assert [table.name for table in read(f"{path}:LogD")] == ["logd"]
    with pytest.raises(ValueError, match="It has pic50, logd"):
        read(f"{path}:solubility")


def test_a_folder_teaches_by_the_columns_that_are_named_as_the_goals():
    Path("last_year").mkdir()
    write("last_year/a.csv", [("smiles", "PIC50"), ("CCO", 1), ("CCCO", 2)])
    write("last_year/b.csv", [("smiles", "pic50", "logd"), ("CCO", "", 2), ("CN", "", 3)])
    write("last_year/c.csv", [("smiles", "cost"), ("CCO", 1)])
    write("last_year/notes.md", [("pic50",)])
    (table,) = read("last_year")
    assert (table.name, [row.value for row in table.rows]) == ("a pic50", [1.0, 2.0])
    assert table.remarks == ["tables of last_year without a result of pic50: b.csv, c.csv"]
    assert [other.name for other in read("last_year", goals=("pic50", "logd"))] == ["a pic50", "b logd"]
    assert [other.name for other in read("last_year:cost")] == ["cost"]


def test_files_of_the_campaign_itself_are_left_out_of_a_folder_and_refused_by_name():
    Path("here").mkdir()
    for name in ("results", "old"):
        write(f"here/{name}.csv", [("smiles", "pic50", "cost"), ("CCO", 1, 5), ("CCCO", 2, 6)])
    own = [Path("here/results.csv"), Path("here/missing.csv")]
    (table,) = read_other_tables(["here"], None, "smiles", ["pic50"], own)
    assert table.path == Path("here/old.csv")
    assert table.remarks == ["tables of here left out, which are of this campaign: 1"]
    with pytest.raises(ValueError, match="what this one measures"):
        read_other_tables(["here/results.csv:PIC50"], None, "smiles", ["pic50"], own)
    (cost,) = read_other_tables(["here/results.csv:cost"], None, "smiles", ["pic50"], own)
    assert cost.name == "cost"
