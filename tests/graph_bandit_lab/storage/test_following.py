"""A follower reads each repetition once, and sees what becomes of the file."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from graph_bandit_lab import BanditResult, load_results
from graph_bandit_lab.design import RunKey
from graph_bandit_lab.storage import ResultsFollower, ResultStore, following

KEY = RunKey("ucb1", {}, {"num_graphs": 3})
RESULT = BanditResult(np.array([2, 0]), np.array([0.1, -0.2]), np.array([0.5, 1.0]), seconds=0.75)
NOTHING = BanditResult(np.zeros(0, np.int64), np.zeros(0), np.zeros(0), "failed")


@pytest.fixture
def store(tmp_path):
    return ResultStore(tmp_path)


@pytest.fixture
def decoded(monkeypatch):
    """Return the seeds of the rows that were decoded, in their order."""
    seeds, decode = [], following.decode
    monkeypatch.setattr(following, "decode", lambda row, names: seeds.append(row["seed"]) or decode(row, names))
    return seeds


def add(store, seed, result=RESULT):
    store.add(KEY, seed, "a", result, 1.25, error="it raised" if result.status == "failed" else "")


def execute(store, statement):
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute(statement)


def test_a_repetition_is_what_load_results_says_without_arrays(store, tmp_path):
    add(store, 7)
    ((repetition,), (row,)) = ResultsFollower(tmp_path).read().repetitions, load_results(tmp_path).to_dict("records")
    names = set(repetition._fields) - {"created", "environment"}
    assert {name: getattr(repetition, name) for name in names} == {name: row[name] for name in names}
    assert repetition.created.isoformat() == row["created"]
    assert repetition.environment.items() <= row["environment"].items()  # which has later defaults, too


def test_what_was_read_is_not_read_again(store, tmp_path, decoded):
    follower = ResultsFollower(tmp_path)
    for seed in range(3):
        add(store, seed)
        assert [repetition.seed for repetition in follower.read().repetitions] == list(range(seed + 1))
    assert decoded == [0, 1, 2]


def test_a_long_file_is_read_in_several_transactions(store, tmp_path, monkeypatch):
    monkeypatch.setattr(following, "ROWS", 2)
    for seed in range(5):
        add(store, seed)
    assert [repetition.seed for repetition in ResultsFollower(tmp_path).read().repetitions] == list(range(5))


@pytest.mark.parametrize("failed", [0, 1])  # the first row, or the last, whose row id is given again
def test_a_repetition_that_failed_and_is_played_again_is_seen(store, tmp_path, failed):
    for seed in range(2):
        add(store, seed, NOTHING if seed == failed else RESULT)
    follower = ResultsFollower(tmp_path)
    assert {repetition.status for repetition in follower.read().repetitions} == {"finished", "failed"}
    add(store, failed, replace(RESULT, regret=np.array([3.0, 4.0])))
    assert {one.seed: one.total_regret for one in follower.read().repetitions} == {failed: 7.0, 1 - failed: 1.5}


def test_a_file_that_replaces_another_is_read_again(store, tmp_path, decoded):
    add(store, 0)
    follower = ResultsFollower(tmp_path)
    follower.read()
    store.path.rename(tmp_path / "away")  # which keeps its inode from being given to the next
    assert follower.read().repetitions == ()
    add(ResultStore(tmp_path), 0, replace(RESULT, regret=np.array([3.0, 4.0])))
    assert [repetition.total_regret for repetition in follower.read().repetitions] == [7.0]


def test_a_damaged_repetition_is_counted_and_left_out(store, tmp_path):
    for seed in range(2):
        add(store, seed)
    execute(store, "UPDATE repetitions SET regret = zeroblob(144), checksum = '0' WHERE seed = 0")
    snapshot = ResultsFollower(tmp_path).read()
    assert [repetition.seed for repetition in snapshot.repetitions] == [1]
    assert snapshot.damaged == 1


def test_reading_changes_no_byte(store, tmp_path):
    add(store, 0)
    before = store.path.read_bytes()
    ResultsFollower(tmp_path).read()
    assert store.path.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["results.sqlite"]


def test_an_empty_file_has_no_repetitions(tmp_path):
    (tmp_path / "results.sqlite").touch()
    assert ResultsFollower(tmp_path).read().repetitions == ()


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="Expected a folder of results. There is none at"):
        ResultsFollower(tmp_path / "none")
