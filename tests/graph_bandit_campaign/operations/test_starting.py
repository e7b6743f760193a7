"""Campaigns that start in a folder of their own."""

from pathlib import Path

import pytest
from support.molecules import some_molecules
from support.tables import read, write

from graph_bandit_campaign import Moved, Place, Store, ask, remove_unfinished, start
from graph_bandit_campaign.operations.starting import folder_name
from graph_bandit_cli.main import main

MOLECULES = some_molecules()
NAMES = [f"m{k}" for k in range(len(MOLECULES))]
FIELDS = {"maximize": ["logp"], "n": 3}


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(Store, "clock", staticmethod(lambda: "now"))
    monkeypatch.chdir(tmp_path)
    write("up.csv", [("id", "smiles"), *zip(NAMES, MOLECULES.smiles, strict=True)])
    write("res.csv", [("id", "logp"), *zip(NAMES[:6], MOLECULES.targets.tolist(), strict=False)])
    return tmp_path


def begin(root, name="My campaign!", fields=FIELDS, measured=()):
    return start(root, name, Moved(root / "up.csv", "pool.csv"), measured, fields, workers=None)


def test_a_campaign_is_what_the_command_writes_in_its_folder(root, monkeypatch):
    state, told = begin(root, measured=[Moved(root / "res.csv", "results-1.csv")])
    assert state == root / "My-campaign" / "suggestions.campaign.json"
    assert not (root / "up.csv").exists()
    content, rows = state.read_text(), read(state.parent / "suggestions.csv")
    assert [row["id"] for row in rows] == [*told.suggested]
    monkeypatch.chdir(state.parent)
    for name in ("suggestions.campaign.json", "suggestions.csv", "predictions.csv"):
        Path(name).unlink()
    command = ["suggest", "pool.csv", "--measured", "results-1.csv", "--maximize", "logp", "--n", "3"]
    assert main([*command, "--out", "suggestions.csv", "--predictions", "predictions.csv"]) == 0
    assert state.read_text() == content
    assert ask(Place(state, root, workers=None)).suggested == told.suggested


WRONG = [{"n": 0}, {"maximize": ["nothing"], "n": "x"}, {"maximize": []}]
WRONG += [{"out": "/tmp/x.csv"}, {"agent": "os:system"}, {"html": "x.html"}]


@pytest.mark.parametrize("fields", WRONG)
def test_a_campaign_that_cannot_start_or_names_files_and_code_leaves_nothing(root, fields):
    before = sorted(path.name for path in root.iterdir())
    with pytest.raises(ValueError, match="Expected"):
        begin(root, fields={**FIELDS, **fields})
    assert sorted(path.name for path in root.iterdir()) == before


HARMLESS = {"a b": "a-b", "../../etc": "etc", "κ opioid": "κ-opioid", "con": "con_", ".hidden": "hidden"}


@pytest.mark.parametrize("name", HARMLESS)
def test_folders_have_harmless_names(name):
    assert folder_name(name) == HARMLESS[name]
    assert len(folder_name(99 * name)) <= 60


def test_what_a_killed_process_began_is_removed(root):
    for name in (".new-1a2b-12-ff", ".new-99-2b", "kept"):
        (root / name).mkdir()
    remove_unfinished(root)  # another process, or machine, may be at work on them
    assert len([*root.glob(".new-*")]) == 2
    remove_unfinished(root, age=0)
    assert not list(root.glob(".new-*"))
    assert (root / "kept").exists()
