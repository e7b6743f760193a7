"""What a disk does to a results file is never read as other numbers."""

import sqlite3
import threading
import warnings

import numpy as np
import pytest
from support.stored import execute

from graph_bandit_cli.main import main
from graph_bandit_lab import BanditResult, load_results, write_report
from graph_bandit_lab.design import RunKey
from graph_bandit_lab.storage import DamagedResultsWarning, ResultStore

RESULT = BanditResult(np.array([2, 0]), np.array([0.1, -0.2]), np.array([0.0, 1.5]), seconds=0.75)
ENVIRONMENT = {"num_graphs": 3, "num_nodes": 4, "graph_model": "er", "edge_prob": 0.4, "reward_model": "linear"}
KEY = RunKey("random", {}, {**ENVIRONMENT, "horizon": 2})
SEEDS = (5, 6, 7)


@pytest.fixture
def store(tmp_path):
    store = ResultStore(tmp_path / "stored")
    for seed in SEEDS:
        store.add(KEY, seed, "random", RESULT, 1.25)
    return store


def damage(store, text):
    """Flip a bit of the last occurrence of a text. A page fills from its end, so that is in the first row."""
    content = bytearray(store.path.read_bytes())
    content[content.rindex(text)] ^= 1
    store.path.write_bytes(content)


def test_no_bit_can_flip_unseen(store):
    def rows():
        table = load_results(store.path.parent)
        return {row["seed"]: {k: str(v) for k, v in row.items()} for row in table.to_dict("records")}

    truth, content, generator = rows(), store.path.read_bytes(), np.random.default_rng(0)
    named, seen = [], 0
    for position in generator.integers(len(content), size=150):
        damaged = bytearray(content)
        damaged[position] ^= 1 << int(generator.integers(8))
        store.path.write_bytes(damaged)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                found = rows()
            except (ValueError, FileNotFoundError) as error:
                named.append(str(error))
                continue
        assert found.items() <= truth.items()
        assert bool(caught) == (found != truth)
        seen += bool(caught)
    assert seen > 5
    assert [message for message in named if "results.sqlite" not in message] == []


def test_a_damaged_repetition_is_named_and_left_out_also_on_the_page(store, capsys):
    damage(store, np.array([0.0, 1.5]).tobytes())
    with pytest.warns(DamagedResultsWarning, match=r"results.sqlite is damaged.*\(1\): 'random', seed 5\. "):
        assert load_results(store.path.parent)["seed"].tolist() == [6, 7]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert main(["report", str(store.path.parent)]) == 0
    page = (store.path.parent / "report.html").read_text()
    assert "the results file is damaged there (1):</strong> &#39;random&#39;, seed 5." in page
    assert "is damaged. Repetitions left out (1): 'random', seed 5." in capsys.readouterr().err


def test_a_damaged_repetition_is_moved_aside_and_can_be_stored_again(store):
    damage(store, np.array([0.0, 1.5]).tobytes())
    assert store.set_damaged_aside() == ["'random', seed 5"]
    assert set(store.stored()) == {(KEY.settings_hash, seed) for seed in (6, 7)}
    store.add(KEY, 5, "random", RESULT, 1.25)
    assert store.set_damaged_aside() == []
    assert sorted(load_results(store.path.parent)["seed"]) == [*SEEDS]
    execute(store.path, "INSERT INTO repetitions SELECT * FROM damaged WHERE 0")  # of the same columns


def test_an_index_that_is_damaged_is_made_again(store):
    damage(store, KEY.settings_hash.encode())  # in the index, whose page comes after the table's
    assert store.set_damaged_aside() == []
    assert len(load_results(store.path.parent)) == 3
    with pytest.raises(sqlite3.IntegrityError):
        store.add(KEY, 7, "random", RESULT, 1.25)


def test_what_another_program_changes_is_damage(store):
    execute(store.path, "UPDATE repetitions SET label = 'chance' WHERE seed = 5")
    with pytest.warns(DamagedResultsWarning, match=r"\(1\): 'chance', seed 5\. "):
        assert load_results(store.path.parent)["seed"].tolist() == [6, 7]
    assert store.set_damaged_aside() == ["'chance', seed 5"]


