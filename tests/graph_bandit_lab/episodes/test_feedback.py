import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import registry
from graph_bandit_lab import AgentSpec, EnvironmentSettings, run_bandit
from graph_bandit_lab.design.plan import Grid, Sweep
from graph_bandit_lab.episodes import Feedback
from graph_bandit_lab.episodes.feedback import LateRewards, choose

ANY = [name for name in registry.list_agents() if registry.agent_needs(name) == "any"]
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


def test_a_reward_is_told_after_so_many_more_rounds(small_env):
    told, result = listen(small_env(horizon=10), delay=3)
    assert [choices for choices, *_ in told] == list(range(4, 11))
    assert [action for _, actions, _ in told for action in actions] == result.actions[:7].tolist()
    assert [reward for *_, rewards in told for reward in rewards] == result.rewards[:7].tolist()


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


def test_a_batch_is_no_larger_than_what_is_on_offer(small_env):
    told, result = listen(small_env(horizon=6, replacement=False), batch=4)
    assert [len(actions) for _, actions, _ in told] == [4, 2]
    assert sorted(result.actions) == list(range(6))


def test_a_batch_of_more_graphs_than_there_are_is_refused(small_env):
    with pytest.raises(ValueError, match="Expected `batch` to be at most 6, the number of graphs. Got 7."):
        run_bandit(small_env(horizon=30), Listener(), feedback=Feedback(batch=7))
    with pytest.raises(ValueError, match="at most 20, the number of graphs. Got 21"):
        Sweep(
            title="",
            grids=(Grid((EnvironmentSettings(num_graphs=20, batch=21),), (AgentSpec.parse("random"),)),),
            seeds=(1,),
        ).plan()


def test_rewards_of_batches_may_be_late_too(small_env):
    told, _ = listen(small_env(horizon=9), batch=3, delay=2)
    assert [(choices, len(actions)) for choices, actions, _ in told] == [(3, 1), (6, 3), (9, 3)]


def test_the_first_rounds_are_the_same_random_ones_for_every_agent_and_are_told(small_env):
    told, result = listen(small_env(horizon=9), random_rounds=4)
    assert [choices for choices, *_ in told] == [0] * 4 + [1, 2, 3, 4, 5]
    assert [action for _, actions, _ in told for action in actions] == result.actions.tolist()
    first = {
        tuple(run_bandit(small_env(horizon=9), registry.make_agent(name), 1, feedback=STARTS).actions[:4].tolist())
        for name in ANY
    }
    assert first == {tuple(result.actions[:4].tolist())}
    assert len({tuple(run_bandit(small_env(), Listener(), seed, feedback=STARTS).actions[:4]) for seed in range(9)}) > 5


def test_random_rounds_come_in_batches_too_and_end_where_the_agent_begins(small_env):
    told, result = listen(small_env(horizon=9), batch=3, random_rounds=4)
    assert [(choices, len(actions)) for choices, actions, _ in told] == [(0, 3), (0, 1), (3, 3), (6, 2)]
    assert len(set(result.actions[:3].tolist())) == 3


def test_random_rounds_are_among_the_graphs_on_offer(small_env):
    told, _ = listen(small_env(horizon=6, replacement=False), random_rounds=6)
    assert sorted(action for _, actions, _ in told for action in actions) == list(range(6))


def test_nobody_has_insight_into_random_rounds(small_env):
    with pytest.raises(ValueError, match="without random rounds"):
        run_bandit(small_env(), Listener(), diagnose=True, feedback=STARTS)


def test_an_agent_that_chooses_batches_is_asked_for_one():
    asked = []

    class Chooser:
        def select_batch(self, observation, count, action_mask):
            asked.append((count, np.array(action_mask).tolist()))
            return [2, 0]

    assert choose(Chooser(), None, np.array([1, 0, 1], np.int8), 5) == [2, 0]
    assert asked == [(2, [1, 0, 1])]


