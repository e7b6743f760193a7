"""The log of an episode: what it refuses, and its file."""

import io
import json
from dataclasses import fields, replace

import numpy as np
import pytest

from graph_bandit_env import GraphSet
from graph_bandit_env.files import digest
from graph_bandit_lab.logged import Log

TWO = GraphSet([[[1.0]], [[2.0]]], [[], []])
OTHERS = GraphSet([[[1.0]], [[3.0]]], [[], []])
SMALL = Log(
    actions=np.array([0, 1, 1]),
    rewards=np.array([0.5, -1.0, 2.0]),
    probabilities=np.array([[0.25, 0.75], [0.5, 0.5], [0.0, 1.0]]),
    masks=np.array([[True, True], [True, True], [False, True]]),
    learns=True,
    least=0.25,
    graphs=digest(TWO),
    facts={"agent": "A", "seed": 3},
)


def test_propensities_are_those_of_the_graphs_played():
    assert SMALL.propensities.tolist() == [0.25, 0.5, 1.0]
    assert (SMALL.num_rounds, SMALL.num_graphs) == (3, 2)


def test_a_file_brings_back_everything(tmp_path):
    SMALL.save(tmp_path / "log.npz")
    loaded = Log.load(tmp_path / "log.npz")
    for field in fields(Log):
        expected, got = getattr(SMALL, field.name), getattr(loaded, field.name)
        assert type(expected) is type(got)
        assert np.array_equal(expected, got) if isinstance(got, np.ndarray) else expected == got


def test_a_log_cannot_be_written_and_keeps_a_copy():
    rewards = np.array([0.5, -1.0, 2.0])
    log = replace(SMALL, rewards=rewards)
    rewards[0] = 99
    assert log.rewards[0] == 0.5
    with pytest.raises(ValueError, match="read-only"):
        log.rewards[0] = 99


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"actions": np.array([0, 1])}, "none of them empty"),
        ({"masks": np.ones((3, 3), bool)}, "none of them empty"),
        ({"rewards": np.array([0.5, np.nan, 2.0])}, "that are finite"),
        ({"rewards": np.array(["a", "b", "c"])}, "Expected `rewards` to hold float64"),
        ({"actions": np.array([0.0, 1.0, 1.0])}, "Expected `actions` to hold int64"),
        ({"masks": np.ones((3, 2))}, "Expected `masks` to hold bool"),
        ({"probabilities": np.full((3, 2), 0.6)}, "sum to 1 over the graphs on offer"),
        ({"probabilities": np.array([[1.25, -0.25], [0.5, 0.5], [0.0, 1.0]])}, "sum to 1 over the graphs on offer"),
        ({"probabilities": np.array([[0.25, 0.75], [0.5, 0.5], [0.5, 0.5]])}, "sum to 1 over the graphs on offer"),
        ({"actions": np.array([0, 1, 0])}, "Expected plays with a positive probability"),
        ({"actions": np.array([0, 1, 2])}, "Expected plays with a positive probability"),
        ({"actions": np.array([0, 1, -1])}, "Expected plays with a positive probability"),
        ({"least": 0.3}, "Expected `least` to be at most"),
        ({"least": -0.1}, "Expected `least` to be at most"),
    ],
)
def test_what_is_no_log_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **changes)


def test_other_graphs_than_those_of_the_log_are_refused():
    assert SMALL.check_graphs(TWO) is TWO
    with pytest.raises(ValueError, match="Got another one"):
        SMALL.check_graphs(OTHERS)
    with pytest.raises(ValueError, match="Expected `graph_set`"):
        SMALL.check_graphs(None)
    assert replace(SMALL, graphs="").check_graphs(OTHERS) is OTHERS


def archive(path, **changes):
    """Write the archive of a log in which some files are others."""
    about = {"format": 1, "learns": True, "least": 0.0, "graphs": "", "facts": {}} | changes.pop("about", {})
    arrays = {name: getattr(SMALL, name) for name in ("actions", "rewards", "probabilities", "masks")} | changes
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=True, about=np.frombuffer(json.dumps(about).encode(), np.uint8), **arrays)
    path.write_bytes(buffer.getvalue())
    return path


@pytest.mark.parametrize(
    "changes",
    [
        {"about": {"format": 2}},
        {"about": {"learns": 1}},
        {"about": {"facts": []}},
        {"about": {"least": "0"}},
        {"rewards": np.array([0.5, np.inf, 2.0])},
        {"rewards": np.array([{}, {}, {}], object)},
    ],
)
def test_a_file_of_another_kind_is_refused(changes, tmp_path):
    assert Log.load(archive(tmp_path / "good.npz")).num_rounds == 3
    with pytest.raises(ValueError, match=r"Expected .*log.npz to be a log that `Log.save` wrote"):
        Log.load(archive(tmp_path / "log.npz", **changes))


@pytest.mark.parametrize(
    "damage", [lambda content: content[:-30], lambda content: b"", lambda content: b"PK" + content]
)
def test_a_damaged_file_is_refused(damage, tmp_path):
    path = tmp_path / "log.npz"
    SMALL.save(path)
    path.write_bytes(damage(path.read_bytes())[:200])
    with pytest.raises(ValueError, match="to be a log that `Log.save` wrote"):
        Log.load(path)


def test_a_file_that_is_not_there_is_told():
    with pytest.raises(FileNotFoundError):
        Log.load("nowhere.npz")
