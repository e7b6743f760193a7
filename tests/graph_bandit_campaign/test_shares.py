"""The output of `suggest` says what the model compares, and how much each part counts."""

import re

import pytest
from support.molecules import some_molecules

from graph_bandit_campaign import Campaign
from graph_bandit_cli.main import main

MOLECULES = some_molecules(22)
NAMES = {"atom pairs", "neighbourhoods", "torsions", "roles of atoms", "properties", "descriptors"}


def begin(agent=None):
    campaign = Campaign(MOLECULES, agent)
    campaign.tell_many(dict(zip(MOLECULES.ids[:9], MOLECULES.targets.tolist(), strict=False)))
    return campaign


def test_shares_are_those_of_the_agent_that_learnt_from_the_results():
    campaign = begin()
    shares = campaign.shares()
    assert set(shares) == NAMES
    assert sum(shares.values()) == pytest.approx(1)
    assert shares != Campaign(MOLECULES).shares()
    assert shares == begin("molecule-greedy").shares()


def test_an_agent_without_parts_has_no_shares():
    assert begin("random").shares() == {}


def test_terminal_and_page_show_them_by_size_once_there_are_results(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"{text},{value}" for text, value in zip(MOLECULES.smiles, MOLECULES.targets, strict=True)]
    (tmp_path / "pool.csv").write_text("smiles\n" + "\n".join(MOLECULES.smiles), encoding="utf-8")
    (tmp_path / "results.csv").write_text("\n".join(["smiles,y", *rows[:8]]), encoding="utf-8")
    command = ["suggest", "pool.csv", "--n", "2", "--maximize", "y", "--out", "out.csv", "--html", "out.html"]
    assert main(command) == 0
    assert "Shares of what" not in capsys.readouterr().out
    assert main([*command, "--measured", "results.csv"]) == 0
    for shown in (capsys.readouterr().out, (tmp_path / "out.html").read_text(encoding="utf-8")):
        (told,) = re.findall(r"Shares of what the model compares, learnt from the results: (.*?)\.", shown)
        names, percents = zip(*(part.rsplit(" ", 1) for part in told.split(", ")), strict=True)
        assert set(names) == NAMES
        numbers = [int(percent.removesuffix("%")) for percent in percents]
        assert numbers == sorted(numbers, reverse=True)
        assert sum(numbers) == pytest.approx(100, abs=3)
