import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import graph_bandit_env  # noqa: F401
from graph_bandit_env.wrappers import BatchedActions, DelayedRewards, PaddedGraphSet
from graph_bandit_lab import run_bandit
from graph_bandit_lab.episodes import Feedback

SMALL = {"num_graphs": 5, "num_nodes": 4, "horizon": 12}
DELAYS = [0, 1, 3, (0, 4), (2, 5), 40]


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


@pytest.mark.parametrize("delay", [0, 1, 3])
def test_a_reward_comes_as_many_rounds_later_as_the_delay_says(delay):
    at_once = [reward for reward, _, _ in play(make(0))]
    late = [reward for reward, _, _ in play(make(delay))]
    assert late[:delay] == [0.0] * delay
    assert late[delay:11] == at_once[: 11 - delay]


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


def test_a_delay_changes_no_reward_and_no_graph():
    def instance(env):
        env.reset(seed=4)
        return env.unwrapped.mean_rewards, env.step(2)[-1]["mean_reward"]

    (means, played), (same, again) = instance(make(0)), instance(make((0, 9)))
    assert np.array_equal(means, same)
    assert played == again


def test_rewards_come_when_the_laboratory_tells_them():
    class Listener:
        """An agent that plays in turn, and keeps what it is told in which round."""

        def reset(self, observation, seed=0, graph_set=None):
            self.told, self.round = [], -1

        def select_action(self, observation, action_mask=None):
            self.round += 1
            return self.round % 5

        def update(self, observation, action, reward):
            self.told.append((self.round, int(action)))

    listener = Listener()
    run_bandit(gym.make("GraphActionBandit-v0", **SMALL), listener, seed=6, feedback=Feedback(delay=(0, 4)))
    steps = play(make((0, 4)), seed=6, actions=np.arange(12) % 5)
    found = [(t, action) for t, (_, info, over) in enumerate(steps) for action, _ in came(info) if not over]
    assert found == [(t, action) for t, action in listener.told if t < 11]
    assert len(found) > 5


def test_a_reset_forgets_what_was_on_its_way():
    env = make(3)
    env.reset(seed=0)
    env.step(1)
    _, info = env.reset()
    assert info["came"] == 0
    assert [env.step(0)[1] for _ in range(3)] == [0.0] * 3
    assert came(env.step(0)[-1])[0][0] == 0


@pytest.mark.parametrize("delay", DELAYS)
def test_what_comes_has_the_same_types_in_each_round(delay):
    env, most = make(delay), max(np.atleast_1d(delay))
    _, first = env.reset(seed=0)
    for info in [first, *(info for _, info, _ in play(env))]:
        assert (info["came"].dtype, info["came"].shape) == (np.int64, ())
        assert (info["came_rewards"].dtype, info["came_rewards"].shape) == (np.float64, (most + 1,))
        assert (info["came_actions"].dtype, info["came_actions"].shape) == (np.int64, (most + 1,))
        assert (info["came_actions"][info["came"] :] == -1).all()


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version", "ignore:.*is -?infinity")
@pytest.mark.parametrize("wrap", [PaddedGraphSet, lambda env: BatchedActions(env, 3)], ids=["padded", "batches"])
def test_gymnasium_accepts_delays_around_other_wrappers(wrap):
    assert check_env(make((1, 2), wrap), skip_render_check=True) is None


def test_delays_of_batches_count_steps():
    steps = play(make(2, lambda env: BatchedActions(env, 3)), actions=np.arange(12).reshape(4, 3) % 5)
    assert [int(info["came"]) for _, info, _ in steps] == [0, 0, 1, 3]
    assert steps[2][1]["came_actions"].tolist() == [[0, 1, 2], [-1] * 3, [-1] * 3]


def test_in_an_array_of_observations_rewards_are_late_as_well():
    inside = PaddedGraphSet(make(1))
    observation, _ = inside.reset(seed=0)
    assert observation in inside.observation_space
    assert inside.step(2)[1] == 0.0
    assert came(inside.step(3)[-1])[0][0] == 2


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_many_bandits_are_paid_late_each_by_itself(mode):
    many = gym.make_vec(
        "GraphActionBanditPadded-v0",
        3,
        vectorization_mode="sync",
        wrappers=[lambda env: DelayedRewards(env, (0, 4))],
        vector_kwargs={"autoreset_mode": mode},
        **SMALL,
    )
    singles = [make((0, 4)) for _ in range(3)]
    observation, _ = many.reset(seed=[5, 6, 7])
    assert observation in many.observation_space
    for seed, env in zip((5, 6, 7), singles, strict=True):
        env.reset(seed=seed)
    for t in range(12):
        expected = [env.step(t % 5)[1] for env in singles]
        assert many.step(np.full(3, t % 5))[1].tolist() == pytest.approx(expected)


@pytest.mark.parametrize("delay", [-1, 1.5, True, (3, 1), (1, 2, 3), "2", None, (1, False)])
def test_other_delays_are_refused(delay):
    with pytest.raises(ValueError, match=r"Expected `delay` to be an integer >= 0, or \(least, most\). Got"):
        make(delay)


def test_actions_that_are_not_discrete_are_refused():
    with pytest.raises(TypeError, match="Expected an environment with discrete actions"):
        DelayedRewards(gym.make("Pendulum-v1"), 1)


def test_any_other_environment_is_paid_late_and_its_spec_makes_it_again():
    env = DelayedRewards(gym.make("CartPole-v1"), 2)
    env.reset(seed=0)
    assert [env.step(0)[1] for _ in range(4)] == [0.0, 0.0, 1.0, 1.0]
    assert gym.make(env.spec).delay == 2
