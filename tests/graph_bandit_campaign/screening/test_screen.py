"""`screen`: batches of `suggest`, whose values a program computes, until the evaluations are spent."""

import json
import os
import shutil

import pytest
from support.crashes import crashes
from support.prepared import prepare_in_parts
from support.scoring import calls_of, command_of
from support.tables import write

from graph_bandit_campaign import ScreenSettings, Store, screen
from graph_bandit_campaign.screening import run
from graph_bandit_campaign.screening.run import read_scores

pytest.importorskip("rdkit")
SMILES = {f"m{3 * length + k}": "C" * (length + 2) + end for length in range(8) for k, end in enumerate("ONF")}
SMILES["=odd id"] = "CCOCC"
LENGTHS = {name: float(len(smiles)) for name, smiles in SMILES.items()}
CHANGES = ((os, "replace"), (os, "fsync"))


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "pool.csv", [("id", "smiles", "kind"), *((n, s, s[-1]) for n, s in SMILES.items())])
    (tmp_path / "notes").mkdir()
    return tmp_path


def settings_of(folder, mode="good", **changes):
    given = {"pool": folder / "pool.csv", "out": folder / "scores.csv", "maximize": ("y",), "evaluations": 12, "n": 5}
    given |= {"agent": "random", "chunk": 2, "jobs": 2, "workers": None, "timeout": 30.0}
    return ScreenSettings(score=command_of(mode, folder / "notes"), **given | changes)


def play(folder, mode="good", **changes):
    return screen(settings_of(folder, mode, **changes))


def state(folder):
    return json.loads((folder / "scores.next.campaign.json").read_text())


def given(folder):
    """The ids that the program was given, in all calls."""
    return [row["id"] for call in calls_of(folder / "notes") for row in call["rows"]]


# --- Rounds


def test_every_batch_is_suggested_with_the_values_so_far_until_the_evaluations_are_spent(folder, capsys):
    values = play(folder)
    assert values == {name: LENGTHS[name] for name in values}
    assert len(values) == len(given(folder)) == len(set(given(folder))) == 12
    rounds = state(folder)["rounds"]
    assert [len(suggested) for suggested in rounds] == [5, 5, 2]
    assert [suggestion["id"] for suggested in rounds for suggestion in suggested] == [*values]
    assert len(state(folder)["measured"]) == 10  # the values of the last batch are in the table alone
    assert f"best y {max(values.values()):g}" in capsys.readouterr().out


def test_a_prepared_pool_is_screened(folder):
    pool = prepare_in_parts(folder / "pool.csv", folder / "prepared", rows=16)
    values = play(folder, pool=pool, agent=None, filter=("kind=O",), evaluations=1000)
    assert values == {name: value for name, value in LENGTHS.items() if SMILES[name].endswith("O")}


# --- Failures


def test_failures_are_stored_and_not_suggested_again(folder):
    values = play(folder, "fails-on-m3", evaluations=25, n=25)
    assert values == LENGTHS | {"m3": None}
    rows = (folder / "scores.csv").read_text().splitlines()
    assert "m3,CCCO,failed" in rows
    assert "'=odd id,CCOCC,5.0" in rows


@pytest.mark.parametrize("mode", ["fails", "silent"])
def test_a_program_that_never_gives_a_value_stores_nothing_and_another_may_take_its_place(mode, folder):
    with pytest.raises(ChildProcessError, match="program"):
        play(folder, mode)
    assert not (folder / "scores.csv").exists()
    batch = [suggestion["id"] for suggestion in state(folder)["rounds"][0]]
    assert [*play(folder)][:5] == batch


# --- Going on


@pytest.mark.slow
def test_after_a_crash_at_any_change_the_same_command_ends_with_the_same_files(folder, monkeypatch):
    changes = {"evaluations": 6, "n": 4, "jobs": 1, "chunk": 3, "mode": "no-value-of-m3"}
    monkeypatch.setattr(Store, "clock", lambda _: "2026-01-01T00:00:00Z")
    play(folder, **changes)
    files = files_of(folder)

    def begin():
        for name in ("scores.csv", "scores.next.csv", "scores.next.campaign.json"):
            (folder / name).unlink(missing_ok=True)
        shutil.rmtree(folder / "notes")
        (folder / "notes").mkdir()

    for _ in crashes(monkeypatch, lambda: play(folder, **changes), begin, CHANGES):
        play(folder, **changes)
        assert files_of(folder) == files


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.suffix != ".log"}


def test_a_batch_that_is_partly_done_is_finished_first(folder):
    whole = play(folder)
    for path in folder.glob("scores.*"):
        path.unlink()
    with pytest.raises(KeyboardInterrupt, match="stored"):
        stop_after(play, folder, rows=7)
    assert [*read_scores(settings_of(folder))] == [*whole][:7]
    assert len(state(folder)["rounds"]) == 2
    assert play(folder) == whole
    assert len(given(folder)) == 24
    assert [*play(folder, evaluations=13)][:12] == [*whole]
    rounds = state(folder)["rounds"]
    assert [len(suggested) for suggested in rounds] == [5, 5, 2, 1]


def stop_after(play, folder, rows, **changes):
    """Press Ctrl-C once the table has so many rows; the program is given one molecule at a time."""
    store = run.write_scores

    def store_and_stop(settings, scores):
        store(settings, scores)
        if len(scores) == rows:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "write_scores", store_and_stop)
        play(folder, jobs=1, chunk=1, **changes)


def test_one_command_at_a_time_writes_a_table(folder, monkeypatch):
    seen = []

    def look(_, molecules, *settings):
        with pytest.raises(ValueError, match="another folder"):
            play(folder)
        seen.append(len(molecules))
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "score", look)
    with pytest.raises(KeyboardInterrupt, match="command"):
        play(folder)
    assert seen == [5]


# --- Settings


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"evaluations": 0}, "evaluations"),
        ({"chunk": 0}, "chunk"),
        ({"jobs": -1}, "jobs"),
        ({"timeout": -1.0}, "timeout"),
        ({"minimize": ("z",)}, "goal"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, message, folder):
    with pytest.raises(ValueError, match=message):
        settings_of(folder, **changes)


def test_experiments_of_several_parts_which_have_no_smiles_are_refused_before_anything_is_written(folder):
    (folder / "space.toml").write_text('slots = [{name = "base", choices = ["KOH", "KF"]}]')
    for changes in {"slot": ("smiles", "kind")}, {"pool": folder / "space.toml"}:
        with pytest.raises(ValueError, match="molecules"):
            play(folder, **changes)
    assert not [*folder.glob("scores*")]
