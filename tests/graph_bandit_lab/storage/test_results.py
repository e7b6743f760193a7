import re
import sqlite3
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from graph_bandit_lab import BanditResult, load_results
from graph_bandit_lab.design import RunKey
from graph_bandit_lab.design.keys import with_later_defaults
from graph_bandit_lab.storage import ResultsFollower, ResultStore, results

KEY = RunKey("gnn-ts", {"width": 8, "regularization": 1e-4}, {"num_graphs": 3})
RESULT = BanditResult(np.array([2, 0]), np.array([0.1, -0.2]), np.array([0.0, 1.5]), seconds=0.75)
FINDINGS = {
    "simple_regret": np.array([1.5, 0.25]),
    "best_found": np.array([-1.0, 0.5]),
    "top_share": np.array([0.0, 1.0]),
}


@pytest.fixture
def store(tmp_path):
    return ResultStore(tmp_path / "new" / "folder")


def test_what_is_stored_is_read_back_exactly(store):
    store.add(KEY, 7, "gnn-ts:width=8", RESULT, 1.25)
    (row,) = load_results(store.path.parent).to_dict("records")
    for name in ("actions", "rewards", "regret"):
        assert np.array_equal(row[name], getattr(RESULT, name))
        assert row[name].dtype == getattr(RESULT, name).dtype
    assert row["environment"] == with_later_defaults(KEY.environment)
    assert row["environment_key"] == KEY.environment_key
    assert row["agent_settings"] == KEY.agent_settings
    assert (row["label"], row["agent"], row["seed"], row["status"]) == ("gnn-ts:width=8", "gnn-ts", 7, "finished")
    assert row["total_regret"] == 1.5
    assert (row["wall_time"], row["round_time"]) == (1.25, 0.75)
    assert {"graph-bandit-env", "torch", "numpy", "python"} <= set(row["versions"])


def test_what_was_found_is_read_back_with_its_last_values(store):
    store.add(KEY, 7, "a", replace(RESULT, **FINDINGS), 1.0)
    (row,) = load_results(store.path.parent).to_dict("records")
    assert {name: row[name].tolist() for name in FINDINGS} == {name: array.tolist() for name, array in FINDINGS.items()}
    final = {"final_simple_regret": 0.25, "final_best_found": 0.5, "final_top_share": 1.0}
    assert {name: row[name] for name in final} == final
    (row,) = load_results(store.path.parent, arrays=()).to_dict("records")
    assert not FINDINGS.keys() & row.keys()
    assert {name: row[name] for name in final} == final


@pytest.mark.parametrize("result", [RESULT, replace(RESULT, **FINDINGS, status="diverged")])
def test_there_are_no_last_values_where_none_were_recorded_or_an_agent_diverged(store, result):
    store.add(KEY, 7, "a", result, 1.0)
    (row,) = load_results(store.path.parent).to_dict("records")
    assert row["simple_regret"] is result.simple_regret or np.array_equal(row["simple_regret"], result.simple_regret)
    assert np.isnan([row["final_simple_regret"], row["final_best_found"], row["final_top_share"]]).all()


def test_diagnostics_that_are_added_later_bring_what_was_found(store):
    store.add(KEY, 7, "a", RESULT, 1.0)
    store.add_diagnostics(KEY, 7, replace(RESULT, **FINDINGS, diagnostics={}))
    assert load_results(store.path.parent)["final_best_found"].tolist() == [0.5]


def test_a_repetition_is_never_overwritten(store):
    store.add(KEY, 7, "a", RESULT, 1.0)
    with pytest.raises(sqlite3.IntegrityError):
        store.add(KEY, 7, "b", RESULT, 2.0)
    assert load_results(store.path.parent)["label"].tolist() == ["a"]


def test_a_repetition_is_found_by_settings_and_seed(store):
    store.add(KEY, 7, "a", RESULT, 1.0)
    assert store.stored() == {(KEY.settings_hash, 7): (False, False)}
    assert RunKey("gnn-ts", {"width": 16}, KEY.environment).settings_hash != KEY.settings_hash


