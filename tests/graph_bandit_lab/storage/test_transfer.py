"""Repetitions that travel in files arrive as they were stored; a file that is damaged or foreign is refused."""

import lzma
import sqlite3
from contextlib import closing
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from support.stored import execute

from graph_bandit_lab import BanditResult, EnvironmentSettings, load_results
from graph_bandit_lab.design import RunKey
from graph_bandit_lab.design.names import to_json
from graph_bandit_lab.design.plan import Task
from graph_bandit_lab.episodes import DIAGNOSTICS
from graph_bandit_lab.storage import ResultStore, export_results, import_results, sole_driver, transfer
from graph_bandit_lab.storage.results import read_tasks

ENVIRONMENT = EnvironmentSettings(num_graphs=3, horizon=3).to_dict()
KEY = RunKey("random", {}, ENVIRONMENT)
RESULT = BanditResult(np.array([2, 0, 2]), np.array([0.1, -0.2, np.pi]), np.array([0.0, 1.5, 0.0]), seconds=0.75)
OTHER = replace(RESULT, actions=np.array([2, 0, 1]), regret=np.array([0.0, 1.5, 0.5]))
FOUND = np.array([0.5, 0.25, 0.0])
RESULTS = {
    "plain": RESULT,
    "found": replace(RESULT, simple_regret=FOUND, best_found=-FOUND, top_recall=FOUND),
    "diagnosed": replace(RESULT, diagnostics=dict.fromkeys(DIAGNOSTICS, np.array([1.0, np.nan, 0.5]))),
    "without insight": replace(RESULT, diagnostics={}),
    "diverged": replace(RESULT, status="diverged"),
    "diverged at once": BanditResult(np.zeros(0, np.int64), np.zeros(0), np.zeros(0), "diverged"),
}


def rows_of(folder):
    with closing(sqlite3.connect(folder / "results.sqlite")) as connection:
        return connection.execute("SELECT * FROM repetitions ORDER BY rowid").fetchall()


def make(folder, seeds, result=RESULT, key=KEY, created="2026-01-01T00:00:00+00:00"):
    """Store repetitions and export them."""
    store = ResultStore(folder)
    for seed in seeds:
        store.add(key, seed, "random", result, 1.25)
    execute(store.path, ("UPDATE repetitions SET created = ?", (created,)))
    return export_results(folder, folder.with_suffix(".xz")).path


def test_repetitions_of_any_kind_arrive_as_they_were_stored(tmp_path):
    store = ResultStore(tmp_path / "a")
    key = RunKey("x", {"width": 8, "rate": 0.1}, ENVIRONMENT, plug_in="mine 1.0", algorithm=3)
    for seed, result in enumerate(RESULTS.values()):
        store.add(key, seed, "mein x \u00e9", result, 1.25, graphs="hits.csv")
    store.add(key, 99, "x", replace(RESULT, status="failed"), 1.25, "a traceback")
    exported = export_results(tmp_path / "a", tmp_path / "a.xz")
    assert (exported.repetitions, exported.failed) == (len(RESULTS), 1)
    imported = import_results(tmp_path / "b", [exported.path])
    assert (imported.taken, imported.present, imported.different) == (len(RESULTS), 0, 0)
    assert rows_of(tmp_path / "b") == rows_of(tmp_path / "a")[:-1]
    again = export_results(tmp_path / "b", tmp_path / "b.xz").path
    assert again.read_bytes() == exported.path.read_bytes()
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "results.sqlite").write_bytes(lzma.decompress(again.read_bytes()))  # it is a results file
    assert len(load_results(tmp_path / "c")) == len(RESULTS)


