"""What is stored is read back exactly, as a table and in files for other programs."""

import json
import re
import sqlite3
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import registry
from graph_bandit_cli import main
from graph_bandit_env.files import digest
from graph_bandit_lab import (
    BanditResult,
    EnvironmentSettings,
    RunSettings,
    environment_of,
    load_results,
    run_bandit,
    run_experiment,
)
from graph_bandit_lab.design import RunKey
from graph_bandit_lab.episodes import DIAGNOSTICS, Feedback
from graph_bandit_lab.storage import ResultStore

KEY = RunKey("gnn-ts", {"width": 8, "rate": 1e-4}, EnvironmentSettings(num_graphs=3, horizon=2).to_dict())
RESULT = BanditResult(np.array([2, 0]), np.array([0.1, -0.2]), np.array([0.0, 1.5]), seconds=0.75)
FOUND = {
    "simple_regret": np.array([1.5, 0.25]),
    "best_found": np.array([-1.0, 0.5]),
    "top_recall": np.array([0.0, 1.0]),
}
DIAGNOSED = dict(zip(DIAGNOSTICS, np.arange(2.0 * len(DIAGNOSTICS)).reshape(-1, 2), strict=True))


@pytest.fixture
def store(tmp_path):
    return ResultStore(tmp_path / "new" / "folder")


def rows_of(store, **options):
    return load_results(store.path.parent, **options).to_dict("records")


def test_what_is_stored_is_read_back_exactly(store):
    result = replace(RESULT, **FOUND, diagnostics=DIAGNOSED)
    store.add(KEY, 7, "gnn-ts:width=8", result, 1.25, versions={"torch": "2"})
    (row,) = rows_of(store)
    for name in ("actions", "rewards", "regret", *FOUND):
        assert np.array_equal(row[name], getattr(result, name))
        assert row[name].dtype == getattr(result, name).dtype
    assert {name: array.tolist() for name, array in row["diagnostics"].items()} == {
        name: array.tolist() for name, array in DIAGNOSED.items()
    }
    expected = {"environment": KEY.environment, "environment_key": KEY.environment_key, "versions": {"torch": "2"}}
    expected |= {"label": "gnn-ts:width=8", "agent": "gnn-ts", "agent_settings": KEY.agent_settings, "seed": 7}
    expected |= {"status": "finished", "total_regret": 1.5, "rounds": 2, "wall_time": 1.25, "round_time": 0.75}
    expected |= {"final_simple_regret": 0.25, "final_best_found": 0.5, "final_top_recall": 1.0, "algorithm": 1}
    assert {name: row[name] for name in expected} == expected
    (bare,) = rows_of(store, arrays=())
    assert not {"actions", "regret", "diagnostics", *FOUND} & bare.keys()
    assert {name: bare[name] for name in expected} == expected


@pytest.mark.parametrize("result", [RESULT, replace(RESULT, **FOUND, status="diverged")])
def test_there_are_no_last_values_where_none_were_recorded_or_an_agent_diverged(store, result):
    store.add(KEY, 7, "a", result, 1.0)
    (row,) = rows_of(store)
    assert row["simple_regret"] is result.simple_regret or np.array_equal(row["simple_regret"], result.simple_regret)
    assert np.isnan([row["final_simple_regret"], row["final_best_found"], row["final_top_recall"]]).all()
    assert np.isnan(row["total_regret"]) == (result.status == "diverged")


def test_diagnostics_can_be_added_later_to_the_same_actions_alone(store):
    store.add(KEY, 7, "a", RESULT, 1.0)
    assert store.stored() == {(KEY.settings_hash, 7): (False, False)}
    with pytest.raises(ValueError, match="seed 7"):
        store.add_diagnostics(KEY, 7, replace(RESULT, actions=np.array([1, 1]), diagnostics={}))
    store.add_diagnostics(KEY, 7, replace(RESULT, **FOUND, diagnostics={}))
    assert store.stored() == {(KEY.settings_hash, 7): (False, True)}
    assert rows_of(store)[0]["final_best_found"] == 0.5


def test_a_repetition_is_stored_once_whole_or_not_at_all(store):
    store.add(KEY, 7, "a", RESULT, 1.0)
    with pytest.raises(sqlite3.IntegrityError):
        store.add(KEY, 7, "b", RESULT, 2.0)
    with pytest.raises(ValueError, match="pickle"):
        store.add(KEY, 8, "a", replace(RESULT, rewards=np.array([object()])), 1.0)
    assert [row["label"] for row in rows_of(store)] == ["a"]


