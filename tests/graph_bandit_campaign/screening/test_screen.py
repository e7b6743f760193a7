"""`screen`: batches of `suggest`, whose values a program computes, until the evaluations are spent."""

import csv
import json
import os
import shutil
from contextlib import suppress

import pytest
from support.crashes import Crash, DiesAfter
from support.prepared import prepare_in_parts
from support.scoring import calls_of, command_of
from support.tables import write

from graph_bandit_campaign import ScreenSettings, screen, write_products
from graph_bandit_campaign.model import products
from graph_bandit_campaign.screening.scorer import Scorer
from graph_bandit_campaign.screening.scores import Scores

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
    printed = capsys.readouterr().out
    best = max(values.values())
    assert "round 3: 12 of 12 evaluations, best y" in printed
    assert f"best y {best:g}" in printed
    assert printed.count("round ") == 3
    for name in ("scores.csv", "scores.next.csv", "scores.next.campaign.json"):
        assert str(folder / name) in printed
    assert "Round 1, by random" not in printed  # what `suggest` prints


def test_spent_evaluations_are_not_repeated_and_more_go_on(folder, capsys):
    play(folder)
    before, table = given(folder), (folder / "scores.csv").read_bytes()
    play(folder)
    assert given(folder) == before
    assert (folder / "scores.csv").read_bytes() == table
    values = play(folder, evaluations=14)
    assert len(values) == len(set(given(folder))) == 14
    assert (folder / "scores.csv").read_bytes().startswith(table)


def test_it_ends_when_nothing_is_left(folder, capsys):
    values = play(folder, evaluations=1000)
    assert values == LENGTHS
    assert "There is nothing left to choose." in capsys.readouterr().out
    assert [len(suggested) for suggested in state(folder)["rounds"]] == [5, 5, 5, 5, 5]


def test_limits_hold_and_their_end_is_told(folder, capsys):
    values = play(folder, evaluations=20, only=("kind=F",), at_most=2, per="kind", n=3)
    assert values == {name: value for name, value in LENGTHS.items() if SMILES[name].endswith("F")}
    assert [len(suggested) for suggested in state(folder)["rounds"]] == [2] * 4


def test_limits_that_leave_nothing_at_first_are_an_error(folder):
    with pytest.raises(ValueError, match="Expected at least 5 molecules to suggest. 0 are left"):
        play(folder, require=("mw>5000",))
    assert calls_of(folder / "notes") == []


def test_small_values_and_earlier_results(folder, capsys):
    write(folder / "known.csv", [("id", "y"), ("m0", 3), ("m1", "failed")])
    values = play(folder, maximize=(), minimize=("y",), measured=(folder / "known.csv",))
    assert not {"m0", "m1"} & values.keys()
    assert len(values) == 12
    assert f"best y {min(values.values()):g}" in capsys.readouterr().out


