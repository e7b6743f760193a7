"""A program of the user's: what it is given, what of its answer counts, and that nothing of it is left."""

import os
import stat
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from support.ended import have_ended
from support.scoring import calls_of, command_of, started_by

from graph_bandit_campaign.screening.program import Program, read_values, score, split_command

MOLECULES = {"m1": "CCO", "m2": "CCCO", "m3": "CCCCO"}


def run(mode, notes, timeout=30.0):
    """Give a program three molecules at once, and return the outcomes, those of each alone if it fails."""
    return [*score(split_command(command_of(mode, notes)), MOLECULES, 3, 1, timeout, notes / "log")]


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder of temporary folders."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    return tmp_path / "temporary"


# --- What it is given


def test_molecules_are_in_a_table_in_a_private_folder_which_is_removed(tmp_path, temporary):
    with (tmp_path / "log").open("wb") as printed:
        program = Program(split_command(command_of("slow", tmp_path)), MOLECULES, 30.0, printed)
        (folder,) = temporary.iterdir()
        if os.name == "posix":
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        while not program.is_over():
            time.sleep(0.01)
        outcome = program.end()
    assert (outcome.values, outcome.problem) == ({"m1": 3, "m2": 4, "m3": 5}, "")
    assert list(temporary.iterdir()) == []
    (call,) = calls_of(tmp_path)
    assert call["rows"] == [{"id": name, "smiles": smiles} for name, smiles in MOLECULES.items()]
    assert Path(call["folder"]) == Path.cwd()


def test_no_shell_reads_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "a script.py"
    script.write_text("import sys, json; open('arguments', 'w').write(json.dumps(sys.argv[1:-2]))")
    command = f'"{Path(sys.executable).as_posix()}" "{script.as_posix()}" $HOME \'*\' ; touch pwned | `ls`'
    [*score(split_command(command), MOLECULES, 3, 1, 30.0, tmp_path / "log")]
    assert (tmp_path / "arguments").read_text() == '["$HOME", "*", ";", "touch", "pwned", "|", "`ls`"]'
    assert not (tmp_path / "pwned").exists()


# --- What of its answer counts


@pytest.mark.parametrize("cell", ["", " ", "nan", "inf", "-inf", "1e400", "1_000", "failed", "3 kcal", "1e101", '"1'])
def test_a_value_that_is_no_finite_number_is_a_failure(cell, tmp_path):
    (tmp_path / "v.csv").write_text(f'id,value\nm1,-7.5\nm2,"{cell.replace(chr(34), chr(34) * 2)}"\n')
    assert read_values(tmp_path / "v.csv", MOLECULES) == {"m1": -7.5, "m2": None}


def test_unknown_ids_and_second_rows_are_ignored(tmp_path):
    rows = "m1,1\nm9,5\nm1,2\nm2\nm3,3,more\n"
    (tmp_path / "v.csv").write_text(f"\ufeff Value , more,ID\n{rows}", encoding="utf-8")
    assert read_values(tmp_path / "v.csv", MOLECULES) == {}
    (tmp_path / "v.csv").write_text(f"\ufeffID, Value ,more\n{rows}", encoding="utf-8")
    assert read_values(tmp_path / "v.csv", MOLECULES) == {"m1": 1, "m2": None, "m3": 3}


@pytest.mark.parametrize("content", [b"", b"name,value\nm1,3\n", b"\xff\xfe\x00\xd8\xd8", None])
def test_what_is_no_table_of_values_is_a_problem(content, tmp_path):
    if content is not None:
        (tmp_path / "v.csv").write_bytes(content)
    with pytest.raises((ValueError, OSError), match=r"v\.csv"):
        read_values(tmp_path / "v.csv", MOLECULES)


def test_nothing_counts_of_a_program_that_fails(tmp_path):
    first, *alone = run("fails", tmp_path)
    assert (first.values, "code 3" in first.problem) == ({}, True)
    assert [outcome.values for outcome in alone] == [{name: None} for name in MOLECULES]
    assert b"no such receptor" in (tmp_path / "log").read_bytes()


# --- Its end


@pytest.mark.parametrize("mode", ["hangs-deaf", "hangs-apart"])
def test_one_that_takes_too_long_is_ended_with_what_it_started(mode, tmp_path, temporary):
    with (tmp_path / "log").open("wb") as printed:
        program = Program(split_command(command_of(mode, tmp_path)), MOLECULES, 2.0, printed)
        started_by(tmp_path)
        while not program.is_over():
            time.sleep(0.01)
        outcome = program.end()
    assert outcome.values == {}
    assert outcome.problem
    assert have_ended(started_by(tmp_path))
    assert list(temporary.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="Windows has no process groups that outlive their first process")
def test_what_it_leaves_running_is_ended(tmp_path):
    (outcome,) = run("leaves", tmp_path)
    assert outcome.values == {"m1": 3, "m2": 4, "m3": 5}
    assert have_ended(started_by(tmp_path))


# --- Several at once


NINE = {f"m{k}": "C" * (k + 1) for k in range(9)}
LENGTHS = {name: len(smiles) for name, smiles in NINE.items()}


def score_nine(mode, notes, chunk=4, jobs=2):
    return score(split_command(command_of(mode, notes)), NINE, chunk, jobs, 30.0, notes / "log")


def values_of(outcomes):
    values = {}
    for outcome in outcomes:
        assert not values.keys() & outcome.values.keys()
        values |= outcome.values
    return values


@pytest.mark.parametrize(("chunk", "jobs", "sizes"), [(4, 2, [1, 4, 4]), (1, 3, [1] * 9), (20, 1, [9])])
def test_every_molecule_is_given_once_in_chunks(chunk, jobs, sizes, tmp_path):
    assert values_of(score_nine("slow", tmp_path, chunk, jobs)) == LENGTHS
    calls = calls_of(tmp_path)
    assert sorted(len(call["rows"]) for call in calls) == sizes
    times = [moment for call in calls for moment in ((call["begin"], 1), (call["end"], -1))]
    at_once, most = 0, 0
    for _, change in sorted(times):
        at_once += change
        most = max(most, at_once)
    assert most <= jobs


def test_a_molecule_on_which_the_program_dies_is_the_only_failure(tmp_path):
    outcomes = [*score_nine("fails-on-m3", tmp_path)]
    assert values_of(outcomes) == LENGTHS | {"m3": None}
    assert [len(outcome.molecules) for outcome in outcomes if outcome.problem] == [4, 1]
    assert sorted(len(call["rows"]) for call in calls_of(tmp_path)) == [1, 1, 1, 1, 1, 4, 4]


def test_whoever_stops_early_ends_all_programs(tmp_path, monkeypatch):

    def press_ctrl_c(*_):
        started_by(tmp_path)
        raise KeyboardInterrupt

    monkeypatch.setattr(Program, "is_over", press_ctrl_c)
    with closing(score_nine("hangs", tmp_path, jobs=1)) as outcomes, pytest.raises(KeyboardInterrupt):
        next(outcomes)
    assert have_ended(started_by(tmp_path))
