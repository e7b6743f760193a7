"""What `--also` reads: tables, campaigns and folders."""

import pytest

from graph_bandit_campaign import Campaign, Goal
from graph_bandit_campaign.assays.tables import match_other_tables, read_other_tables
from graph_bandit_env import from_smiles

POOL = from_smiles(["CCN", "CCO", "c1ccccc1"], ids=["1", "2", "3"], salts="merge")
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
    assert match_other_tables([table], POOL, 250).values == {
        "old pic50": {"CCO": [5.0], "CCCO": [6.0], "CCCCO": [">7.0"]}
    }


def test_each_goal_of_a_campaign_teaches_and_one_can_be_named():
    path = finished(goals=[Goal("pic50"), Goal("logd", "minimize")])
    assert [table.name for table in read(path)] == ["logd", "old pic50"]
    assert [table.name for table in read(f"{path}:LogD")] == ["logd"]
    with pytest.raises(ValueError, match="solubility"):
        read(f"{path}:solubility")