@pytest.mark.parametrize("name", ANY)
def test_every_agent_plays_with_late_rewards_and_in_batches(name, small_env):
    silent = Feedback(delay=2, announced=False)
    for feedback in (Feedback(batch=3), Feedback(delay=2), Feedback(batch=2, delay=(0, 4)), silent):
        results = [
            run_bandit(small_env(horizon=8, observe="indices"), make(name), seed=2, feedback=feedback) for _ in range(2)
        ]
        assert results[0].status == "finished"
        assert len(results[0].actions) == 8
        assert results[0].actions.tolist() == results[1].actions.tolist()


def test_an_agent_is_told_what_is_on_its_way_where_it_is_announced(small_env):
    asked = []

    class Waiting(Listener):
        def select_awaiting(self, observation, count, awaiting, action_mask=None):
            asked.append((count, list(awaiting)))
            return [self.select_action(observation, action_mask)]

    for announced in (False, True):
        result = run_bandit(small_env(horizon=6), Waiting(), feedback=Feedback(delay=2, announced=announced))
        assert bool(asked) is announced
    actions = result.actions.tolist()
    assert asked == [(1, actions[max(0, t - 2) : t]) for t in range(1, 6)]  # in the first round, nothing is on its way


def test_rewards_are_announced_where_there_is_a_delay():
    assert not Feedback().announces
    assert replace(Feedback(), delay=3).announces
    assert not Feedback(delay=3, announced=False).announces
    assert "announced" not in EnvironmentSettings(announced=False).to_dict()
    assert replace(EnvironmentSettings(), delay=3).to_dict()["announced"] is True


@pytest.mark.parametrize("name", ["gnn-ts", "gntk-ts", "gnn-greedy", "epsilon-greedy"])
def test_an_agent_whose_choice_does_not_depend_on_how_sure_it_is_plays_the_same_if_it_is_told(name, small_env):
    played = [
        run_bandit(small_env(horizon=25), make(name), seed=2, feedback=Feedback(delay=4, announced=announced)).actions
        for announced in (False, True)
    ]
    assert played[0].tolist() == played[1].tolist()


@pytest.mark.parametrize("name", ["gntk-ucb", "gntk-ei", "lin-ucb", "gnn-ucb"])
def test_an_agent_without_draws_plays_other_graphs_while_it_waits_if_it_is_told(name, small_env):
    played = {}
    for announced in (False, True):
        feedback = Feedback(delay=12, announced=announced)
        result = run_bandit(small_env(num_graphs=12, horizon=12), make(name), seed=3, feedback=feedback)
        played[announced] = len(set(result.actions.tolist()))
    assert played[True] > played[False]


def test_nothing_is_announced_of_graphs_that_are_gone_or_not_known(small_env):
    changing = small_env(resample_graphs="round")

    class Waiting(Listener):
        def select_awaiting(self, *given):
            pytest.fail(f"told of {given}")

    run_bandit(changing, Waiting(), feedback=Feedback(delay=2))
    assert EnvironmentSettings(resample_graphs="round", delay=2).to_dict()["announced"] is False
    same = small_env(horizon=6)
    hidden = SimpleNamespace(unwrapped=SimpleNamespace(), reset=same.reset, step=same.step, spec=None)
    run_bandit(hidden, Waiting(), feedback=Feedback(delay=2))


def test_announced_rewards_are_refused_with_diagnostics(small_env):
    with pytest.raises(ValueError, match="diagnostics without announced rewards"):
        run_bandit(small_env(), Listener(), diagnose=True, feedback=Feedback(delay=2))
    run_bandit(small_env(horizon=3), Listener(), diagnose=True, feedback=Feedback(delay=2, announced=False))
    with pytest.raises(ValueError, match="`announced` to be True or False. Got 1"):
        Feedback(announced=1)


def make(name):
    small = {"width": 16, "steps": 2} if name[:3] in ("gnn", "nn-") else {}
    return registry.make_agent(name, **small)


