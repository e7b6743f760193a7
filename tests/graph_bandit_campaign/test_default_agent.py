"""The agent that chooses if nobody names one: by the size of the batch, told as such, kept apart from one named."""

import json
import warnings

import pytest
from support.molecules import some_molecules
from support.tables import read, write

from graph_bandit_campaign import AgentChangedWarning, Campaign
from graph_bandit_campaign.model import learner
from graph_bandit_cli.main import main

MOLECULES = some_molecules(22)
IDS = MOLECULES.ids
FAST = ":short_list=20"
UCB, EI = f"molecule-ucb{FAST}", f"molecule-ei{FAST}"


@pytest.fixture(autouse=True)
def _fast_defaults(monkeypatch):
    by_size = learner.default_agent
    for place in ("model.learner", "campaign"):
        monkeypatch.setattr(f"graph_bandit_campaign.{place}.default_agent", lambda *given: by_size(*given) + FAST)


def begin(agent=None, **settings):
    campaign = Campaign(MOLECULES, agent, **settings)
    campaign.tell_many(dict(zip(IDS[:6], MOLECULES.targets.tolist(), strict=False)))
    return campaign


def saved(path):
    return json.loads(path.read_text(encoding="utf-8"))


def test_one_molecule_is_chosen_by_expected_improvement_and_several_by_upper_bounds():
    campaign = begin()
    assert campaign.ask(1) == begin("molecule-ei" + FAST).ask(1)
    assert (campaign.state.agent, campaign.state.by_default) == (EI, True)
    campaign.undo_ask()
    assert campaign.ask(3) == begin("molecule-ucb" + FAST).ask(3)
    assert (campaign.state.agent, campaign.state.by_default) == (UCB, True)


def test_the_first_molecule_needs_no_result():
    assert Campaign(MOLECULES).ask(1)[0].id in IDS


def test_the_prediction_does_not_depend_on_the_size_of_the_batch():
    predictions = []
    for rule in ("ei", "ucb"):
        campaign = begin(f"molecule-{rule}:short_list=20")
        campaign.ask(1 if rule == "ei" else 3)
        predictions.append(campaign.predict())
    assert predictions[0] == predictions[1]


def test_a_campaign_by_default_goes_on_by_default(tmp_path):
    path, whole = tmp_path / "state.json", begin()
    begin(state=path)
    assert saved(path)["by_default"] is True
    assert Campaign(MOLECULES, state=path).ask(3) == whole.ask(3)
    with pytest.warns(AgentChangedWarning):
        found = Campaign(MOLECULES, state=path).ask(1)
    assert found == whole.ask(1)
    assert Campaign(MOLECULES, state=path).state == whole.state


def test_a_named_agent_is_kept_by_the_file_for_batches_of_any_size(tmp_path):
    path = tmp_path / "state.json"
    begin(UCB, state=path).ask(3)
    assert "by_default" not in saved(path)  # as in the files of earlier versions, whose agents count as named
    with warnings.catch_warnings(action="error"):
        campaign = Campaign(MOLECULES, state=path)
        campaign.ask(1)
    assert (campaign.state.agent, campaign.state.by_default) == (UCB, False)


def test_a_named_agent_is_given_up_for_the_default_on_request(tmp_path):
    path = tmp_path / "state.json"
    begin("molecule-greedy" + FAST, state=path).ask(3)
    with pytest.warns(AgentChangedWarning, match=r"\(molecule-greedy:.*, now molecule-ucb:.*batch of 3\)"):
        campaign = Campaign(MOLECULES, "default", state=path)
    with pytest.warns(AgentChangedWarning, match=r"\(molecule-greedy:.*, now molecule-ei:.*batch of 1\)"):
        campaign.ask(1)
    assert saved(path)["by_default"] is True