@pytest.mark.parametrize("checksum", ["''", "0", "x'00'"])
def test_a_row_without_its_checksum_is_damaged(store, checksum):
    execute(store.path, f"UPDATE repetitions SET checksum = {checksum} WHERE seed = 6")
    assert store.set_damaged_aside() == ["'random', seed 6"]


def test_what_is_null_counts_for_the_checksum(store):
    execute(store.path, "UPDATE repetitions SET diagnostics = x'' WHERE seed = 6")
    assert store.set_damaged_aside() == ["'random', seed 6"]


def test_our_own_changes_keep_the_checksum(store):
    diagnosed = BanditResult(*(getattr(RESULT, name) for name in ("actions", "rewards", "regret")), diagnostics={})
    store.relabel({KEY.settings_hash: "chance"})
    store.add_diagnostics(KEY, 5, diagnosed)
    assert store.set_damaged_aside() == []
    assert load_results(store.path.parent)["label"].tolist() == ["chance"] * 3


@pytest.mark.parametrize("read", [ResultStore, load_results, write_report])
@pytest.mark.parametrize("content", [b"label,regret\n" * 400, None])
def test_a_file_that_is_damaged_as_a_whole_comes_with_advice(store, read, content):
    whole = bytearray(store.path.read_bytes())
    whole[100] = 0xFF  # the kind of the first page
    store.path.write_bytes(content or whole)
    with pytest.raises(ValueError, match=r"to be an intact results file.* \.recover \| sqlite3 recovered\.sqlite"):
        read(store.path.parent)


@pytest.mark.parametrize("read", [ResultStore, load_results])
@pytest.mark.parametrize(
    ("statement", "table"),
    [
        ("ALTER TABLE repetitions DROP COLUMN rewards", "repetitions"),
        ("ALTER TABLE repetitions RENAME TO others", "repetitions"),
        ("ALTER TABLE damaged ADD COLUMN more", "damaged"),
        ("DROP TABLE sweeps", "sweeps"),
        ("DROP TABLE tasks", "tasks"),
    ],
)
def test_a_file_whose_tables_are_not_ours_is_damaged(store, read, statement, table):
    execute(store.path, statement)
    with pytest.raises(ValueError, match=f"Got: another table `{table}` than this package makes"):
        read(store.path.parent)


def test_a_table_that_is_not_read_does_no_harm(store):
    """Such as `lost_and_found`, which the advised recovery of a damaged file makes."""
    execute(store.path, "CREATE TABLE lost_and_found (rootpgno INTEGER, c0)")
    assert ResultStore(store.path.parent).stored().keys() == {(KEY.settings_hash, seed) for seed in SEEDS}


def test_repetitions_that_are_in_the_index_alone_are_missed(store):
    content = store.path.read_bytes()
    execute(store.path, "DELETE FROM repetitions WHERE seed = 6")
    other = store.path.read_bytes()
    page = 4096  # the table's page is the second
    store.path.write_bytes(content[:page] + other[page : 2 * page] + content[2 * page :])
    with pytest.raises(ValueError, match="Got: 2 repetitions, and 3 in its index"):
        load_results(store.path.parent)


def test_a_program_that_locks_the_file_is_waited_for_and_named_once(store, monkeypatch):
    monkeypatch.setattr("graph_bandit_lab.storage.database.SECONDS_TO_ANSWER", 0.01)
    monkeypatch.setattr("graph_bandit_lab.storage.database.TRIES_IN_SILENCE", 2)
    other = sqlite3.connect(store.path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")
    told = []
    store.tell = lambda text: (told.append(text), threading.Timer(0.2, other.execute, ["COMMIT"]).start())
    store.add(KEY, 8, "random", RESULT, 1.0)
    (text,) = told
    assert "Another program has locked" in text
    assert len(load_results(store.path.parent)) == 4
    other.close()
