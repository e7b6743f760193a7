import numpy as np
import pytest

import registry
from graph_bandit_lab import run_bandit
from graph_bandit_lab.episodes import Feedback

STARTS = Feedback(random_rounds=4)


class Listener:
    """An agent that plays in turn and keeps what it is told, with the number of its choices by then."""

    def __init__(self):
        self.told, self.choices = [], 0

    def reset(self, observation, seed=0, graph_set=None):
        self.told, self.choices = [], 0

    def select_action(self, observation, action_mask=None):
        self.choices += 1
        allowed = np.flatnonzero(action_mask)
        return int(allowed[self.choices % len(allowed)])

    def update(self, observation, action, reward):
        self.told.append((self.choices, np.atleast_1d(action).tolist(), np.atleast_1d(reward).tolist()))


def listen(env, **feedback):
    agent = Listener()
    result = run_bandit(env, agent, seed=1, feedback=Feedback(**feedback))
    return agent.told, result


@pytest.mark.parametrize("drift", ["walk", "jump"])
def test_late_rewards_are_those_of_the_round_in_which_they_were_earned(small_env, drift):
    settings = {"horizon": 10, "drift": drift, "drift_rate": 0.5, "noise_std": 0.0}
    told, result = listen(small_env(**settings), delay=3)
    env = small_env(**settings)
    env.reset(seed=int(np.random.SeedSequence(1).generate_state(2)[0]))
    means = [(env.unwrapped.mean_rewards, env.step(0))[0] for _ in range(10)]
    assert [reward for *_, rewards in told for reward in rewards] == [
        means[t][action] for t, action in enumerate(result.actions[:7].tolist())
    ]


def test_delays_that_are_drawn_are_within_their_bounds_and_repeatable(small_env):
    told, result = listen(small_env(horizon=60, noise_std=1.0), delay=(2, 5))
    when = {rewards[0]: choices for choices, _, rewards in told}
    late = [when[reward] - t - 1 for t, reward in enumerate(result.rewards.tolist()) if reward in when]
    assert set(late) == {2, 3, 4, 5}
    assert len(late) >= 55
    assert listen(small_env(horizon=60, noise_std=1.0), delay=(2, 5))[0] == told


def test_the_results_of_a_batch_are_told_together_after_its_last_graph(small_env):
    told, result = listen(small_env(horizon=8), batch=3)
    assert [(choices, len(actions)) for choices, actions, _ in told] == [(3, 3), (6, 3), (9, 2)]
    assert [action for _, actions, _ in told for action in actions] == result.actions.tolist()
    assert all(len(set(actions)) == len(actions) for _, actions, _ in told)


def test_the_first_rounds_are_the_same_random_ones_for_every_agent_and_are_told(small_env):
    told, result = listen(small_env(horizon=9), random_rounds=4)
    assert [choices for choices, *_ in told] == [0] * 4 + [1, 2, 3, 4, 5]
    assert [action for _, actions, _ in told for action in actions] == result.actions.tolist()
    first = {
        tuple(run_bandit(small_env(horizon=9), registry.make_agent(name), 1, feedback=STARTS).actions[:4].tolist())
        for name in ("random", "gntk-ts", "ucb1")
    }
    assert first == {tuple(result.actions[:4].tolist())}
    assert len({tuple(run_bandit(small_env(), Listener(), seed, feedback=STARTS).actions[:4]) for seed in range(9)}) > 5


class Waiting(Listener):
    """A listener that also keeps which rewards are on their way when it chooses."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def select_awaiting(self, observation, count, awaiting, action_mask=None):
        self.asked.append((count, list(awaiting)))
        return [self.select_action(observation, action_mask)]


def test_an_agent_is_told_what_is_on_its_way_where_it_is_announced(small_env):
    for announced in (False, True):
        agent = Waiting()
        result = run_bandit(small_env(horizon=6), agent, feedback=Feedback(delay=2, announced=announced))
        assert bool(agent.asked) is announced
    actions = result.actions.tolist()
    assert agent.asked == [(1, actions[max(0, t - 2) : t]) for t in range(1, 6)]  # in the first round, nothing is


@pytest.mark.parametrize("kind", [Listener, Waiting])
def test_a_batch_that_may_repeat_graphs_is_chosen_one_after_the_other(small_env, kind):
    agent = kind()
    result = run_bandit(small_env(horizon=12), agent, feedback=Feedback(batch=8, distinct=False, random_rounds=2))
    actions = result.actions.tolist()
    assert [(choices, len(told)) for choices, told, _ in agent.told] == [(0, 2), (8, 8), (16, 2)]
    assert len(set(actions[2:10])) < 8  # of six graphs
    assert getattr(agent, "asked", [])[:7] == [(1, actions[2 : 2 + k]) for k in range(1, 8)][: 7 * (kind is Waiting)]


@pytest.mark.parametrize("settings", [{"feedback": Feedback(batch=7)}, {"replacement": False}])
def test_batches_that_cannot_be_played_are_refused(small_env, settings):
    feedback = settings.pop("feedback", Feedback(batch=2, distinct=False))
    with pytest.raises(ValueError, match="batch|distinct"):
        run_bandit(small_env(**settings), Listener(), feedback=feedback)
