import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from graph_bandit_cli.main import main
from graph_bandit_lab import BanditResult
from graph_bandit_lab.design import EnvironmentSettings, RunKey
from graph_bandit_lab.storage import ResultStore

FINDINGS = np.array([0.0, 0.5, 0.75])


@pytest.fixture
def folder(tmp_path):
    for reward in ("linear", "gp_gntk"):
        environment = EnvironmentSettings(reward_model=reward, num_graphs=4, num_nodes=3, horizon=3).to_dict()
        for label, settings in {"a": {"network": "paper", "steps": 5}, "b": {"network": 7}}.items():
            result = BanditResult(np.array([0, 1, 2]), np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.0, 0.25]))
            if label == "a":  # b was played by an earlier version
                result = replace(result, **dict.fromkeys(("simple_regret", "best_found", "top_share"), FINDINGS))
            ResultStore(tmp_path).add(RunKey(label, settings, environment), 1, label, result, 2.0)
    return tmp_path


def test_csv_has_a_row_a_repetition_and_a_column_a_setting(folder):
    assert main(["report", str(folder), "--csv", str(folder / "runs.csv")]) == 0
    table = pd.read_csv(folder / "runs.csv")
    assert len(table) == 4
    assert table["environment.reward_model"].tolist() == ["linear", "linear", "gp_gntk", "gp_gntk"]
    assert table.loc[table["label"] == "a", "agent_settings.steps"].tolist() == [5.0, 5.0]
    assert table["total_regret"].tolist() == [0.75] * 4
    assert table["final_top_share"].fillna(-1).tolist() == [0.75, -1, 0.75, -1]
    assert "top_share" not in table


def test_csv_says_what_earlier_results_left_out(folder):
    assert main(["report", str(folder), "--csv", str(folder / "runs.csv")]) == 0
    assert pd.read_csv(folder / "runs.csv")["environment.replacement"].tolist() == [True] * 4


def test_parquet_has_the_arrays_too_and_settings_of_any_kind(folder):
    assert main(["report", str(folder), "--parquet", str(folder / "runs.parquet")]) == 0
    table = pd.read_parquet(folder / "runs.parquet")
    assert [actions.tolist() for actions in table["actions"]] == [[0, 1, 2]] * 4
    assert table["regret"].iloc[0].tolist() == [0.5, 0.0, 0.25]
    assert [found if found is None else found.tolist() for found in table["simple_regret"]] == [
        [0, 0.5, 0.75],
        None,
    ] * 2
    assert table["agent_settings.network"].tolist() == ["paper", "7"] * 2


def test_json_lines_have_a_line_for_each_round(folder):
    assert main(["report", str(folder), "--jsonl", str(folder / "rounds.jsonl")]) == 0
    rows = [json.loads(line) for line in (folder / "rounds.jsonl").read_text().splitlines()]
    assert len(rows) == 4 * 3
    assert rows[1] == {
        "label": "a",
        "environment": "linear",
        "seed": 1,
        "round": 2,
        "action": 1,
        "reward": 2.0,
        "mean_reward": None,
        "regret": 0.0,
        "cumulative_regret": 0.5,
        "best_found": 0.5,
    }
    assert [row["best_found"] for row in rows[3:6]] == [None] * 3


def test_tensorboard_has_a_folder_for_each_repetition(folder):
    pytest.importorskip("tensorboard")
    assert main(["report", str(folder), "--tensorboard", str(folder / "logs")]) == 0
    logs = {path.parent.relative_to(folder / "logs").as_posix() for path in (folder / "logs").rglob("events.*")}
    assert logs == {"linear/a/1", "linear/b/1", "gp_gntk/a/1", "gp_gntk/b/1"}
    assert main(["report", str(folder), "--tensorboard", str(folder / "logs")]) == 1  # nothing is drawn twice
