import gymnasium as gym
import numpy as np
import pytest

import graph_bandit_env  # noqa: F401
from graph_bandit_env.wrappers import DelayedRewards

SMALL = {"num_graphs": 5, "num_nodes": 4, "horizon": 12}
DELAYS = [0, (2, 5), 40]


def make(delay, wrap=lambda env: env, **settings):
    return DelayedRewards(wrap(gym.make("GraphActionBandit-v0", **{**SMALL, **settings})), delay)


def play(env, seed=0, actions=None):
    """Play an episode: the reward, what came and whether it is over, of each step."""
    actions = np.random.default_rng(3).integers(0, 5, 12) if actions is None else actions
    env.reset(seed=seed)
    steps = []
    for action in actions:
        _, reward, terminated, truncated, info = env.step(action)
        steps.append((reward, info, terminated or truncated))
    return steps


def came(info):
    count = int(info["came"])
    return list(zip(info["came_actions"][:count].tolist(), info["came_rewards"][:count].tolist(), strict=True))


@pytest.mark.parametrize("delay", DELAYS)
def test_every_reward_of_an_episode_comes_once_with_its_action(delay):
    bare = gym.make("GraphActionBandit-v0", **SMALL)
    bare.reset(seed=0)
    actions = np.random.default_rng(3).integers(0, 5, 12)
    earned = [(int(action), float(bare.step(action)[1])) for action in actions]
    steps = play(make(delay), actions=actions)
    assert sorted(pair for _, info, _ in steps for pair in came(info)) == sorted(earned)
    assert [over for _, _, over in steps] == [False] * 11 + [True]
    for reward, info, _ in steps:
        assert reward == sum(paid for _, paid in came(info))


def test_drawn_delays_are_within_their_bounds_take_all_values_and_follow_the_seed():
    def delays(seed):
        steps = play(make((1, 3), horizon=300), seed, actions=np.arange(300) % 5)
        earned, found = {}, []
        for t, (_, info, over) in enumerate(steps):
            earned.setdefault(t % 5, []).append(t)
            for action, _ in came(info) if not over else ():
                found.append(t - earned[action].pop(0))  # delays of at most 3: one of each graph is on its way
        return found

    first = delays(0)
    assert set(first) == {1, 2, 3}
    assert first == delays(0)
    assert first != delays(1)


def test_a_reset_forgets_what_was_on_its_way():
    env = make(3)
    env.reset(seed=0)
    env.step(1)
    _, info = env.reset()
    assert info["came"] == 0
    assert [env.step(0)[1] for _ in range(3)] == [0.0] * 3
    assert came(env.step(0)[-1])[0][0] == 0


@pytest.mark.parametrize("delay", [-1, 1.5, True, (3, 1), (1, 2, 3)])
def test_other_delays_are_refused(delay):
    with pytest.raises(ValueError, match="delay"):
        make(delay)


def test_any_other_environment_is_paid_late_and_its_spec_makes_it_again():
    env = DelayedRewards(gym.make("CartPole-v1"), 2)
    env.reset(seed=0)
    assert [env.step(0)[1] for _ in range(4)] == [0.0, 0.0, 1.0, 1.0]
    assert gym.make(env.spec).delay == 2
