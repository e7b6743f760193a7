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


def test_a_file_brings_back_everything(tmp_path):
    SMALL.save(tmp_path / "log.npz")
    loaded = Log.load(tmp_path / "log.npz")
    for field in fields(Log):
        expected, got = getattr(SMALL, field.name), getattr(loaded, field.name)
        assert type(expected) is type(got)
        assert np.array_equal(expected, got) if isinstance(got, np.ndarray) else expected == got


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"masks": np.ones((3, 3), bool)}, "shapes"),
        ({"rewards": np.array([0.5, np.nan, 2.0])}, "finite"),
        ({"actions": np.array([0.0, 1.0, 1.0])}, "`actions`"),
        ({"masks": np.ones((3, 2))}, "`masks`"),
        ({"probabilities": np.full((3, 2), 0.6)}, "probabilities"),
        ({"probabilities": np.full((3, 2), np.nan)}, "probabilities"),
        ({"probabilities": np.array([[1.25, -0.25], [0.5, 0.5], [0.0, 1.0]])}, "probabilities"),
        ({"probabilities": np.array([[0.25, 0.75], [0.5, 0.5], [0.5, 0.5]])}, "probabilities"),
        ({"actions": np.array([0, 1, 0])}, "plays"),
        ({"actions": np.array([0, 1, 2])}, "plays"),
        ({"least": 0.3}, "`least`"),
    ],
)
def test_what_is_no_log_is_refused(changes, named):
    with pytest.raises(ValueError, match=named):
        replace(SMALL, **changes)


def test_other_graphs_than_those_of_the_log_are_refused():
    assert SMALL.check_graphs(TWO) is TWO
    with pytest.raises(ValueError, match="graph set"):
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
        {"rewards": np.array([{}, {}, {}], object)},
    ],
)
def test_a_file_of_another_kind_is_refused(changes, tmp_path):
    assert Log.load(archive(tmp_path / "good.npz")).num_rounds == 3
    with pytest.raises(ValueError, match="log.npz"):
        Log.load(archive(tmp_path / "log.npz", **changes))
    cut = archive(tmp_path / "cut.npz")
    cut.write_bytes(cut.read_bytes()[:-30])
    with pytest.raises(ValueError, match="cut.npz"):
        Log.load(cut)
