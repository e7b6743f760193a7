"""Repetitions that travel in files arrive as they were stored, whatever the order of the files."""

import lzma
import sqlite3
from contextlib import closing
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from support.stored import execute, forge

from graph_bandit_lab import BanditResult, load_results
from graph_bandit_lab.analysis.ranking import rank_agents, tasks_of
from graph_bandit_lab.design import RunKey, SweepPlan
from graph_bandit_lab.design.keys import to_json
from graph_bandit_lab.design.tasks import Task
from graph_bandit_lab.reports.sweep_report import rows_of_failures, rows_of_ranking
from graph_bandit_lab.storage import ResultStore, export_results, import_results, transfer
from graph_bandit_lab.storage.files import sole_driver
from graph_bandit_lab.storage.sweeps import read_tasks
from graph_bandit_lab.storage.transfer import Imported

ENVIRONMENT = {"num_graphs": 3, "graph_model": "er", "horizon": 4}
KEY = RunKey("random", {}, ENVIRONMENT)
RESULT = BanditResult(np.array([2, 0, 2]), np.array([0.1, -0.2, np.pi]), np.array([0.0, 1.5, 0.0]), seconds=0.75)
OTHER = replace(RESULT, actions=np.array([2, 0, 1]), regret=np.array([0.0, 1.5, 0.5]))
FOUND = np.array([0.5, 0.25, 0.0])
RESULTS = {
    "plain": RESULT,
    "found": replace(RESULT, simple_regret=FOUND, best_found=-FOUND, top_share=FOUND),
    "diagnosed": replace(RESULT, diagnostics={"potential": np.array([1.0, np.nan, 0.5])}),
    "without insight": replace(RESULT, diagnostics={}),
    "diverged": replace(RESULT, status="diverged"),
    "diverged at once": BanditResult(np.zeros(0, np.int64), np.zeros(0), np.zeros(0), "diverged"),
}


def rows_of(folder):
    with closing(sqlite3.connect(folder / "results.sqlite")) as connection:
        return connection.execute("SELECT * FROM repetitions ORDER BY rowid").fetchall()


def make(folder, seeds, result=RESULT, key=KEY, created="2026-01-01T00:00:00+00:00", label="random"):
    """Store repetitions and export them."""
    store = ResultStore(folder)
    for seed in seeds:
        store.add(key, seed, label, result, 1.25)
    forge(store.path, ("UPDATE repetitions SET created = ?", (created,)))
    return export_results(folder, folder.with_suffix(".xz")).path


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_a_repetition_of_any_kind_arrives_as_it_was_stored(tmp_path, result):
    store = ResultStore(tmp_path / "a")
    key = RunKey("x", {"width": 8, "rate": 0.1}, ENVIRONMENT, plug_in="mine 1.0", algorithm=3)
    store.add(key, 7, "mein x \u00e9", result, 1.25, graphs="hits.csv")
    exported = export_results(tmp_path / "a", tmp_path / "a.xz")
    assert (exported.repetitions, exported.failed, exported.damaged) == (1, 0, ())
    assert exported.size == exported.path.stat().st_size
    imported = import_results(tmp_path / "b", [exported.path])
    assert (imported.taken, imported.present, imported.different) == (1, 0, ())
    assert rows_of(tmp_path / "b") == rows_of(tmp_path / "a")  # the checksum among them


def test_equal_content_gives_equal_files_however_few_rows_are_read_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(transfer, "ROWS", 2)
    path = make(tmp_path / "a", range(5))
    import_results(tmp_path / "b", [path])
    assert load_results(tmp_path / "b")["seed"].tolist() == list(range(5))
    assert export_results(tmp_path / "b", tmp_path / "b.xz").path.read_bytes() == path.read_bytes()


def test_an_export_is_a_results_file_packed_by_xz(tmp_path):
    path = make(tmp_path / "a", [1, 2])
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "results.sqlite").write_bytes(lzma.decompress(path.read_bytes()))
    assert load_results(tmp_path / "b").equals(load_results(tmp_path / "a"))
    assert rows_of(tmp_path / "b") == rows_of(tmp_path / "a")


