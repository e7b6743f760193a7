"""`suggest`, killed between any two changes of files: the same command finishes what was saved."""

import shutil
from pathlib import Path

import pytest
from support.crashes import crashes
from support.tables import write

from graph_bandit_campaign import Store
from graph_bandit_cli.main import main

SMILES = [f"{'C' * length}{end}" for length in range(2, 8) for end in ("O", "N")]
FILES = ("out.csv", "all.csv", "out.campaign.json")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(Store, "clock", staticmethod(lambda: "now"))
    (tmp_path / "a").mkdir()
    monkeypatch.chdir(tmp_path / "a")
    write("pool.csv", [("id", "smiles"), *((f"m{k}", text) for k, text in enumerate(SMILES))])
    write("results.csv", [("id", "y"), ("m0", 0.1), ("m1", 0.7)])
    return tmp_path / "a"


def suggest(*more, pool="pool.csv", agent="random"):
    command = ["suggest", pool, "--measured", "results.csv", "--n", "2", "--maximize", "y", "--out", "out.csv"]
    return main([*command, "--predictions", "all.csv", "--agent", agent, *more])


def texts():
    return {name: Path(name).read_text(encoding="utf-8") for name in FILES}


@pytest.mark.parametrize("option", ["--next-batch", "--undo"])
def test_a_killed_command_is_finished_by_the_same_one(folder, monkeypatch, option):
    assert suggest() == suggest("--next-batch") == 0
    shutil.copytree(folder, folder.parent / "before")
    before = Path(FILES[2]).read_text()
    assert suggest(option) == 0
    whole, tries = texts(), 0

    def begin():
        monkeypatch.chdir(folder.parent)
        shutil.rmtree(folder)
        shutil.copytree(folder.parent / "before", folder)
        monkeypatch.chdir(folder)

    for _ in crashes(monkeypatch, lambda: suggest(option), begin):
        is_saved = Path(FILES[2]).read_text() != before  # then the batch waits
        assert texts() == whole or suggest(*([] if is_saved else [option])) == 0
        assert texts() == whole
        tries += 1
    assert tries > 8