def test_products_of_building_blocks_are_screened(tmp_path, monkeypatch):
    monkeypatch.setattr(products, "FIRST_LIST", 100)
    write_products(tmp_path, "qed")
    (tmp_path / "notes").mkdir()
    changes = {"agent": None, "evaluations": 6, "n": 4, "at_most": 1, "per": "acid"}
    values = play(tmp_path, pool=tmp_path / "library.toml", **changes)
    assert len(values) == len(set(given(tmp_path))) == 6
    assert [*state(tmp_path)["sources"]].count("command") == 1
    with (tmp_path / "scores.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(float(row["y"]) == len(row["smiles"]) for row in rows)
    assert len({name.split("+")[0] for name in [*values][:4]}) == 4


def test_a_prepared_pool_is_screened(folder):
    pool = prepare_in_parts(folder / "pool.csv", folder / "prepared", rows=16)
    values = play(folder, pool=pool, agent=None, only=("kind=O",), evaluations=1000)
    assert values == {name: value for name, value in LENGTHS.items() if SMILES[name].endswith("O")}


def test_the_program_is_given_a_salt_as_the_pool_has_it(folder):
    write(folder / "pool.csv", [("id", "smiles"), ("a", "CCC(=O)[O-].[Na+]"), ("b", "CC[NH3+]"), ("c", "CCO")])
    with pytest.raises(KeyboardInterrupt):
        stop_after(play, folder, rows=1, evaluations=3)
    assert len(play(folder, evaluations=3)) == 3  # a new process goes on with the batch
    written = {row["id"]: row["smiles"] for call in calls_of(folder / "notes") for row in call["rows"]}
    assert written == {"a": "CCC(=O)[O-].[Na+]", "b": "CC[NH3+]", "c": "CCO"}


# --- Failures


def test_failures_are_stored_and_not_suggested_again(folder, capsys):
    values = play(folder, "fails-on-m3", evaluations=25, n=25)
    assert values == LENGTHS | {"m3": None}
    rows = (folder / "scores.csv").read_text().splitlines()
    assert "m3,CCCO,failed" in rows
    assert "'=odd id,CCOCC,5.0" in rows
    printed = capsys.readouterr().out
    assert "2 molecules: the program ended with code 3, so each is tried alone ([31mno such receptor)" in printed
    assert "25 of 25 evaluations, best y 10" in printed
    assert ", 1 failed;" in printed


@pytest.mark.parametrize("mode", ["fails", "nonsense", "silent"])
def test_a_program_that_never_gives_a_value_stores_nothing_and_another_may_take_its_place(mode, folder):
    with pytest.raises(ChildProcessError, match="The program gave none for the first 5: the program") as error:
        play(folder, mode)
    assert "no such receptor" in str(error.value) or mode != "fails"
    assert not (folder / "scores.csv").exists()
    assert state(folder)["sources"] == {}
    batch = [suggestion["id"] for suggestion in state(folder)["rounds"][0]]
    assert [*play(folder)][:5] == batch


def test_remarks_of_a_round_are_few(folder, capsys):
    with pytest.raises(ChildProcessError):
        play(folder, "fails", chunk=1)
    assert "(2 more such remarks in this round)" in capsys.readouterr().out


# --- The command


def test_another_command_is_refused_until_it_is_said_to_be_meant(folder):
    play(folder, evaluations=5)
    first = state(folder)["sources"]["command"]
    assert "scoring.py" not in (folder / "scores.next.campaign.json").read_text()
    with pytest.raises(ValueError, match="Expected the `--score` that computed the values .*--other-command"):
        play(folder, "slow", evaluations=10)
    assert len(play(folder, "slow", evaluations=10, other_command=True)) == 10
    assert state(folder)["sources"]["command"] not in ("", first)
    assert len(play(folder, "slow", evaluations=12)) == 12


def test_no_file_names_a_command(folder, monkeypatch):
    """A program that a table, a library or the file of a campaign names is never run: only `--score` is."""
    play(folder, evaluations=5)
    path = folder / "scores.next.campaign.json"
    path.write_text(json.dumps(state(folder) | {"sources": {"command": "touch pwned"}}))
    monkeypatch.chdir(folder)
    with pytest.raises(ValueError, match="Expected the `--score` that computed the values"):
        play(folder)
    assert not (folder / "pwned").exists()


def test_a_campaign_without_structures_is_refused(folder):
    with pytest.raises(KeyboardInterrupt):
        stop_after(play, folder, rows=2)
    path = folder / "scores.next.campaign.json"
    path.write_text(json.dumps(state(folder) | {"structures": {}, "written": []}))
    with pytest.raises(ValueError, match="Expected a SMILES of `.*`, which is suggested"):
        play(folder)


# --- Going on


def crash_everywhere(folder, monkeypatch, **changes):
    """Yield after a crash at each change of a file, in a folder as it was before."""
    names, count, made = ("scores.csv", "scores.next.csv", "scores.next.campaign.json"), 0, 1
    while count < made:
        for name in names:
            (folder / name).unlink(missing_ok=True)
        shutil.rmtree(folder / "notes")
        (folder / "notes").mkdir()
        with monkeypatch.context() as dying:
            dies = DiesAfter(dying, count, changes=CHANGES)
            with suppress(Crash):
                play(folder, **changes)
            made = dies.made if dies.left >= 0 else count + 2
        yield
        count += 1


def test_after_a_crash_at_any_change_the_same_command_ends_with_the_same_files(folder, monkeypatch):
    changes = {"evaluations": 6, "n": 4, "jobs": 1, "chunk": 3, "mode": "no-value-of-m3"}
    play(folder, **changes)
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    crashes = 0
    for _ in crash_everywhere(folder, monkeypatch, **changes):
        play(folder, **changes)
        assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == files
        crashes += 1
    assert crashes > 20


def test_a_batch_that_is_partly_done_is_finished_first(folder, capsys):
    whole = play(folder)
    for path in folder.glob("scores.*"):
        path.unlink()
    with pytest.raises(KeyboardInterrupt, match="All values that came in are stored"):
        stop_after(play, folder, rows=7)
    assert [*Scores(folder / "scores.csv", "y").values] == [*whole][:7]
    assert len(state(folder)["rounds"]) == 2
    capsys.readouterr()
    assert play(folder) == whole
    assert capsys.readouterr().out.startswith("round 2: 10 of 12 evaluations")
    assert len(given(folder)) == 24
    assert [*play(folder, evaluations=13)][:12] == [*whole]
    rounds = state(folder)["rounds"]
    assert [len(suggested) for suggested in rounds] == [5, 5, 2, 1]


def stop_after(play, folder, rows, **changes):
    """Press Ctrl-C once the table has so many rows; the program is given one molecule at a time."""
    add = Scores.add

    def add_and_stop(self, *arguments):
        add(self, *arguments)
        if len(self) == rows:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Scores, "add", add_and_stop)
        play(folder, jobs=1, chunk=1, **changes)


