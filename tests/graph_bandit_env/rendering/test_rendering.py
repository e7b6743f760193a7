"""Frames of an episode, as arrays."""

import itertools
import sys

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from matplotlib.figure import Figure
from matplotlib.text import Text
from support.rendered import RED, SHAPE, SMILES, make, shows

from graph_bandit_env import GraphPool, GraphSet, from_smiles
from graph_bandit_env.bandit.episode import Episode
from graph_bandit_env.rendering import draw, draw_graph
from graph_bandit_env.rendering.pictures import lay_out


def frame_after(action):
    env = make()
    env.reset(seed=0)
    env.step(action)
    return env.render()


def test_passes_gymnasiums_check_with_its_frames():  # warnings are errors in this suite
    assert check_env(make().unwrapped, skip_render_check=False) is None


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"num_graphs": 1, "num_nodes": 1, "horizon": 1},
        {"num_graphs": 3000, "num_nodes": 2, "observe": "indices"},
        {"reward_model": -1e9 - np.arange(6)},
    ],
    ids=str,
)
def test_every_frame_has_one_shape_from_before_the_first_round_to_the_end(changes):
    env = make(**changes)
    env.reset(seed=0)
    frames = [env.render()]
    env.step(0)
    frames.append(env.render())
    assert {(frame.shape, frame.dtype) for frame in frames} == {(SHAPE, np.dtype(np.uint8))}


def test_a_frame_changes_when_another_graph_is_played():
    first, second = frame_after(0), frame_after(1)
    assert (first[:, :480] != second[:, :480]).any()  # the graph
    assert (first[:, 480:] != second[:, 480:]).any()  # bars and regret


def test_rendering_leaves_the_random_streams_alone():
    def play(render_mode):
        env = make(render_mode, actions_per_round=2)
        _, info = env.reset(seed=5)
        for _ in range(2):
            _, reward, *_, info = env.step(int(info["action_mask"].argmax()))
            yield reward, info["action_mask"].tolist()
            if render_mode:
                env.render()
        yield env.unwrapped.np_random.random()

    assert list(play("rgb_array")) == list(play(None))


def test_no_text_is_cut_off_or_overlaps_another(monkeypatch):
    pool = GraphPool([np.ones((1, 1))] * 3, [[]] * 3, ids=["a name, $of$ which W" * 9, "b\nb", "c"])
    drawn, draw_text = [], Text.draw

    def note(text, renderer):
        draw_text(text, renderer)
        if text.get_visible() and text.get_text().strip():
            drawn.append((text.get_text(), text.get_window_extent()))

    monkeypatch.setattr(Text, "draw", note)
    means = np.array([-1.2345e8, 9.8765e8, 1.0])
    episode = Episode(pool, means, horizon=999_999)
    for k in range(3):
        episode.record(pool, means, k, 1.23456e8, 1e9)
        drawn.clear()
        draw(episode, np.array([True, False, True]))
        assert len(drawn) > 20
        for words, box in drawn:
            assert min(box.x0, box.y0, 960 - box.x1, 540 - box.y1) >= 0, words
        pairs = itertools.combinations(drawn, 2)
        assert not [(one, other) for (one, here), (other, there) in pairs if here.overlaps(there)]


def test_what_the_user_set_in_matplotlib_does_not_change_a_frame():
    import matplotlib as mpl

    plain = frame_after(0)
    with mpl.rc_context({"text.color": "red", "axes.facecolor": "black", "font.size": 30, "figure.facecolor": "black"}):
        np.testing.assert_array_equal(frame_after(0), plain)


def test_graphs_that_are_not_on_offer_are_grey():
    episode = Episode(GraphSet([np.ones((2, 1))] * 3, [[(0, 1), (1, 0)]] * 3), np.array([1.0, 2.0, 3.0]), horizon=10)
    all_of_them, none = draw(episode, np.ones(3, bool)), draw(episode, None)
    blue = np.array([0x56, 0xB4, 0xE9])
    count = [(frame[40:160, 480:] == blue).all(axis=-1).sum() for frame in (all_of_them, none)]
    assert count[0] > 1000
    assert count[1] == 0


def test_nodes_are_coloured_by_degree_and_edges_drawn_once():
    axes = Figure().subplots()
    given = GraphSet([np.ones((4, 1))], [[(0, 1), (1, 2), (3, 3)]], directed=False)
    assert draw_graph(axes, given, 0) == "4 nodes, 3 edges, including 1 loop; colour: degree 1 to 2"
    edges, nodes = axes.collections
    assert nodes.get_array()[:3].tolist() == [1, 2, 1]
    np.testing.assert_array_equal(edges.get_segments(), nodes.get_offsets()[[[0, 1], [1, 2]]])


def test_directed_edges_are_arrows_with_their_heads_beyond_the_middle():
    axes = Figure().subplots()
    nodes, links = [np.ones((3, 1))], [[(0, 1), (1, 0), (1, 2), (2, 2)]]
    caption = draw_graph(axes, GraphSet(nodes, links, directed=True), 0)
    assert caption == "3 nodes, 4 directed edges, including 1 loop; colour: degree 2 to 3"
    edges, heads, _ = axes.collections
    ways = np.stack([heads.U, heads.V], axis=1)
    lines = np.array(edges.get_segments())
    assert len(lines) == 3
    np.testing.assert_allclose(ways, 0.65 * (lines[:, 1] - lines[:, 0]))
    np.testing.assert_allclose(heads.XY, lines[:, 0])


@pytest.mark.parametrize("has_rdkit", [True, False])
def test_a_molecule_is_drawn_by_rdkit_or_as_nodes_and_edges(monkeypatch, has_rdkit):
    molecules, axes = from_smiles(SMILES), Figure().subplots()
    if not has_rdkit:
        monkeypatch.setitem(sys.modules, "rdkit.Chem.Draw", None)
    caption = draw_graph(axes, molecules, 1)
    assert caption == ("CCO" if has_rdkit else "3 nodes, 2 edges; colour: degree 1 to 2")
    assert not has_rdkit or shows(axes.images[0].get_array(), RED)


@pytest.mark.parametrize("num_nodes", [1, 3, 60, 301, 1200])
def test_a_layout_parts_all_nodes_within_the_picture(num_nodes):
    half_a_path = [(k, k + 1) for k in range(num_nodes // 2 - 1)]  # the others are isolated
    links = np.array(half_a_path, int).reshape(-1, 2)
    positions = lay_out(num_nodes, links)
    assert positions.shape == (num_nodes, 2)
    assert np.abs(positions).max() <= 0.93
    assert len(np.unique(positions.round(6), axis=0)) == num_nodes
    np.testing.assert_array_equal(positions, lay_out(num_nodes, links))
