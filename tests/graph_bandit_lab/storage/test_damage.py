"""What a disk does to a results file is never read as other numbers."""

import sqlite3
import threading
import warnings
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from graph_bandit_cli.main import main
from graph_bandit_lab import BanditResult, load_results, write_report
from graph_bandit_lab.design import RunKey
from graph_bandit_lab.storage import DamagedResultsWarning, ResultStore

RESULT = BanditResult(np.array([2, 0]), np.array([0.1, -0.2]), np.array([0.0, 1.5]), seconds=0.75)
ENVIRONMENT = {"num_graphs": 3, "num_nodes": 4, "graph_model": "er", "edge_prob": 0.4, "reward_model": "linear"}
KEY = RunKey("random", {}, {**ENVIRONMENT, "horizon": 2})
SEEDS = (5, 6, 7)
# As version 0.2.0 made it.
EARLIER = """
CREATE TABLE repetitions (
    settings_hash TEXT NOT NULL, seed INTEGER NOT NULL, label TEXT NOT NULL, agent TEXT NOT NULL,
    environment TEXT NOT NULL, agent_settings TEXT NOT NULL, status TEXT NOT NULL, error TEXT NOT NULL,
    wall_time REAL NOT NULL, round_time REAL NOT NULL, versions TEXT NOT NULL, created TEXT NOT NULL,
    actions BLOB NOT NULL, rewards BLOB NOT NULL, regret BLOB NOT NULL, diagnostics BLOB,
    PRIMARY KEY (settings_hash, seed)
);
PRAGMA user_version = 4;
"""


@pytest.fixture
def store(tmp_path):
    store = ResultStore(tmp_path / "stored")
    for seed in SEEDS:
        store.add(KEY, seed, "random", RESULT, 1.25)
    return store


def change(store, *statements):
    with closing(sqlite3.connect(store.path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


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
    for position in generator.integers(len(content), size=40):
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
    change(store, "INSERT INTO repetitions SELECT * FROM damaged WHERE 0")  # of the same columns


def test_an_index_that_is_damaged_is_made_again(store):
    damage(store, KEY.settings_hash.encode())  # in the index, whose page comes after the table's
    assert store.set_damaged_aside() == []
    assert len(load_results(store.path.parent)) == 3
    with pytest.raises(sqlite3.IntegrityError):
        store.add(KEY, 7, "random", RESULT, 1.25)


@pytest.fixture
def earlier(tmp_path, store):
    """Return a folder with the same results in a file of version 0.2.0."""
    with closing(sqlite3.connect(tmp_path / "results.sqlite")) as connection, connection:
        connection.executescript(EARLIER)
        connection.execute("ATTACH ? AS new", (str(store.path),))
        names = ", ".join(name for _, name, *_ in connection.execute("PRAGMA table_info(repetitions)"))
        connection.execute(f"INSERT INTO repetitions ({names}) SELECT {names} FROM new.repetitions")
    return tmp_path


def test_results_without_checksums_are_read_continued_and_labelled(tmp_path, earlier):
    assert load_results(tmp_path)["seed"].tolist() == [*SEEDS]
    earlier = ResultStore(tmp_path)
    assert earlier.set_damaged_aside() == []
    earlier.add(KEY, 8, "random", RESULT, 1.0)
    earlier.relabel({KEY.settings_hash: "chance"})
    assert load_results(tmp_path)["label"].tolist() == ["chance"] * 4
    damage(earlier, b"chance")
    with pytest.warns(DamagedResultsWarning):
        assert len(load_results(tmp_path)) == 3


def test_a_file_of_an_earlier_version_gets_columns_for_what_was_found(earlier):
    ones = dict.fromkeys(("simple_regret", "best_found", "top_share"), np.ones(2))
    assert load_results(earlier)["best_found"].tolist() == [None] * 3
    ResultStore(earlier).add(KEY, 8, "random", replace(RESULT, **ones), 1.0)
    table = load_results(earlier)
    assert [found is None for found in table["best_found"]] == [True, True, True, False]
    assert table["final_simple_regret"].isna().tolist() == [True, True, True, False]


def test_damaged_repetitions_that_an_earlier_version_moved_aside_stay(earlier):
    change(ResultStore(earlier), "CREATE TABLE damaged AS SELECT * FROM repetitions WHERE seed = 5")
    names = ("checksum", "simple_regret", "best_found", "top_share")
    change(ResultStore(earlier), *(f"ALTER TABLE damaged DROP COLUMN {name}" for name in names))
    change(ResultStore(earlier), "UPDATE repetitions SET regret = 'damage' WHERE seed = 6")
    store = ResultStore(earlier)
    assert store.set_damaged_aside() == ["'random', seed 6"]
    with closing(sqlite3.connect(store.path)) as connection:
        assert connection.execute("SELECT seed FROM damaged ORDER BY seed").fetchall() == [(5,), (6,)]


def test_an_earlier_version_goes_on_with_a_file_of_this_one(store):
    """It knows none of the later columns, and reads every column that there is."""
    later = {"checksum", "simple_regret", "best_found", "top_share"}
    with closing(sqlite3.connect(store.path)) as connection, connection:
        names = [name for _, name, *_ in connection.execute("PRAGMA table_info(repetitions)")]
        known = ", ".join(name for name in names if name not in {*later, "seed"})
        connection.execute(f"INSERT INTO repetitions (seed, {known}) SELECT 9, {known} FROM repetitions WHERE seed = 5")
    assert load_results(store.path.parent)["seed"].tolist() == [*SEEDS, 9]


def test_what_an_earlier_version_changes_loses_its_checksum_and_is_read(store):
    change(store, "UPDATE repetitions SET label = 'chance' WHERE seed = 5")
    assert load_results(store.path.parent)["label"].tolist() == ["chance", "random", "random"]
    assert store.set_damaged_aside() == []


def test_our_own_changes_keep_the_checksum(store):
    diagnosed = BanditResult(*(getattr(RESULT, name) for name in ("actions", "rewards", "regret")), diagnostics={})
    store.relabel({KEY.settings_hash: "chance"})
    store.add_diagnostics(KEY, 5, diagnosed)
    with closing(sqlite3.connect(store.path)) as connection:
        assert connection.execute("SELECT count(checksum) FROM repetitions").fetchone() == (3,)
    assert load_results(store.path.parent)["label"].tolist() == ["chance"] * 3


@pytest.mark.parametrize("read", [ResultStore, load_results, write_report])
@pytest.mark.parametrize("content", [b"label,regret\n" * 400, None])
def test_a_file_that_is_damaged_as_a_whole_comes_with_advice(store, read, content):
    whole = bytearray(store.path.read_bytes())
    whole[100] = 0xFF  # the kind of the first page
    store.path.write_bytes(content or whole)
    with pytest.raises(ValueError, match=r"to be an intact results file.* \.recover \| sqlite3 recovered\.sqlite"):
        read(store.path.parent)


def test_a_table_that_lacks_a_column_is_damaged(store):
    change(store, "ALTER TABLE repetitions DROP COLUMN rewards")
    with pytest.raises(ValueError, match="Got: a table without rewards"):
        load_results(store.path.parent)


def test_repetitions_that_are_in_the_index_alone_are_missed(store):
    content = store.path.read_bytes()
    change(store, "DELETE FROM repetitions WHERE seed = 6")
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