def test_rows_arrive_in_the_order_in_which_they_were_finished(tmp_path):
    times = "2026-01-01T00:00:03+00:00", "2026-01-01T00:00:01+00:00", "2026-01-01T00:00:02+00:00"
    files = [make(tmp_path / str(seed), [seed], created=created) for seed, created in enumerate(times)]
    import_results(tmp_path / "out", files)
    assert load_results(tmp_path / "out")["seed"].tolist() == [1, 2, 0]


def test_failed_and_damaged_repetitions_stay_behind(tmp_path):
    store = ResultStore(tmp_path / "a")
    for seed, result in ((1, RESULT), (2, replace(RESULT, status="failed")), (3, OTHER)):
        store.add(KEY, seed, "random", result, 1.25)
    execute(store.path, "UPDATE repetitions SET wall_time = 2 WHERE seed = 3")
    exported = export_results(tmp_path / "a", tmp_path / "a.xz")
    assert (exported.repetitions, exported.failed, exported.damaged) == (1, 1, ("'random', seed 3",))
    import_results(tmp_path / "b", [exported.path])
    assert [row.seed for row in load_results(tmp_path / "b").itertuples()] == [1]


def test_a_folder_without_finished_repetitions_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="Expected results in"):
        export_results(tmp_path, tmp_path / "a.xz")
    store = ResultStore(tmp_path)
    with pytest.raises(ValueError, match="There are none yet"):
        export_results(tmp_path, tmp_path / "a.xz")
    store.add(KEY, 1, "random", replace(RESULT, status="failed"), 1.25)
    with pytest.raises(ValueError, match="There are none yet"):
        export_results(tmp_path, tmp_path / "a.xz")
    assert not (tmp_path / "a.xz").exists()


def test_a_repetition_under_a_key_that_nobody_would_look_for_is_refused(tmp_path):
    make(tmp_path / "a", [1])
    forge(tmp_path / "a" / "results.sqlite", "UPDATE repetitions SET settings_hash = 'mine'")
    with pytest.raises(ValueError, match="Got 'random', seed 1 under a key that is not that of its settings"):
        export_results(tmp_path / "a", tmp_path / "b.xz")
    assert not (tmp_path / "b.xz").exists()


def test_another_file_is_never_replaced(tmp_path):
    ResultStore(tmp_path).add(KEY, 1, "random", RESULT, 1.25)
    (tmp_path / "other.xz").write_bytes(lzma.compress(b"a text of mine"))
    (tmp_path / "short.xz").write_bytes(lzma.compress(b"a text of mine" * 100)[:40])
    (tmp_path / "empty.xz").touch()
    for path in (tmp_path / "results.sqlite", tmp_path, *tmp_path.glob("*.xz")):
        before = path.is_file() and path.read_bytes()
        with pytest.raises(ValueError, match="Expected .* to be a"):
            export_results(tmp_path, path)
        assert before == (path.is_file() and path.read_bytes())
    path = export_results(tmp_path, tmp_path / "a.xz").path
    assert export_results(tmp_path, path).repetitions == 1


def test_a_folder_can_be_exported_while_something_plays_into_it(tmp_path):
    with sole_driver(tmp_path):
        ResultStore(tmp_path).add(KEY, 1, "random", RESULT, 1.25)
        path = export_results(tmp_path, tmp_path / "a.xz").path
        with pytest.raises(ValueError, match="Another `graph-bandit` is playing"):
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
    for number, order in enumerate(permutations(files)):
        imported = import_results(tmp_path / f"out{number}", order)
        assert (imported.taken, imported.present, imported.different) == (6, 0, ("'random', seed 2",))
        merged.append(rows_of(tmp_path / f"out{number}"))
    assert all(rows == merged[0] for rows in merged)
    results = load_results(tmp_path / "out0")
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
    assert (imported.taken, imported.present, imported.different) == (2, 2, ("'random', seed 2",))
    assert "'random', seed 2" in imported.notes[1]
    rows = {row.seed: row for row in load_results(tmp_path / "b").itertuples()}
    assert [rows[seed].wall_time for seed in (1, 2, 3, 4)] == [9.0, 9.0, 1.25, 1.25]
    assert rows[2].actions.tolist() == OTHER.actions.tolist()
    assert rows[3].status == "finished"
    assert import_results(tmp_path / "b", [path]).taken == 0


