"""Frames of an episode, as arrays."""

import itertools

import gymnasium as gym
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from support.rendered import SHAPE, make, started

from graph_bandit_env import GraphPool, GraphSet
from graph_bandit_env.rendering import draw_graph
from graph_bandit_env.rendering.frame import ArrayScreen, Frame


def frame_after(action):
    env = make()
    env.reset(seed=0)
    env.step(action)
    return env.render()


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


@pytest.mark.parametrize("name", ["GraphActionBandit-v0", "GraphActionBanditPadded-v0"])
def test_frames_are_listed(name):
    env = gym.make(name, num_graphs=2, num_nodes=2, render_mode="rgb_array_list")
    env.reset(seed=0)
    env.step(0)
    assert [frame.shape for frame in env.render()] == [SHAPE, SHAPE]


def test_a_frame_changes_when_another_graph_is_played():
    first, second = frame_after(0), frame_after(1)
    assert (first[:, :480] != second[:, :480]).any()  # the graph
    assert (first[:, 480:] != second[:, 480:]).any()  # bars and regret


@pytest.mark.parametrize("changes", [{"actions_per_round": 2}], ids=str)
def test_rendering_leaves_the_random_streams_alone(changes):
    def play(env):
        _, info = env.reset(seed=5)
        for _ in range(2):
            action = int(info["action_mask"].argmax())
            _, reward, *_, info = env.step(action)
            yield reward, info["action_mask"].tolist()
            if env.render_mode is not None:
                env.render()
        yield env.unwrapped.np_random.random()

    assert list(play(make(**changes))) == list(play(make(None, **changes)))


def test_no_text_is_cut_off_or_overlaps_another(monkeypatch):
    pool = GraphPool([np.ones((1, 1))] * 3, [[]] * 3, ids=["a name, $of$ which W" * 9, "b\nb", "c"])
    screen, drawn, draw = ArrayScreen(), [], Text.draw

    def note(text, renderer):
        draw(text, renderer)
        if text.get_visible() and text.get_text().strip():
            drawn.append((text.get_text(), text.get_window_extent()))

    monkeypatch.setattr(Text, "draw", note)
    frame, renderer = Frame(screen.figure), started(pool, np.array([-1.2345e8, 9.8765e8, 1.0]), horizon=999_999)
    for k in range(3):
        renderer.record(k, 1.23456e8, 1e9)
        frame.update(renderer._after_begin(), np.array([True, False, True]))
        drawn.clear()
        screen.show()
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
    renderer = started(GraphSet([np.ones((2, 1))] * 3, [[(0, 1), (1, 0)]] * 3), np.array([1.0, 2.0, 3.0]))
    all_of_them, none = renderer.render(np.ones(3, bool)), renderer.render(None)
    blue = np.array([0x56, 0xB4, 0xE9])
    count = [(frame[40:160, 480:] == blue).all(axis=-1).sum() for frame in (all_of_them, none)]
    assert count[0] > 1000
    assert count[1] == 0


LINKS = [[(0, 1), (1, 2), (2, 0)], [(0, 1)]]
TRIANGLE = GraphSet([np.ones((3, 1))] * 2, LINKS, directed=False)


def test_nodes_and_edges_are_drawn_and_counted():
    axes = Figure().subplots()
    assert draw_graph(axes, TRIANGLE, 0) == "3 nodes, 3 edges; colour: degree 2"
    edges, nodes = axes.collections
    assert (len(edges.get_segments()), len(nodes.get_offsets())) == (3, 3)


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
