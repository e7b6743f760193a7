"""`suggest`, killed between any two changes of files: the same command finishes what was saved."""

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from support.crashes import Crash, DiesAfter
from support.prepared import prepare_in_parts
from support.tables import read, write

from graph_bandit_cli.main import main

SMILES = [f"{'C' * length}{end}" for length in range(2, 8) for end in ("O", "N")]
FILES = ("out.csv", "all.csv", "out.campaign.json")


@pytest.fixture
def folder(tmp_path, monkeypatch):
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


def state():
    return json.loads(texts()["out.campaign.json"])


def ids_in_table():
    return [row["id"] for row in read("out.csv")]


def crash_everywhere(folder, monkeypatch, run):
    """Yield after each crash of a command, in a folder as it was before it."""
    shutil.copytree(folder, folder.parent / "before")
    count, made = 0, 1
    while count < made:
        monkeypatch.chdir(folder.parent)
        shutil.rmtree(folder)
        shutil.copytree(folder.parent / "before", folder)
        monkeypatch.chdir(folder)
        with monkeypatch.context() as dying:
            dies = DiesAfter(dying, count)
            with suppress(Crash):
                run()
            made = dies.made if dies.left >= 0 else count + 2
        yield
        count += 1


@pytest.mark.parametrize("option", ["--more", "--undo"])
def test_a_killed_command_is_finished_by_the_same_one(folder, monkeypatch, option):
    assert suggest() == suggest("--more") == 0
    shutil.copytree(folder, folder.parent / "whole")
    monkeypatch.chdir(folder.parent / "whole")
    assert suggest(option) == 0
    whole = texts()
    monkeypatch.chdir(folder)
    tries = 0
    for _ in crash_everywhere(folder, monkeypatch, lambda: suggest(option)):
        finished = texts() == whole
        assert finished or suggest(option) == 0
        assert texts() == whole
        tries += 1
    assert tries > 8


def test_a_round_that_nobody_saw_is_not_pending_for_another_question(folder, monkeypatch):
    assert suggest() == 0
    for _ in crash_everywhere(folder, monkeypatch, lambda: suggest("--more")):
        seen = {*ids_in_table(), *(each["id"] for each in state()["rounds"][0])}
        write("results.csv", [("id", "y"), ("m0", 0.1), ("m1", 0.7), ("m2", 0.4)])
        assert suggest() == 0
        assert set(state()["pending"]) == {*seen, *ids_in_table()} - {"m2"}


def test_another_batch_is_another_one_although_the_table_was_moved_away(folder):
    assert suggest() == 0
    first = ids_in_table()
    shutil.move("out.csv", "first.csv")
    assert suggest("--more") == 0
    assert not set(first) & set(ids_in_table())


def fail_to_replace(patch, name, error, is_replaced=False):
    """Raise an error in the place of replacing a file, or right after it."""
    replace = os.replace

    def fail(part, path):
        if path.name != name or is_replaced:
            replace(part, path)
        if path.name == name:
            raise error

    patch.setattr(os, "replace", fail)


def test_predictions_that_could_not_be_written_do_not_keep_another_batch_away(folder, monkeypatch):
    with monkeypatch.context() as failing:
        fail_to_replace(failing, "all.csv", OSError("no room"))
        assert suggest() == 1
    first = ids_in_table()
    assert suggest("--more") == 0
    assert not set(first) & set(ids_in_table())
    assert set(first) < set(state()["pending"])


@pytest.mark.parametrize("is_replaced", [False, True])
def test_predictions_of_a_prepared_pool_are_known_after_a_crash(folder, monkeypatch, is_replaced):
    prepare_in_parts(Path("pool.csv"), Path("prepared"), 16)

    def suggest_more():
        return suggest("--more", "--workers", "None", pool="prepared", agent="molecule-ucb")

    assert suggest_more() == 0
    before = Path("all.csv").read_text()
    with monkeypatch.context() as dying:
        fail_to_replace(dying, "all.csv", Crash(), is_replaced)
        with pytest.raises(Crash):
            suggest_more()
    assert (Path("all.csv").read_text() == before) != is_replaced
    assert suggest_more() == 0
    assert Path("all.csv").read_text() != before
    assert len(state()["rounds"]) == 2
