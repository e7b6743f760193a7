"""Frames in a window."""

import gymnasium as gym
import pytest
from gymnasium.utils.env_checker import check_env
from support.rendered import Window, make, windows

from graph_bandit_env.rendering import frame


@pytest.fixture
def display(monkeypatch):
    windows.clear()
    monkeypatch.setattr(frame, "WindowScreen", Window)
    return windows


def test_passes_gymnasiums_check_of_both_modes(display):  # warnings are errors in this suite
    env = gym.make("GraphActionBandit-v0", num_graphs=4, num_nodes=3, horizon=9, render_mode="rgb_array")
    assert check_env(env.unwrapped, skip_render_check=False) is None
    assert display


def test_human_mode_draws_by_itself_in_reset_and_step(display):
    env = make("human")
    env.reset(seed=0)
    assert [window.shown for window in display] == [1]
    env.step(2)
    assert display[0].shown == 2
    assert env.render() is None
    env.close()
    assert not display[0].open
    env.close()


def test_a_window_closed_by_hand_stays_closed_and_play_goes_on(display):
    env = make("human")
    env.reset(seed=0)
    display[0].open = False
    env.step(0)
    assert [window.shown for window in display] == [1]
    env.close()
    env.reset()
    assert [window.shown for window in display] == [1, 1]


def test_human_mode_without_a_display_says_what_to_do(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    with pytest.raises(RuntimeError, match="agg"):
        make("human").reset(seed=0)
    assert plt.get_fignums() == []