def test_nothing_to_export_and_other_files_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="Expected results in"):
        export_results(tmp_path, tmp_path / "a.xz")
    store = ResultStore(tmp_path)
    store.add(KEY, 1, "random", RESULT, 1.25)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match="notes.txt"):
        export_results(tmp_path, tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_folder_can_be_exported_while_something_plays_into_it(tmp_path):
    with sole_driver(tmp_path):
        ResultStore(tmp_path).add(KEY, 1, "random", RESULT, 1.25)
        path = export_results(tmp_path, tmp_path / "a.xz").path
        with pytest.raises(ValueError, match="Another `graph-bandit`"):
            import_results(tmp_path, [path])


def test_files_of_several_machines_merge_in_any_order(tmp_path):
    late, early = "2026-01-01T00:00:02+00:00", "2026-01-01T00:00:01+00:00"
    files = [
        make(tmp_path / "a", [1, 2, 3], created=late),
        make(tmp_path / "b", [3, 4], created=early),
        make(tmp_path / "c", [2, 5], OTHER, created=early),  # of seed 2, which a played otherwise
        make(tmp_path / "d", [5], key=RunKey("random", {}, ENVIRONMENT, algorithm=2)),
    ]
    merged = []
    for number, order in enumerate([*permutations(files)][::5]):
        imported = import_results(tmp_path / f"out{number}", order)
        assert (imported.taken, imported.present, imported.different) == (6, 0, 1)
        merged.append(rows_of(tmp_path / f"out{number}"))
    assert all(rows == merged[0] for rows in merged)
    results = load_results(tmp_path / "out0")
    assert results["created"].is_monotonic_increasing
    assert results["algorithm"].value_counts().to_dict() == {1: 5, 2: 1}  # versions stand apart
    (second,) = results.loc[results["seed"] == 2].itertuples()
    assert second.actions.tolist() == OTHER.actions.tolist()  # c finished it first


def test_what_a_folder_holds_stays_and_a_failed_repetition_is_replaced(tmp_path):
    path = make(tmp_path / "a", [1, 2, 3, 4])
    store = ResultStore(tmp_path / "b")
    store.add(KEY, 1, "random", RESULT, 9.0)
    store.add(KEY, 2, "random", OTHER, 9.0)
    store.add(KEY, 3, "random", replace(RESULT, status="failed"), 9.0)
    imported = import_results(tmp_path / "b", [path])
    assert (imported.taken, imported.present, imported.different) == (2, 2, 1)
    rows = {row.seed: row for row in load_results(tmp_path / "b").itertuples()}
    assert [rows[seed].wall_time for seed in (1, 2, 3, 4)] == [9.0, 9.0, 1.25, 1.25]
    assert rows[2].actions.tolist() == OTHER.actions.tolist()
    assert rows[3].status == "finished"
    assert import_results(tmp_path / "b", [path]).taken == 0


def test_a_folder_keeps_the_names_of_its_tasks_and_learns_who_cannot_play_them(tmp_path):
    def tasks(easy, **refused):
        names = {easy: {}, "hard": refused}
        return [
            Task(name=name, hard=f"{name}!", environment_key=key, refused=tuple(names[name].items()))
            for name, key in zip(names, ("key of easy", "key of hard"), strict=True)
        ]

    for folder, planned in (("a", tasks("easy", choosy="molecules")), ("b", tasks("my easy one", mine="nodes"))):
        store = ResultStore(tmp_path / folder)
        store.add(KEY, 1, "random", RESULT, 1.0)
        store.add_tasks(planned)
    import_results(tmp_path / "b", [export_results(tmp_path / "a", tmp_path / "a.xz").path])
    with closing(sqlite3.connect(tmp_path / "b" / "results.sqlite")) as connection:
        easy, hard = read_tasks(connection)
    assert (easy["name"], easy["hard"], easy["environment_key"]) == ("my easy one", "my easy one!", "key of easy")
    assert dict(hard["refused"]) == {"choosy": "molecules", "mine": "nodes"}


@pytest.fixture
def export(tmp_path):
    return make(tmp_path / "stored", [5, 6])


def refused(path):
    """Whether a file is refused by its name, and nothing is taken from it."""
    with pytest.raises(ValueError, match="intact file of `graph-bandit export`") as caught:
        import_results(path.parent / "new", [path])
    return str(path) in str(caught.value) and not (path.parent / "new").exists()


def test_a_file_that_was_damaged_on_its_way_is_refused(export):
    content, generator = export.read_bytes(), np.random.default_rng(0)
    for place in generator.choice(len(content), 60, replace=False):
        flipped = bytearray(content)
        flipped[place] ^= 1 << generator.integers(8)
        export.write_bytes(flipped)
        assert refused(export)
    for changed in (content[:-1], content[:40], b"", content + b"\0", b"a text", lzma.compress(b"a text")):
        export.write_bytes(changed)
        assert refused(export)


def test_what_an_export_unpacks_to_is_bounded(export, tmp_path, monkeypatch):
    unpacked, packed = len(lzma.decompress(export.read_bytes())), export.stat().st_size
    monkeypatch.setattr(transfer, "MOST_UNPACKED", unpacked - 1)
    monkeypatch.setattr(transfer, "MOST_PACKED", (unpacked - 1) / packed)
    assert refused(export)
    monkeypatch.setattr(transfer, "MOST_PACKED", unpacked / packed)
    assert import_results(tmp_path / "b", [export]).taken == 2


def set_column(name, value):
    return f"UPDATE repetitions SET {name} = ? WHERE seed = 5", (value,)


@pytest.mark.parametrize(
    "statement",
    [
        "PRAGMA user_version = 5",
        "ALTER TABLE repetitions ADD COLUMN more TEXT",
        "CREATE VIEW more AS SELECT 1",
        "CREATE INDEX more ON repetitions (abs(seed))",
        set_column("agent", "gnn-ts"),
        set_column("environment", to_json(ENVIRONMENT) + " "),
    ],
)
def test_content_that_this_package_would_not_store_is_refused(export, statement):
    inside = export.with_name("inside.sqlite")
    inside.write_bytes(lzma.decompress(export.read_bytes()))
    execute(inside, statement)
    export.write_bytes(lzma.compress(inside.read_bytes()))
    assert refused(export)


DAMAGES = {
    "another format": lambda path: execute(path, "PRAGMA user_version = 5"),
    "no database": lambda path: path.write_text("label,regret\n" * 100),
    "a page of zeros": lambda path: path.write_bytes(
        path.read_bytes()[:8192] + bytes(4096) + path.read_bytes()[12288:]
    ),
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:-5000]),
    "a trigger": lambda path: execute(path, "CREATE TRIGGER t AFTER UPDATE ON repetitions BEGIN SELECT 1; END"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_results_file_that_is_damaged_or_foreign_is_named_and_not_changed(tmp_path, name):
    make(tmp_path / "a", range(9))
    path = tmp_path / "a" / "results.sqlite"
    DAMAGES[name](path)
    before = path.read_bytes()
    for use in (ResultStore, load_results, lambda folder: export_results(folder, tmp_path / "b.xz")):
        with pytest.raises(ValueError, match=r"results\.sqlite"):
            use(tmp_path / "a")
    assert path.read_bytes() == before


def test_a_process_that_was_killed_while_it_made_the_file_leaves_a_new_one(tmp_path):
    (tmp_path / "results.sqlite").touch()
    with pytest.raises(FileNotFoundError, match="It is empty"):
        load_results(tmp_path)
    ResultStore(tmp_path).add(KEY, 7, "a", RESULT, 1.0)
    assert len(load_results(tmp_path)) == 1