def test_a_smaller_budget_stops_within_a_batch(folder):
    with pytest.raises(KeyboardInterrupt):
        stop_after(play, folder, rows=2)
    assert len(play(folder, evaluations=4)) == 4
    assert len(given(folder)) == 4


def test_one_command_at_a_time_writes_a_table(folder, monkeypatch):
    seen = []

    def look(_, molecules):
        with pytest.raises(ValueError, match="Another `screen` does: wait for it"):
            play(folder)
        seen.append(len(molecules))
        raise KeyboardInterrupt

    monkeypatch.setattr(Scorer, "score", look)
    with pytest.raises(KeyboardInterrupt, match="give the same command again"):
        play(folder)
    assert seen == [5]


# --- Settings


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"evaluations": 0}, "`--evaluations` to be at least 1. Got 0"),
        ({"chunk": 0}, "`--chunk` to be at least 1"),
        ({"jobs": -1}, "`--jobs` to be at least 0"),
        ({"timeout": 0.0}, "`--timeout` to be positive and finite"),
        ({"timeout": float("nan")}, "`--timeout` to be positive and finite"),
        ({"minimize": ("z",)}, "Expected one goal, whose value the program computes. Got 2 goals"),
        ({"more": True}, "Expected one goal, whose value the program computes. Got `more`"),
        ({"maximize": ("smiles",)}, "a name of the value other than id and smiles"),
        ({"n": 0}, "`--n` to be at least 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, message, folder):
    with pytest.raises(ValueError, match="Expected") as error:
        settings_of(folder, **changes)
    assert message in str(error.value)


@pytest.mark.parametrize("name", ["scores.xlsx", "pool.csv", "scores"])
def test_a_table_that_cannot_be_the_results_is_refused(name, folder):
    with pytest.raises(ValueError, match="Expected `--out` to"):
        settings_of(folder, out=folder / name)


def test_the_table_of_the_batch_is_no_other_file(folder):
    with pytest.raises(ValueError, match="Expected `--out` to differ from all other files"):
        settings_of(folder, measured=(folder / "scores.next.csv",))


def test_other_graphs_are_refused(folder):
    (folder / "graphs.jsonl").write_text('{"nodes": [], "edges": []}\n')
    with pytest.raises(ValueError, match="Expected a pool of molecules"):
        play(folder, pool=folder / "graphs.jsonl")
