"""Frames of an episode, as arrays."""

import itertools
import sys

import gymnasium as gym
import networkx as nx
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from matplotlib.figure import Figure
from matplotlib.text import Text

from graph_bandit_env import GraphPool, GraphSet, from_smiles
from graph_bandit_env.bandit.episode import Episode
from graph_bandit_env.rendering import draw, draw_graph
from graph_bandit_env.rendering.frame import lay_out


def make(render_mode="rgb_array", **changes):
    settings = {"num_graphs": 6, "num_nodes": 5, "feature_dim": 3, "horizon": 4, **changes}
    return gym.make("GraphActionBandit-v0", render_mode=render_mode, **settings)


@pytest.mark.parametrize(
    "changes",
    [{}, {"num_graphs": 1, "num_nodes": 1, "horizon": 1}, {"num_graphs": 3000, "num_nodes": 2, "observe": "indices"}],
    ids=str,
)
def test_frames_have_one_shape_change_with_what_is_played_and_leave_the_random_streams_alone(changes):
    env, twin = make(**changes), make(None, **changes)
    assert check_env(make(**changes).unwrapped, skip_render_check=False) is None  # warnings are errors in this suite
    env.reset(seed=0)
    twin.reset(seed=0)
    before = env.render()
    assert env.step(0)[1] == twin.step(0)[1]
    after = env.render()
    assert env.unwrapped.np_random.random() == twin.unwrapped.np_random.random()
    assert {(frame.shape, frame.dtype) for frame in (before, after)} == {((540, 960, 3), np.dtype(np.uint8))}
    assert (before[:, :480] != after[:, :480]).any()  # the graph
    assert (before[:, 480:] != after[:, 480:]).any()  # bars


def test_no_text_is_cut_off_or_overlaps_another_whatever_the_user_set_in_matplotlib(monkeypatch):
    import matplotlib as mpl

    pool = GraphPool([np.ones((1, 1))] * 3, [[]] * 3, ids=["a name, $of$ which W" * 9, "b\nb", "c"])
    drawn, draw_text = [], Text.draw

    def note(text, renderer):
        draw_text(text, renderer)
        if text.get_visible() and text.get_text().strip():
            drawn.append((text.get_text(), text.get_window_extent()))

    monkeypatch.setattr(Text, "draw", note)
    means = np.array([-1.2345e8, 9.8765e8, 1.0])
    episode, mask = Episode(pool, means, horizon=999_999), np.array([True, False, True])
    for k in range(3):
        episode.record(pool, means, k, 1.23456e8, 1e9)
        drawn.clear()
        frame = draw(episode, mask)
        assert len(drawn) > 20
        for words, box in drawn:
            assert min(box.x0, box.y0, 960 - box.x1, 540 - box.y1) >= 0, words
        pairs = itertools.combinations(drawn, 2)
        assert not [(one, other) for (one, here), (other, there) in pairs if here.overlaps(there)]
    with mpl.rc_context({"text.color": "red", "axes.facecolor": "black", "font.size": 30}):
        np.testing.assert_array_equal(draw(episode, mask), frame)
    blue = [(shown == (0x56, 0xB4, 0xE9)).all(axis=-1).sum() for shown in (frame, draw(episode, ~mask & mask))]
    assert blue[0] > blue[1] + 1000  # graphs that are not on offer are grey


@pytest.mark.parametrize(("directed", "edges"), [(False, 3), (True, 4)])
def test_nodes_are_coloured_by_degree_and_edges_drawn_once(directed, edges):
    axes = Figure().subplots()
    given = GraphSet([np.ones((4, 1))], [[(0, 1), (1, 0), (1, 2), (3, 3)]], directed=directed)
    assert draw_graph(axes, given, 0).startswith(f"4 nodes, {edges} edges")
    nodes = axes.collections[-1]
    assert nodes.get_array().tolist() == ([2, 3, 1, 2] if directed else [1, 2, 1, 2])
    assert len(axes.patches) == (edges if directed else 1)  # arrows; a loop is one


@pytest.mark.parametrize("has_rdkit", [True, False])
def test_a_molecule_is_drawn_by_rdkit_or_as_nodes_and_edges(monkeypatch, has_rdkit):
    molecules, axes = from_smiles(["CCC", "CCO"]), Figure().subplots()
    if not has_rdkit:
        monkeypatch.setitem(sys.modules, "rdkit.Chem.Draw", None)
    caption = draw_graph(axes, molecules, 1)
    assert caption.startswith("CCO" if has_rdkit else "3 nodes, 2 edges")
    assert not has_rdkit or (axes.images[0].get_array() == (255, 0, 0)).all(axis=-1).any()  # of oxygen


@pytest.mark.parametrize("num_nodes", [1, 3, 60, 1200])
def test_a_layout_parts_all_nodes_within_the_picture(num_nodes):
    graph = nx.path_graph(num_nodes // 2)
    graph.add_nodes_from(range(num_nodes))  # half of them are isolated
    positions = lay_out(graph)
    assert positions.shape == (num_nodes, 2)
    assert np.abs(positions).max() <= 0.93
    assert len(np.unique(positions.round(6), axis=0)) == num_nodes
    np.testing.assert_array_equal(positions, lay_out(graph))