def test_the_hash_depends_on_values_alone_not_on_order_or_process():
    reordered = replace(KEY, agent_settings={"rate": 1e-4, "width": 8})
    assert reordered.settings_hash == KEY.settings_hash
    others = [replace(KEY, plug_in="mine 1.0"), replace(KEY, algorithm=2), replace(KEY, agent_settings={"width": 8})]
    assert len({key.settings_hash for key in (KEY, *others)}) == 4
    code = (
        "from graph_bandit_lab.design import RunKey;"
        f"print(RunKey({KEY.agent!r}, {KEY.agent_settings!r}, {KEY.environment!r}).settings_hash)"
    )
    environment = {"PYTHONHASHSEED": "5", "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == KEY.settings_hash


def test_one_label_with_two_settings_or_algorithms_becomes_two(store):
    for key in (KEY, replace(KEY, agent_settings={"width": 16}), replace(KEY, algorithm=2)):
        store.add(key, 7, "a", RESULT, 1.0)
    store.add(RunKey("random", {}, KEY.environment), 7, "b", RESULT, 1.0)
    *marked, plain = [row["label"] for row in rows_of(store)]
    assert len(set(marked)) == 3
    assert all(re.fullmatch(r"a \[[0-9a-f]{6}, algorithm [12]\]", label) for label in marked)
    assert plain == "b"


def stored_in(folder, agent_settings=({"width": 8},), **environments):
    """Store a repetition of each agent on each environment, all of whose settings vary together."""
    for values in zip(*environments.values(), strict=True):
        settings = dict(zip(environments, values, strict=True))
        environment = EnvironmentSettings(num_graphs=4, num_nodes=3, horizon=2, **settings).to_dict()
        for k, settings_of_agent in enumerate(agent_settings):
            ResultStore(folder).add(RunKey(f"a{k}", settings_of_agent, environment), 1, f"a{k}", RESULT, 1.0)
    return load_results(folder)


def test_settings_are_columns_to_group_by(tmp_path):
    results = stored_in(tmp_path, ({"horizon": 7}, {"forget": 3}), delay=(0, 10, (2, 20)), drift=(None, "walk", "walk"))
    assert results.groupby("delay")["total_regret"].count().to_dict() == {0: 2, 10: 2, "2 to 20": 2}
    assert results["drift"].tolist() == ["none"] * 2 + ["walk"] * 4
    assert results["agent_settings.horizon"].iloc[0] == 7  # a column of that name is there already
    assert results["forget"].isna().tolist() == [True, False] * 3
    assert results["environment_name"].iloc[0] == "means that stay, rewards at once"


def test_equal_plays_on_one_instance_have_the_seed_of_the_first(tmp_path):
    pool = {**KEY.environment, "graphs": "digest", "graph_model": "own", "reward_model": "target"}
    for environment in (pool, {**pool, "resample_graphs": "episode"}):
        for seed, regret in ((5, [50.0, 50.0]), (6, [50.0, 51.0]), (7, [50.0, 80.0])):
            result = replace(RESULT, regret=np.array(regret))
            ResultStore(tmp_path).add(RunKey("a", {}, environment), seed, "a", result, 1.0)
    assert load_results(tmp_path)["trajectory"].tolist() == [5, 5, 7, 5, 6, 7]  # other graphs in each episode


TABLE = "id,smiles,affinity\na,CCO,1.5\nb,CCN,2.5\nc,c1ccccc1,0.5\nd,CCCC,4.0\n"


def play(folder, **environment):
    """Play a repetition and return its row."""
    sizes = {} if "graphs" in environment else {"num_graphs": 5, "num_nodes": 4}
    settings = EnvironmentSettings(horizon=6, noise_std=0.5, **sizes, **environment)
    run_experiment(RunSettings(out=folder, environment=settings, agents=("lin-ts",), repetitions=1, progress=False))
    return load_results(folder).iloc[0]


@pytest.mark.parametrize(
    "environment", [{}, {"resample_graphs": "round"}, {"drift": "walk"}, {"delay": (1, 3), "actions_per_round": 3}]
)
def test_a_stored_repetition_is_played_again_bit_for_bit(tmp_path, environment):
    row = play(tmp_path, **environment)
    agent = registry.make_agent(row["agent"], **row["agent_settings"])
    told = {
        name: row["environment"].get(name, True)
        for name in ("batch", "delay", "random_rounds", "announced", "distinct")
    }
    again = run_bandit(environment_of(row), agent, row["seed"], feedback=Feedback(**told))
    for name in ("actions", "rewards", "regret"):
        assert np.array_equal(getattr(again, name), row[name])


def test_the_instance_of_own_graphs_is_read_from_their_file(tmp_path):
    file = tmp_path / "hits.csv"
    file.write_text(TABLE)
    row = play(tmp_path / "out", graphs=str(file), target="affinity")
    assert environment_of(row, str(file), target="affinity").unwrapped.mean_rewards.tolist() == [1.5, 2.5, 0.5, 4.0]
    file.write_text(TABLE.replace("1.5", "1.25"))
    for graphs in (None, str(file)):
        with pytest.raises(ValueError, match=r"hits\.csv \(affinity\)"):
            environment_of(row, graphs, target="affinity")


@pytest.mark.parametrize(("drawn", "digests"), [({"resample_graphs": "episode", "num_graphs": 9}, 2), ({}, 1)])
def test_the_instance_of_a_kind_is_drawn_by_the_seed_of_its_repetition(tmp_path, drawn, digests):
    settings = EnvironmentSettings(graphs="outlier", horizon=3, **drawn)
    run_experiment(RunSettings(out=tmp_path, environment=settings, agents=("random",), repetitions=2, progress=False))
    results = load_results(tmp_path)
    worlds = [environment_of(row, "outlier").unwrapped for _, row in results.iterrows()]
    for world, (_, row) in zip(worlds, results.iterrows(), strict=True):
        gaps = world.mean_rewards.max() - world.mean_rewards
        np.testing.assert_array_equal(gaps[row["actions"]], row["regret"])
    assert len({digest(world.graph_set) for world in worlds}) == digests
    assert not hasattr(worlds[0].graph_set, "targets")  # which agents would see


@pytest.fixture
def folder(tmp_path):
    for reward in ("linear", "gp_gntk"):
        environment = EnvironmentSettings(reward_model=reward, num_graphs=4, num_nodes=3, horizon=2).to_dict()
        for label, settings in {"a": {"network": "paper", "steps": 5}, "b": {"network": 7}}.items():
            result = replace(RESULT, **FOUND) if label == "a" else RESULT
            ResultStore(tmp_path).add(RunKey(label, settings, environment), 1, label, result, 2.0)
    return tmp_path


def test_tables_for_other_programs_have_a_row_a_repetition_and_a_column_a_setting(folder):
    files = [folder / "runs.csv", folder / "runs.parquet"]
    assert main(["report", str(folder), "--csv", str(files[0]), "--parquet", str(files[1])]) == 0
    for table in (pd.read_csv(files[0]), pd.read_parquet(files[1])):
        assert table["environment.reward_model"].tolist() == ["linear", "linear", "gp_gntk", "gp_gntk"]
        assert table.loc[table["label"] == "a", "agent_settings.steps"].tolist() == [5.0, 5.0]
        assert table["total_regret"].tolist() == [1.5] * 4
        assert table["final_top_recall"].fillna(-1).tolist() == [1, -1, 1, -1]
        assert table["agent_settings.network"].tolist() == ["paper", "7"] * 2
    assert [actions.tolist() for actions in table["actions"]] == [[2, 0]] * 4
    assert [found if found is None else found.tolist() for found in table["best_found"]] == [[-1, 0.5], None] * 2


def test_rounds_are_written_for_other_programs(folder):
    reading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    command = ["report", str(folder), "--jsonl", str(folder / "rounds.jsonl"), "--tensorboard", str(folder / "logs")]
    assert main(command) == 0
    rows = [json.loads(line) for line in (folder / "rounds.jsonl").read_text().splitlines()]
    assert len(rows) == 4 * 2
    expected = {"label": "a", "environment": "linear", "seed": 1, "round": 2, "action": 0, "reward": -0.2}
    assert rows[1] == expected | {"mean_reward": None, "regret": 1.5, "cumulative_regret": 1.5, "best_found": 0.5}
    logs = {path.parent.relative_to(folder / "logs").as_posix() for path in (folder / "logs").rglob("events.*")}
    assert logs == {"linear/a/1", "linear/b/1", "gp_gntk/a/1", "gp_gntk/b/1"}
    events = reading.EventAccumulator(str(folder / "logs/linear/a/1"))
    events.Reload()
    drawn = {tag: [(one.step, one.value) for one in events.Scalars(tag)] for tag in events.Tags()["scalars"]}
    assert drawn["best_found"] == [(1, -1.0), (2, 0.5)]
    assert drawn["cumulative_regret"] == [(1, 0.0), (2, 1.5)]
    assert main(command) == 1  # nothing is drawn twice
