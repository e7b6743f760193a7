"""Frames of an episode, as arrays."""

import copy
import itertools
import pickle
import subprocess
import sys
import types

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.wrappers import RecordVideo
from matplotlib.figure import Figure
from matplotlib.text import Text
from support.rendered import SHAPE, SMILES, make, started

from graph_bandit_env import GraphPool, GraphSet, from_smiles
from graph_bandit_env.rendering import Renderer, draw_graph, screens
from graph_bandit_env.rendering.frame import Frame


def frames_of(env, actions, seed=0):
    env.reset(seed=seed)
    frames = [env.render()]
    for action in actions:
        env.step(action)
        frames.append(env.render())
    return frames


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"horizon": 1},
        {"num_graphs": 1},
        {"num_nodes": 1},
        {"edge_prob": 0.0},
        {"actions_per_round": 6, "replacement": False},
        {"num_graphs": 3000, "num_nodes": 2, "observe": "indices"},
        {"reward_model": np.zeros(6)},
        {"reward_model": -1e9 - np.arange(6)},
    ],
    ids=str,
)
def test_every_frame_has_one_shape_from_before_the_first_round_to_the_end(changes):
    env = make(**changes)
    actions = [0] * min(4, env.unwrapped.bandit.horizon)
    frames = frames_of(env, range(4) if env.unwrapped.bandit.replacement is False else actions)
    assert {(frame.shape, frame.dtype) for frame in frames} == {(SHAPE, np.dtype(np.uint8))}


def test_a_frame_changes_when_another_graph_is_played():
    first, second = frames_of(make(), [0])[-1], frames_of(make(), [1])[-1]
    assert (first[:, :480] != second[:, :480]).any()  # the graph
    assert (first[:, 480:] != second[:, 480:]).any()  # bars and regret


def test_a_frame_is_the_callers_own():
    frames = frames_of(make(), [0, 1])
    assert all((one != other).any() for one, other in itertools.pairwise(frames))


def test_equal_seeds_give_equal_frames():
    for one, other in zip(frames_of(make(), [0, 3, 3]), frames_of(make(), [0, 3, 3]), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_new_episode_begins_with_nothing_played():
    env = make()
    before, *_ = frames_of(env, [2, 1])
    env.reset()
    np.testing.assert_array_equal(env.render(), before)


@pytest.mark.parametrize("changes", [{}, {"actions_per_round": 2}, {"replacement": False}], ids=str)
def test_rendering_leaves_the_random_streams_alone(changes):
    def play(env):
        _, info = env.reset(seed=5)
        for _ in range(4):
            action = int(info["action_mask"].argmax())
            _, reward, *_, info = env.step(action)
            yield reward, info["action_mask"].tolist()
            if env.render_mode is not None:
                env.render()
        yield env.unwrapped.np_random.random()

    assert list(play(make(**changes))) == list(play(make(None, **changes)))


def test_no_text_is_cut_off_or_overlaps_another(monkeypatch):
    pool = GraphPool([np.ones((1, 1))] * 3, [[]] * 3, ids=["a name, $of$ which W" * 9, "b\nb", "c"])
    screen, drawn, draw = screens.ArrayScreen(), [], Text.draw

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


def test_record_video_gets_every_frame_and_their_speed(monkeypatch, tmp_path):
    # In the place of moviepy, of which no release goes with the Pillow of `constraints.txt`.
    clips = []

    class Clip:
        def __init__(self, frames, fps):
            clips.append((frames, fps))

        def write_videofile(self, path, logger):
            clips.append(path)

    module = types.ModuleType("moviepy.video.io.ImageSequenceClip")
    module.ImageSequenceClip = Clip
    for name in ("moviepy", "moviepy.video", "moviepy.video.io"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    env = RecordVideo(make(), str(tmp_path / "videos"), episode_trigger=lambda _: True)
    env.reset(seed=0)
    for action in range(4):
        env.step(action)
    env.close()
    (frames, fps), path = clips
    assert len(frames) == 5
    assert {frame.shape for frame in frames} == {SHAPE}
    assert fps == 4
    assert path.startswith(str(tmp_path))


def test_video_encoders_want_even_frames():
    assert screens.HEIGHT % 2 == screens.WIDTH % 2 == 0


def test_render_without_a_mode_warns_and_returns_nothing():
    env = make(None).unwrapped
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="Got None"):
        assert env.render() is None


def test_refuses_a_mode_that_is_none():
    with pytest.raises(ValueError, match="Unknown render_mode `rgb_aray`. Did you mean `rgb_array`"):
        Renderer("rgb_aray")


def test_render_needs_a_reset_first():
    with pytest.raises(ResetNeeded, match="Expected `reset`"):
        make().unwrapped.render()


def test_nothing_of_rendering_is_imported_without_a_mode():
    code = """
import sys, gymnasium as gym, graph_bandit_env
env = gym.make("GraphActionBandit-v0", num_graphs=3, num_nodes=4)
env.reset(seed=0), env.step(0), env.close()
print([name for name in sys.modules if name.split(".")[0] == "matplotlib" or name.endswith(".rendering")])
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert "graph_bandit_env.rendering" not in done.stdout
    assert "matplotlib" not in done.stdout


def test_arrays_are_drawn_without_pyplot():
    code = """
import sys, gymnasium as gym, graph_bandit_env
env = gym.make("GraphActionBandit-v0", num_graphs=3, num_nodes=4, render_mode="rgb_array")
env.reset(seed=0), env.render()
print("matplotlib.pyplot" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


def test_what_the_user_set_in_matplotlib_does_not_change_a_frame():
    import matplotlib as mpl

    plain = frames_of(make(), [0])[-1]
    with mpl.rc_context({"text.color": "red", "axes.facecolor": "black", "font.size": 30, "figure.facecolor": "black"}):
        np.testing.assert_array_equal(frames_of(make(), [0])[-1], plain)


def test_graphs_that_are_not_on_offer_are_grey():
    renderer = started(GraphSet([np.ones((2, 1))] * 3, [[(0, 1), (1, 0)]] * 3), np.array([1.0, 2.0, 3.0]))
    all_of_them, none = renderer.render(np.ones(3, bool)), renderer.render(None)
    blue = np.array([0x56, 0xB4, 0xE9])
    count = [(frame[40:160, 480:] == blue).all(axis=-1).sum() for frame in (all_of_them, none)]
    assert count[0] > 1000
    assert count[1] == 0


@pytest.mark.parametrize("copy_of", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_of_a_rendered_environment_draws_for_itself(copy_of):
    env = make()
    frames_of(env, [1])
    twin = copy_of(env)
    for one in (env, twin):
        one.step(2)
    assert np.array_equal(env.render(), twin.render())


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


def test_directed_graphs_without_edges_are_drawn():
    axes = Figure().subplots()
    assert draw_graph(axes, GraphSet([np.ones((1, 1))], [[]], directed=True), 0).startswith("1 node, 0 directed edges")


def test_a_molecule_is_a_picture():
    axes = Figure().subplots()
    assert draw_graph(axes, from_smiles(SMILES), 1) == SMILES[1]
    assert len(axes.images) == 1