def test_results_come_in_the_order_in_which_they_were_finished(store):
    for seed in (5, 3, 4):
        store.add(KEY, seed, "a", RESULT, 1.0)
    assert load_results(store.path.parent)["seed"].tolist() == [5, 3, 4]


def test_the_hash_depends_on_values_alone_not_on_order_or_process():
    reordered = RunKey("gnn-ts", {"regularization": 1e-4, "width": 8}, {"num_graphs": 3})
    assert reordered.settings_hash == KEY.settings_hash
    code = (
        "from graph_bandit_lab.design import RunKey;"
        f"print(RunKey({KEY.agent!r}, {KEY.agent_settings!r}, {KEY.environment!r}).settings_hash)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONHASHSEED": "5"}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == KEY.settings_hash


def test_a_transaction_that_fails_leaves_no_row(store):
    broken = BanditResult(np.array([1]), np.array([object()]), np.array([0.0]))
    with pytest.raises(ValueError, match="pickle"):
        store.add(KEY, 7, "a", broken, 1.0)
    assert load_results(store.path.parent).empty


def test_missing_results_come_with_advice(tmp_path):
    with pytest.raises(FileNotFoundError, match="graph-bandit run --out"):
        load_results(tmp_path)
    assert not list(tmp_path.iterdir())


def test_one_label_with_two_settings_becomes_two(store):
    store.add(KEY, 7, "a", RESULT, 1.0)
    store.add(RunKey("gnn-ts", {"width": 16}, KEY.environment), 7, "a", RESULT, 1.0)
    store.add(RunKey("random", {}, KEY.environment), 7, "b", RESULT, 1.0)
    first, second, third = load_results(store.path.parent)["label"]
    assert re.fullmatch(r"a \[[0-9a-f]{6}\]", first)
    assert re.fullmatch(r"a \[[0-9a-f]{6}\]", second)
    assert first != second
    assert third == "b"


def test_refuses_a_file_of_another_format(store):
    with sqlite3.connect(store.path) as connection:
        connection.execute("PRAGMA user_version = 4")  # of earlier versions, which had a trigger
        connection.execute("CREATE TRIGGER forget AFTER UPDATE ON repetitions BEGIN DELETE FROM repetitions; END")
    connection.close()
    for read in (ResultStore, load_results, lambda folder: ResultsFollower(folder).read()):
        with pytest.raises(ValueError, match=r"in format 5. Got 4, which another .* does not read. .* another folder"):
            read(store.path.parent)


def test_refuses_a_file_that_is_no_database(tmp_path):
    (tmp_path / "results.sqlite").write_text("label,regret\n" * 100)
    for read in (ResultStore, load_results):
        with pytest.raises(ValueError, match="to be an intact results file. Got: file is not a database"):
            read(tmp_path)


def test_refuses_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ValueError, match="to be a folder, or a new one"):
            ResultStore(path)


def test_another_version_of_a_plug_in_is_another_agent(store):
    old, new = (RunKey("mine", {}, KEY.environment, f"mine {version}") for version in ("1.0", "1.1"))
    store.add(old, 7, "mine", RESULT, 1.0)
    assert (new.settings_hash, 7) not in store.stored()
    assert load_results(store.path.parent)["versions"][0]["plug-in"] == "mine 1.0"
    assert RunKey("mine", {}, KEY.environment).settings_hash != old.settings_hash != new.settings_hash


def test_a_process_that_was_killed_while_it_made_the_file_leaves_a_new_one(store, tmp_path):
    (tmp_path / "results.sqlite").touch()
    with pytest.raises(FileNotFoundError, match="It is empty"):
        load_results(tmp_path)
    ResultStore(tmp_path).add(KEY, 7, "a", RESULT, 1.0)
    assert len(load_results(tmp_path)) == 1


def test_the_file_is_made_whole_or_not_at_all(tmp_path, monkeypatch):
    monkeypatch.setitem(results.TABLES, "tasks", "SELECT no_such_function()")
    with pytest.raises(ValueError, match="no such function"):
        ResultStore(tmp_path)
    monkeypatch.undo()
    assert not ResultStore(tmp_path).stored()
