"""What `--also` reads: tables, campaigns and folders."""

from pathlib import Path

import pytest
from support.tables import write

from graph_bandit_campaign import Campaign, Goal
from graph_bandit_campaign.assays.matched import match_other_tables
from graph_bandit_campaign.assays.tables import read_other_tables
from graph_bandit_campaign.names import split_name
from graph_bandit_env import GraphPool, from_smiles

POOL = from_smiles(["CCN", "CCO", "c1ccccc1"], ids=["1", "2", "3"], forms="joined")
OTHER = from_smiles(["CCO", "CCCO", "CCCCO"], ids=["x", "y", "3"])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def read(*texts, goals=("pic50",)):
    return read_other_tables(texts, None, "smiles", goals)


def test_a_name_is_a_file_or_a_file_and_a_column():
    write("a:b.csv", [("id", "x")])
    assert split_name("a:b.csv") == (Path("a:b.csv"), None)
    assert split_name("a:b.csv:x") == (Path("a:b.csv"), "x")
    assert split_name("missing.csv") == (Path("missing.csv"), None)
    assert split_name(r"C:\tables\x.csv") == (Path(r"C:\tables\x.csv"), None)
    assert split_name(r"C:\tables\x.csv:col") == (Path(r"C:\tables\x.csv"), "col")
    assert split_name("x.csv:") == (Path("x.csv:"), None)


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


def test_results_of_which_a_campaign_has_no_structure_are_left_out_and_told():
    made = Campaign(OTHER, "random", state="old.campaign.json", target="pic50")
    made.tell_many({"x": 5.0, "y": 6.0})
    made.ask(1)
    (table,) = read("old.campaign.json")
    assert not table.rows
    assert table.remarks == ["2 results of old.campaign.json left out, since it has no structure of them"]


def test_each_goal_of_a_campaign_teaches_and_one_can_be_named():
    path = finished(goals=[Goal("pic50"), Goal("logd", "minimize")])
    logd, pic50 = tables = read(path)
    assert [table.name for table in tables] == ["logd", "old pic50"]
    assert pic50.remarks == []
    assert logd.remarks == ["no goal has the name `logd`, which old.campaign.json has measured"]
    assert [table.name for table in read(f"{path}:LogD")] == ["logd"]
    with pytest.raises(ValueError, match="It has pic50, logd"):
        read(f"{path}:solubility")


def test_graphs_of_another_campaign_have_to_be_the_same_graphs():
    pools = [GraphPool([[[1.0]], [[value]]], [[], []], ids=["a", "b"]) for value in (2.0, 3.0)]
    made = Campaign(pools[0], "random", state="old.campaign.json", target="v")
    made.ask(2)
    made.tell_many({"a": 1.0, "b": 2.0})
    assert match_other_tables(read("old.campaign.json"), pools[0], 250).values == {"v": {"a": [1.0], "b": [2.0]}}
    with pytest.raises(ValueError, match="`b` is another graph in the pool"):
        match_other_tables(read("old.campaign.json"), pools[1], 250)


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


def test_a_folder_without_such_a_column_is_refused():
    Path("last_year").mkdir()
    write("last_year/c.csv", [("smiles", "cost"), ("CCO", 1)])
    with pytest.raises(ValueError, match=r"a column pic50\. last_year has c\.csv"):
        read("last_year")


def test_a_file_that_is_missing_or_no_campaign_is_refused():
    with pytest.raises(FileNotFoundError, match="no campaign"):
        read("old.campaign.json")
    Path("old.campaign.json").write_text("{}")
    with pytest.raises(ValueError, match=r"old\.campaign\.json"):
        read("old.campaign.json")


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


def test_files_of_one_name_in_two_folders_get_the_names_of_these_in_any_order():
    for folder in ("a", "b"):
        Path(folder).mkdir()
        write(f"{folder}/r.csv", [("smiles", "x"), ("CCO", 1), ("CCCO", 2)])
    names = [[table.name for table in read(*texts)] for texts in (["a/r.csv", "b/r.csv"], ["b/r.csv", "a/r.csv"])]
    assert names[0] == names[1] == ["a/r x", "b/r x"]
    with pytest.raises(ValueError, match="once for `--also`"):
        read("a/r.csv", "a/r.csv:x")


def test_a_small_table_of_a_folder_is_left_out_and_one_that_is_named_is_refused():
    Path("year").mkdir()
    write("year/one.csv", [("smiles", "pic50"), ("CCO", 1)])
    write("year/two.csv", [("smiles", "pic50"), ("CCO", 1), ("CCCO", 2)])
    told = match_other_tables(read("year"), POOL, 250)
    assert set(told.values) == {"two pic50"}
    assert any("left out, since its results do not differ" in remark for remark in told.remarks)
    with pytest.raises(ValueError, match="two results that differ"):
        match_other_tables(read("year/one.csv"), POOL, 250)


def test_a_table_without_a_value_is_refused_by_its_name():
    write("old.csv", [("smiles", "x"), ("CCO", "")])
    with pytest.raises(ValueError, match=r"a value in column `x` of old\.csv"):
        read("old.csv")