def test_repetitions_that_differ_are_named_with_their_environments(tmp_path):
    keys = [RunKey("random", {}, {**ENVIRONMENT, "num_graphs": count}) for count in (3, 4)]
    files = [
        make(tmp_path / f"{i}{key.environment['num_graphs']}", [1], result, key)
        for i, result in enumerate((RESULT, OTHER))
        for key in keys
    ]
    imported = import_results(tmp_path / "out", files)
    assert sorted(imported.different) == [f"'random', seed 1, on K = {count}" for count in (3, 4)]


def test_without_files_nothing_is_taken(tmp_path):
    assert import_results(tmp_path, []) == Imported(0, 0)


def test_a_file_that_is_refused_changes_nothing(tmp_path):
    good, bad = make(tmp_path / "a", [1]), tmp_path / "bad.xz"
    bad.write_bytes(good.read_bytes()[:-1])
    with pytest.raises(ValueError, match="intact"):
        import_results(tmp_path / "b", [good, bad])
    with pytest.raises(FileNotFoundError, match="There is none at"):
        import_results(tmp_path / "b", [good, tmp_path / "none.xz"])
    assert not (tmp_path / "b").exists()


EASY, HARD = ({**ENVIRONMENT, "num_graphs": count} for count in (4, 5))


def task(environment, name, **refused):
    return Task(name=name, hard=f"{name}!", environment_key=to_json(environment), refused=tuple(refused.items()))


def make_ranked(folder, totals, tasks):
    """Store a repetition of each agent on each of two tasks, and export them."""
    store = ResultStore(folder)
    store.begin(SweepPlan("two", (), tasks=tuple(tasks)))
    for environment, values in zip((EASY, HARD), totals, strict=True):
        for label, total in values.items():
            regret = np.full(4, total / 4)
            store.add(RunKey(label, {}, environment), 0, label, BanditResult(np.zeros(4, int), regret, regret), 1.0)
    return export_results(folder, folder.with_suffix(".xz")).path


def make_original(folder):
    tasks = task(EASY, "easy"), task(HARD, "hard", choosy="needs molecules")
    return make_ranked(folder, ({"good": 1, "choosy": 2, "random": 9}, {"good": 2, "random": 8}), tasks)


def tasks_in(folder):
    with closing(sqlite3.connect(folder / "results.sqlite")) as connection:
        return read_tasks(connection)


def ranks_of(folder):
    results = load_results(folder, arrays=())
    ranking = rank_agents(results, tasks_of(results))
    return rows_of_ranking(ranking), rows_of_failures(ranking)


def test_agents_are_ranked_elsewhere_as_they_were_here(tmp_path):
    path = make_original(tmp_path / "a")
    import_results(tmp_path / "b", [path])
    assert tasks_in(tmp_path / "b") == tasks_in(tmp_path / "a")
    assert ranks_of(tmp_path / "b") == ranks_of(tmp_path / "a")
    assert export_results(tmp_path / "b", tmp_path / "b.xz").path.read_bytes() == path.read_bytes()


def test_a_folder_keeps_the_names_of_its_tasks_and_learns_who_cannot_play_them(tmp_path):
    mine = task(EASY, "my easy one", mine="needs time"), task(HARD, "hard", mine="needs nodes")
    make_ranked(tmp_path / "b", ({"other": 3}, {"other": 4}), mine)
    import_results(tmp_path / "b", [make_original(tmp_path / "a")])
    easy, hard = tasks_in(tmp_path / "b")
    assert (easy.name, easy.hard, dict(easy.refused)) == ("my easy one", "my easy one!", {"mine": "needs time"})
    assert dict(hard.refused) == {"choosy": "needs molecules", "mine": "needs nodes"}
    assert {row[0] for row in ranks_of(tmp_path / "b")[0][1:]} == {"good", "choosy", "random", "other"}


def test_a_folder_without_tasks_exports_none(tmp_path):
    import_results(tmp_path / "b", [make(tmp_path / "a", [1])])
    assert tasks_in(tmp_path / "b") == ()