def test_another_default_for_another_size_is_told_once_when_a_campaign_is_opened_again(tmp_path):
    path = tmp_path / "state.json"
    with warnings.catch_warnings(action="error"):  # the sizes of one session are the caller's own
        campaign = begin(state=path)
        campaign.ask(1)
        campaign.ask(3)
    campaign = Campaign(MOLECULES, state=path)
    assert campaign.agent_change == ""
    told = f"({UCB}, now {EI}, the default for a batch of 1): suggestions may differ. Name {UCB} to keep it."
    with pytest.warns(AgentChangedWarning) as warned:
        campaign.ask(1)
    assert str(warned[0].message) == f"The agent has changed since this campaign was last written {told}"
    assert warned[0].filename == __file__
    with warnings.catch_warnings(action="error"):
        campaign.ask(3)


def test_a_default_that_a_later_version_changed_is_told_when_the_file_is_opened(tmp_path):
    path = tmp_path / "state.json"
    begin(state=path).ask(3)
    path.write_text(path.read_text(encoding="utf-8").replace("molecule-ucb", "molecule-of-old"), encoding="utf-8")
    with pytest.warns(AgentChangedWarning, match=r"\(molecule-of-old:.*, now molecule-ucb:.*batch of 3\)") as warned:
        Campaign(MOLECULES, state=path).ask(3)
    assert len(warned) == 1


def test_nothing_is_told_before_there_was_a_round(tmp_path):
    path = tmp_path / "state.json"
    begin(state=path)
    with warnings.catch_warnings(action="error"):
        Campaign(MOLECULES, state=path).ask(3)


# --- The command


@pytest.fixture
def suggest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("pool.csv", [("id", "smiles"), *zip(IDS, MOLECULES.smiles, strict=True)])
    write("results.csv", [("id", "y"), *zip(IDS[:6], MOLECULES.targets.tolist(), strict=False)])

    def run(count, *more):
        command = ["suggest", "pool.csv", "--measured", "results.csv", "--n", str(count), "--maximize", "y"]
        assert main([*command, "--out", "out.csv", "--html", "out.html", *more]) == 0
        return [row["id"] for row in read("out.csv")]

    return run


@pytest.mark.parametrize(("count", "agent"), [(1, EI), (3, UCB)])
def test_the_default_is_told_as_one(suggest, tmp_path, capsys, count, agent):
    suggest(count)
    assert f"Round 1, by {agent} (the default for a batch of {count})." in capsys.readouterr().out
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert f"<code>{agent}</code> (the default for a batch of {count}) for large" in page
    assert saved(tmp_path / "out.campaign.json")["agent"] == agent
    suggest(count, "--agent", agent)
    assert f"Round 1, by {agent}. " in capsys.readouterr().out  # the same question, now with a named agent
    assert "the default for" not in (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "by_default" not in saved(tmp_path / "out.campaign.json")


def test_another_size_is_told_and_makes_another_round(suggest, tmp_path, capsys):
    first = suggest(3)
    assert "has changed" not in capsys.readouterr().out
    second = suggest(1)
    told = f"The agent has changed since this campaign was last written ({UCB}, now {EI}, the default for a batch of 1)"
    for text in (capsys.readouterr().out, (tmp_path / "out.html").read_text(encoding="utf-8")):
        assert told in text
    assert not {*first} & {*second}
    assert suggest(1) == second
    assert "has changed" not in capsys.readouterr().out
    assert len(saved(tmp_path / "out.campaign.json")["rounds"]) == 2


def test_a_file_of_an_earlier_version_has_the_same_answer_to_the_same_command(suggest, tmp_path, capsys):
    first = suggest(3)
    state = saved(tmp_path / "out.campaign.json")
    del state["by_default"]
    (tmp_path / "out.campaign.json").write_text(json.dumps(state), encoding="utf-8")
    capsys.readouterr()
    assert suggest(3) == first
    assert "has changed" not in capsys.readouterr().out
    assert saved(tmp_path / "out.campaign.json")["question"] == state["question"]


def test_an_agent_that_is_named_no_more_gives_way_to_the_default(suggest, capsys):
    suggest(3, "--agent", "molecule-greedy" + FAST)
    assert "has changed" not in capsys.readouterr().out
    suggest(1)
    assert f"(molecule-greedy{FAST}, now {EI}, the default for a batch of 1)" in capsys.readouterr().out
