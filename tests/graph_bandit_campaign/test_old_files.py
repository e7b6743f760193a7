"""Campaigns of the command's first version, in `old/`: their agents had a network, and settings of it."""

import json
import shutil
from pathlib import Path

import pytest

import registry
from graph_bandit_campaign import AgentChangedWarning, Campaign, SuggestSettings, suggest
from graph_bandit_env import from_smiles_csv

OLD = Path(__file__).parent / "old"
AGENTS = ["ucb", "ts"]


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(OLD, tmp_path / "old")


def settings(folder, file, agent=None):
    pool, measured = folder / "pool.csv", (folder / "measured.csv",)
    return SuggestSettings(pool=pool, measured=measured, n=3, maximize="qed", agent=agent, out=folder / f"{file}.csv")


def state(folder, agent):
    return json.loads((folder / f"{agent}.campaign.json").read_text())


@pytest.mark.parametrize("agent", AGENTS)
def test_the_same_command_says_what_to_leave_out(folder, agent):
    before = state(folder, agent)
    with pytest.raises(ValueError, match="`width` is no longer a setting. The molecule- agents have had no network"):
        suggest(settings(folder, agent, before["agent"]))
    assert state(folder, agent) == before


@pytest.mark.parametrize("agent", AGENTS)
def test_without_an_agent_it_goes_on_by_default_and_says_so(folder, agent, capsys):
    before = state(folder, agent)
    suggested = suggest(settings(folder, agent))
    after, printed = state(folder, agent), capsys.readouterr().out
    assert f"The agent has changed since this campaign was last written ({before['agent']}, now molecule-ucb" in printed
    assert (after["agent"], after["algorithm"]) == ("molecule-ucb", registry.make_agent("molecule-ucb").algorithm)
    assert after["rounds"][0] == before["rounds"][0]  # whose molecules may be under way: they stay pending
    assert len({*before["pending"], *(each.id for each in suggested)}) == 6


@pytest.mark.parametrize("agent", AGENTS)
def test_a_campaign_goes_on_with_its_next_round(folder, agent):
    before = state(folder, agent)
    first = before["rounds"][0][0]["id"]
    with (folder / "measured.csv").open("a", encoding="utf-8") as file:
        file.write(f"{first},0.5\n")
    suggested = suggest(settings(folder, agent, f"molecule-{agent}"))
    after = state(folder, agent)
    assert after["rounds"][0] == before["rounds"][0]
    assert {"id": first, "value": 0.5, "round": 1} in after["measured"]
    assert not {each.id for each in suggested} & {each["id"] for each in before["rounds"][0]}


@pytest.mark.parametrize("agent", AGENTS)
def test_in_python_the_file_names_an_agent_that_must_be_replaced(folder, agent):
    molecules, path = from_smiles_csv(folder / "pool.csv", identifier="id"), folder / f"{agent}.campaign.json"
    with pytest.raises(ValueError, match="no longer a setting.*To continue with another agent, pass it as `agent`"):
        Campaign(molecules, state=path)
    with pytest.warns(AgentChangedWarning, match="the default for a batch of 3"):
        campaign = Campaign(molecules, "default", state=path)
    assert campaign.state.pending == tuple(state(folder, agent)["pending"])
