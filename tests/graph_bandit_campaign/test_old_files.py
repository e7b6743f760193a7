"""Campaigns that were written before algorithms had versions: `old/` is of the command's first version."""

import json
import shutil
from pathlib import Path

import pytest

import registry
from graph_bandit_campaign import SuggestSettings, suggest

OLD = Path(__file__).parent / "old"


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(OLD, tmp_path / "old")


def settings(folder, agent):
    return SuggestSettings(
        pool=folder / "pool.csv",
        measured=(folder / "measured.csv",),
        n=3,
        maximize="qed",
        agent=f"molecule-{agent}:width=8,depth=1,steps=20",
        out=folder / f"{agent}.csv",
    )


def state(folder, agent):
    return json.loads((folder / f"{agent}.campaign.json").read_text())


@pytest.mark.parametrize("agent", ["ucb", "ts"])
def test_the_same_command_has_the_answer_that_it_had(folder, agent, capsys):
    before, algorithm = state(folder, agent), getattr(registry.make_agent(f"molecule-{agent}"), "algorithm", 1)
    suggested = suggest(settings(folder, agent))
    after, printed = state(folder, agent), capsys.readouterr().out
    if algorithm == 1:
        assert {each.id for each in suggested} == {each["id"] for each in before["rounds"][0]}
        assert {each.id: each.mean for each in suggested} == pytest.approx(
            {each["id"]: each["mean"] for each in before["rounds"][0]}, rel=1e-2
        )
        assert "The agent has changed" not in printed
        assert after["question"].startswith(f"{before['question']}-")  # now with the pool
        same = [name for name in before if name not in ("rounds", "pending", "question")]
        assert [after[name] for name in same] == [before[name] for name in same]
    else:
        assert f"The agent has changed since this campaign was last written (algorithm 1, now {algorithm})" in printed
        assert after["algorithm"] == algorithm
        assert after["rounds"][0] == before["rounds"][0]  # whose molecules may be under way: they stay pending
        assert len({*before["pending"], *(each.id for each in suggested)}) == 6


@pytest.mark.parametrize("agent", ["ucb", "ts"])
def test_a_campaign_goes_on_with_its_next_round(folder, agent):
    before = state(folder, agent)
    first = before["rounds"][0][0]["id"]
    with (folder / "measured.csv").open("a", encoding="utf-8") as file:
        file.write(f"{first},0.5\n")
    suggested = suggest(settings(folder, agent))
    after = state(folder, agent)
    assert after["rounds"][0] == before["rounds"][0]
    assert {"id": first, "value": 0.5, "round": 1} in after["measured"]
    assert not {each.id for each in suggested} & {each["id"] for each in before["rounds"][0]}
