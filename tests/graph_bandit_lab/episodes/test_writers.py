"""Files that hold each round as soon as it has been played."""

import json
import math
import sys

import pytest

import registry
from graph_bandit_env.extras import MissingExtraError
from graph_bandit_lab import run_bandit
from graph_bandit_lab.episodes import JsonLinesWriter, RoundRecord, TensorBoardWriter


def record(number=1, **values):
    known = {"seed": 0, "action": 3, "reward": 1.5, "mean_reward": 1.0, "regret": 0.5, "cumulative_regret": 2.0}
    return RoundRecord(round=number, **{**known, "best_found": None, **values})


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_line_of_json_has_the_record_and_the_facts(tmp_path):
    with JsonLinesWriter(tmp_path / "rounds.jsonl", {"agent": "gnn-ts"}) as write:
        write(record())
    assert lines_of(tmp_path / "rounds.jsonl") == [
        {
            "agent": "gnn-ts",
            "seed": 0,
            "round": 1,
            "action": 3,
            "reward": 1.5,
            "mean_reward": 1.0,
            "regret": 0.5,
            "cumulative_regret": 2.0,
            "best_found": None,
        }
    ]


def test_each_line_is_in_the_file_before_the_next_round(small_env, tmp_path):
    path, seen = tmp_path / "rounds.jsonl", []
    write = JsonLinesWriter(path)
    run_bandit(
        small_env(), registry.make_agent("random"), on_round=lambda one: seen.append((write(one), len(lines_of(path))))
    )
    write.close()
    assert [count for _, count in seen] == list(range(1, 31))


def test_a_number_that_is_not_finite_is_null(tmp_path):
    with JsonLinesWriter(tmp_path / "rounds.jsonl") as write:
        write(record(reward=math.nan))
    assert lines_of(tmp_path / "rounds.jsonl")[0]["reward"] is None


def test_lines_are_appended(tmp_path):
    for number in (1, 2):
        with JsonLinesWriter(tmp_path / "rounds.jsonl") as write:
            write(record(number))
    assert [line["round"] for line in lines_of(tmp_path / "rounds.jsonl")] == [1, 2]


def test_a_file_whose_last_line_is_not_whole_is_refused_and_stays(tmp_path):
    path = tmp_path / "rounds.jsonl"
    path.write_text('{"round": 1}\n{"rou')
    with pytest.raises(ValueError, match="to end with a whole line"):
        JsonLinesWriter(path)
    assert path.read_text() == '{"round": 1}\n{"rou'


def test_a_fact_with_the_name_of_a_field_is_refused(tmp_path):
    with pytest.raises(ValueError, match="names of their own. Got round"):
        JsonLinesWriter(tmp_path / "rounds.jsonl", {"round": 1, "agent": "a"})
    assert not (tmp_path / "rounds.jsonl").exists()


def test_without_tensorboard_the_error_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'graph-bandit-env\[tensorboard\]'"):
        TensorBoardWriter(tmp_path)


@pytest.fixture
def scalars():
    """Return a function that reads the scalars of a folder with TensorBoard's own reader."""
    reading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")

    def read(folder):
        events = reading.EventAccumulator(str(folder))
        events.Reload()
        return {tag: [(one.step, one.value) for one in events.Scalars(tag)] for tag in events.Tags()["scalars"]}

    return read


def test_tensorboard_reads_scalars_by_rounds(scalars, tmp_path):
    with TensorBoardWriter(tmp_path / "a") as write:
        write(record(1, best_found=0.25))
        write(record(2, best_found=0.5, reward=-1.0))
    assert scalars(tmp_path / "a") == {
        "reward": [(1, 1.5), (2, -1.0)],
        "regret": [(1, 0.5), (2, 0.5)],
        "cumulative_regret": [(1, 2.0), (2, 2.0)],
        "best_found": [(1, 0.25), (2, 0.5)],
    }


def test_a_round_is_one_event_of_tensorboard_because_each_takes_time(tmp_path):
    loading = pytest.importorskip("tensorboard.backend.event_processing.event_file_loader")
    with TensorBoardWriter(tmp_path) as write:
        for number in (1, 2, 3):
            write(record(number, best_found=0.25))
    (path,) = tmp_path.iterdir()
    events = loading.EventFileLoader(str(path)).Load()
    assert [(event.step, len(event.summary.value)) for event in events if event.summary.value] == [
        (number, 4) for number in (1, 2, 3)
    ]


def test_what_is_not_known_is_left_out_of_tensorboard(scalars, tmp_path):
    with TensorBoardWriter(tmp_path) as write:
        write(record())
    assert "best_found" not in scalars(tmp_path)


def test_a_second_episode_in_a_folder_is_refused(scalars, tmp_path):
    with TensorBoardWriter(tmp_path) as write:
        write(record(2))
        with pytest.raises(ValueError, match="Got round 1 after 2"):
            write(record(1))
    with pytest.raises(ValueError, match="holds an episode"):
        TensorBoardWriter(tmp_path)