def test_late_rewards_of_graphs_that_change_are_told_with_the_graphs_that_were_played(small_env):
    env = small_env(horizon=8, resample_graphs="round")
    shown = []

    class Watcher(Listener):
        def select_action(self, observation, action_mask=None):
            shown.append(observation)
            return super().select_action(observation, action_mask)

        def update(self, observation, action, reward):
            assert observation is shown[len(self.told)]
            super().update(observation, action, reward)

    agent = Watcher()
    run_bandit(env, agent, feedback=Feedback(delay=3))
    assert len(agent.told) == 5


def test_a_batch_is_refused_where_rounds_offer_other_graphs(small_env):
    for changing in ({"actions_per_round": 3}, {"resample_graphs": "round"}):
        env, agent = small_env(horizon=30, **changing), Listener()
        with pytest.raises(ValueError, match="all rounds offer the same graphs. These rounds differ"):
            run_bandit(env, agent, feedback=Feedback(batch=3))
        assert agent.choices == 0
    with pytest.raises(ValueError, match="diagnostics without batches"):
        run_bandit(small_env(), Listener(), diagnose=True, feedback=Feedback(batch=2))


def test_a_batch_is_refused_in_an_environment_of_ones_own_whose_graphs_change(small_env):
    env = small_env(horizon=9, resample_graphs="round")
    hidden = SimpleNamespace(
        unwrapped=SimpleNamespace(), reset=env.reset, step=lambda action: change(env.step(action)), spec=None
    )

    def change(stepped):
        hidden.unwrapped.graph_set = env.unwrapped.graph_set
        return stepped

    with pytest.raises(ValueError, match="all rounds offer the same graphs"):
        run_bandit(hidden, Listener(), feedback=Feedback(batch=3))


@pytest.mark.parametrize("wrong", [[0, 0], [], [1, 2, 0], [0, 3], [0, 7]])
def test_a_batch_of_other_graphs_than_were_asked_for_is_refused(wrong):
    agent = SimpleNamespace(select_batch=lambda observation, count, mask: np.array(wrong, int))
    with pytest.raises(ValueError, match="2 different graphs on offer. Got"):
        choose(agent, None, np.array([1, 1, 1, 0], np.int8), 2)


def test_nothing_told_is_nothing_to_recommend_by(small_env):
    _, result = listen(small_env(horizon=3), delay=5)
    assert len(set(result.simple_regret)) == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"batch": 0}, "`batch` to be an integer >= 1. Got 0"),
        ({"batch": True}, "`batch` to be an integer"),
        ({"delay": -1}, "`delay` to be an integer >= 0, or"),
        ({"delay": (3, 2)}, r"Got \(3, 2\)"),
        ({"delay": (1, 2, 3)}, r"Got \(1, 2, 3\)"),
        ({"delay": 1.5}, "Got 1.5"),
    ],
)
def test_numbers_out_of_range_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        Feedback(**given)


def test_equal_choices_are_equal_settings():
    assert Feedback(delay=[2, 2]) == Feedback(delay=2)
    assert Feedback(delay=[2, 3]) == Feedback(delay=(2, 3))
    assert json.dumps(vars(Feedback(batch=np.int64(2), delay=np.int64(3))))


def test_no_reward_is_lost_or_told_twice():
    rng, told = np.random.default_rng(0), []
    late = LateRewards(Feedback(delay=(0, 7)), np.random.default_rng(1))
    for t in range(200):
        late.add(None, None, t, float(rng.random()))
        told += [action for _, action, _ in late.take_due()]
    assert len(told) == len(set(told))
    assert set(range(190)) <= set(told)


def test_an_agent_without_batches_chooses_one_different_graph_after_the_other():
    first = SimpleNamespace(select_action=lambda observation, mask: int(np.flatnonzero(mask)[0]))
    mask = np.array([0, 1, 1, 0, 1], np.int8)
    assert choose(first, None, mask, 2) == [1, 2]
    assert choose(first, None, mask, 9) == [1, 2, 4]
    assert choose(first, None, mask, 1) == [1]
    assert mask.tolist() == [0, 1, 1, 0, 1]
