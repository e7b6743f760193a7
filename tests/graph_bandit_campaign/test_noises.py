"""Results with a noise of their own."""

import json
from pathlib import Path

import numpy as np
import pytest
from support.molecules import some_molecules
from support.tables import write

from graph_bandit_campaign import Campaign, SuggestSettings
from graph_bandit_cli.main import main

MOLECULES = some_molecules()
IDS, VALUES = MOLECULES.ids, MOLECULES.targets


@pytest.fixture
def suggest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("pool.csv", [("id", "smiles"), *((f"m{k}", text) for k, text in enumerate(MOLECULES.smiles))])

    def run(*rows, header=("id", "logp", "sd"), agent="molecule-ucb", more=("--noise", "sd")):
        with open("results.csv", "w", encoding="utf-8") as file:
            file.write("\n".join(",".join(row) for row in [header, *rows]) + "\n")
        command = ["suggest", "pool.csv", "--measured", "results.csv", "--n", "3", "--maximize", "logp"]
        code = main([*command, "--out", "out.csv", "--html", "out.html", "--agent", agent, *more])
        if code:
            return code
        with open("out.campaign.json", encoding="utf-8") as file:
            return json.load(file)

    return run


def test_a_noisy_outlier_is_trusted_less_than_a_precise_one():
    def predicted(noise):
        campaign = Campaign(MOLECULES, "molecule-ucb")
        with campaign.at_once():
            for k in range(20):
                shift = 5 * VALUES.std() if k == 3 else 0.0
                campaign.tell(IDS[k], VALUES[k] + shift, noise=noise if k == 3 else 0.05)
        return campaign.predict()[IDS[3]].mean

    assert abs(predicted(20.0) - VALUES[3]) < abs(predicted(0.05) - VALUES[3])


def test_a_campaign_goes_on_with_its_noises(tmp_path):
    path = tmp_path / "campaign.json"
    campaign = Campaign(MOLECULES, "molecule-ucb", state=path)
    campaign.tell_many(dict(zip(IDS[:5], VALUES[:5].tolist(), strict=True)))
    assert '"noise"' not in path.read_text(encoding="utf-8").split('"rounds"')[0]
    campaign.tell(IDS[5], 1.0, noise=0.3)
    campaign.tell(IDS[5], 1.0, noise=0.3)
    campaign.tell(IDS[5], 1.0, noise=2)
    again = Campaign(MOLECULES, state=path)
    assert [result.noise for result in again.state.measured] == [None] * 5 + [0.3, 2.0]
    assert again.predict() == campaign.predict()


def test_small_values_can_be_wanted():
    up, down = Campaign(MOLECULES, "molecule-ucb"), Campaign(MOLECULES, "molecule-ucb", maximize=False)
    for k in range(10):
        up.tell(IDS[k], VALUES[k], noise=0.1 + k)
        down.tell(IDS[k], -VALUES[k], noise=0.1 + k)
    means = np.array([[campaign.predict()[key].mean for key in IDS] for campaign in (up, down)])
    np.testing.assert_allclose(means[0], -means[1], atol=1e-6)


@pytest.mark.parametrize("noise", [0, -0.1, float("nan"), float("inf"), "0.3", True])
def test_refuses_what_is_no_noise(noise):
    campaign = Campaign(MOLECULES, "molecule-ucb")
    with pytest.raises(ValueError, match="Expected the noise"):
        campaign.tell(IDS[0], 1.0, noise=noise)
    with pytest.raises(ValueError, match="exact values only"):
        campaign.tell(IDS[0], 1.0, bound="above", noise=0.3)
    assert not campaign.state.measured


def test_agents_that_cannot_use_noises_are_refused(tmp_path):
    campaign = Campaign(MOLECULES, "gnn-ucb", state=tmp_path / "one.json")
    with pytest.raises(ValueError, match="cannot use the noise"):
        campaign.tell(IDS[0], 1.0, noise=0.3)
    assert not campaign.state.measured
    Campaign(MOLECULES, state=tmp_path / "two.json").tell(IDS[0], 1.0, noise=0.3)
    with pytest.raises(ValueError, match="cannot use the noise"):
        Campaign(MOLECULES, "gnn-ucb", state=tmp_path / "two.json")


def test_a_column_of_noises_is_read_and_counted(suggest, capsys):
    rows = [("m0", "1.0", "0.1"), ("m0", "1.5", "0.2"), ("m1", "2.0", ""), ("m2", "failed", "x"), ("m3", ">3", "")]
    state = suggest(*rows)
    told = [(row["id"], row["value"], row.get("noise")) for row in state["measured"]]
    assert told == [("m1", 2.0, None), ("m3", 3.0, None), ("m0", 1.0, 0.1), ("m0", 1.5, 0.2)]
    assert "2 of 4 results have a noise of their own." in capsys.readouterr().out
    assert len(suggest(*rows)["rounds"]) == 1  # the same question
    assert len(suggest(("m0", "1.0", "0.3"), *rows[1:])["rounds"]) == 2
    assert suggest(rows[0], *rows[2:])["measured"][-1]["round"] == 0


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("m1", "2.0", "0"), "line 3: expected a number above 0 in `sd`"),
        (("m1", "2.0", "-1"), "line 3: expected a number above 0 in `sd`"),
        (("m1", "2.0", "much"), "line 3: expected a number above 0 in `sd`"),
        (("m1", ">2.0", "0.3"), "line 3: expected nothing in `sd` next to a bound"),
    ],
)
def test_bad_noises_are_listed_and_nothing_is_written(suggest, row, message, capsys, tmp_path):
    assert suggest(("m0", "1.0", "0.1"), row) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"header": ("id", "logp", "error")}, "Expected a column `sd` (--noise)"),
        ({"agent": "gnn-ucb"}, "cannot use the noise"),
        ({"more": ("--noise", "sd", "--minimize", "sd2")}, "Expected `--noise` with one goal"),
    ],
)
def test_what_cannot_be_done_with_noises_is_refused(suggest, settings, message, capsys, tmp_path):
    assert suggest(("m0", "1.0", "0.1"), **settings) == 1
    assert message in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("column", ["logp", "smiles", "id"])
def test_a_column_of_noises_is_no_other_column(column):
    with pytest.raises(ValueError, match="column of its own"):
        SuggestSettings(Path("pool.csv"), Path("out.csv"), maximize="logp", noise=column)
