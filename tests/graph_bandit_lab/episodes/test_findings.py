from types import SimpleNamespace

import numpy as np
import pytest
from support.molecules import some_molecules
from support.play import go_on

import registry
from graph_bandit_lab import run_bandit
from graph_bandit_lab.episodes import Feedback
from graph_bandit_lab.episodes.findings import Findings

MEANS = np.array([0.5, 3.0, 1.0, 2.0, 3.0, -1.0])


class Player:
    """An agent that plays given actions; `predicted` gives its predictions after 1, 2, ... rounds."""

    def __init__(self, actions, predicted=None):
        self.actions, self.rounds = actions, 0
        if predicted is not None:
            self.predict_means = lambda: np.asarray(predicted[self.rounds - 1], float)

    def reset(self, observation, seed=0, graph_set=None):
        self.rounds = 0

    def select_action(self, observation, action_mask=None):
        return self.actions[self.rounds]

    def update(self, observation, action, reward):
        self.rounds += 1


def play(small_env, agent, rounds=4, **changes):
    env = small_env(reward_model=MEANS.tolist(), noise_std=0.0, horizon=rounds, **changes)
    return run_bandit(env, agent)


def test_the_recommended_graph_has_the_largest_prediction_after_each_round(small_env):
    predicted = [[0, 0, 9, 0, 0, 0], [0, 0, 0, 9, 0, 0], [9, 0, 0, 0, 0, 0], [0, 9, 0, 0, 0, 0]]
    result = play(small_env, Player([5, 5, 5, 5], predicted))
    assert result.simple_regret.tolist() == [2.0, 1.0, 2.5, 0.0]


def test_without_predictions_the_best_observed_is_recommended(small_env):
    result = play(small_env, Player([5, 0, 3, 2]))
    assert result.simple_regret.tolist() == [4.0, 2.5, 1.0, 1.0]


def test_of_equal_predictions_the_first_is_recommended(small_env):
    predicted = [[0, 0, 1, 1, 0, 0], [0, 0, 1, 1 - 1e-14, 0, 0], [0, 0, 1 - 1e-14, 1, 0, 0], [0, 0, 1 - 1e-9, 1, 0, 0]]
    assert play(small_env, Player([5] * 4, predicted)).simple_regret.tolist() == [2.0, 2.0, 2.0, 1.0]


def test_the_order_of_the_graphs_does_not_matter_before_anything_is_known(small_env):
    expected = MEANS.max() - MEANS.mean()
    assert play(small_env, Player([5] * 4, [np.ones(6)] * 4)).simple_regret.tolist() == [expected] * 4
    silent = run_bandit(
        small_env(reward_model=MEANS.tolist(), noise_std=0.0, horizon=3), Player([5, 1, 2]), feedback=Feedback(delay=2)
    )
    assert silent.simple_regret.tolist() == [expected, expected, MEANS.max() - MEANS[5]]


@pytest.mark.parametrize("wrong", [[np.nan] * 6, [0, np.inf, 0, 0, 0, 0], [1.0, 2.0]])
def test_a_prediction_that_is_none_falls_back_to_the_best_observed(small_env, wrong):
    assert play(small_env, Player([3] * 4, [wrong] * 4)).simple_regret.tolist() == [1.0] * 4


def test_an_agent_that_chooses_batches_recommends_by_its_whole_prediction(small_env):
    agent = Player([5] * 4)
    agent.predict = lambda: SimpleNamespace(mean=MEANS)
    assert play(small_env, agent).simple_regret.tolist() == [4.0] * 4  # any `predict` may mean something else
    agent.select_batch = lambda: None
    assert play(small_env, agent).simple_regret.tolist() == [0.0] * 4


def test_the_best_found_and_the_top_are_those_of_the_graphs_played(small_env):
    """Of two equally good graphs the first is the top 1 % of six."""
    result = play(small_env, Player([5, 4, 2, 1]))
    assert result.best_found.tolist() == [-1.0, 3.0, 3.0, 3.0]
    assert result.top_share.tolist() == [0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize(("count", "top"), [(1, 1), (100, 1), (101, 2), (250, 3)])
def test_the_top_is_one_graph_of_each_hundred_rounded_up(count, top):
    generator = np.random.default_rng(count)
    means, actions = generator.permutation(count).astype(float), generator.integers(count, size=3 * count)
    findings = Findings(SimpleNamespace(mean_rewards=means, graph_set=None))
    best = {k for k in range(count) if means[k] >= count - top}
    for action in actions.tolist():
        findings.play(action, means)
        findings.tell(action, 0.0)
        findings.recommend(None)
    expected = [len(best & set(actions[: t + 1].tolist())) / top for t in range(len(actions))]
    assert findings.arrays()["top_share"].tolist() == expected


def test_graphs_that_are_not_on_offer_count(small_env):
    result = play(small_env, registry.make_agent("ucb1"), rounds=3, actions_per_round=1)
    assert (result.regret == 0).all()
    seen = [result.actions[: t + 1] for t in range(3)]
    assert result.simple_regret.tolist() == [3.0 - MEANS[played].max() for played in seen]


def played_where_means_drift(small_env, agent, **changes):
    """A result, and the `(T, K)` means of its rounds."""
    env = small_env(drift_rate=0.3, horizon=30, noise_std=0.0, num_graphs=150, **changes)
    env_seed, _ = np.random.SeedSequence(4).generate_state(2).tolist()
    env.reset(seed=env_seed)
    means = np.array([(env.unwrapped.mean_rewards, env.step(0))[0] for _ in range(30)])
    return run_bandit(env, agent, seed=4), means


@pytest.mark.parametrize("drift", ["walk", "jump"])
def test_where_means_drift_the_numbers_are_those_of_the_round(small_env, drift):
    """Against lists and loops, by the means of each round, which do not depend on what is played."""
    actions = np.random.default_rng(0).integers(150, size=30).tolist()
    predicted = np.random.default_rng(1).normal(size=(30, 150))
    result, means = played_where_means_drift(small_env, Player(actions, predicted), drift=drift)
    assert len(np.unique(means.argmax(axis=1))) > 3
    for t in range(30):
        ranked, played = sorted(range(150), key=lambda k: -means[t, k]), set(actions[: t + 1])
        assert result.regret[t] == means[t].max() - means[t, actions[t]]
        assert result.simple_regret[t] == means[t].max() - means[t, predicted[t].argmax()]
        assert result.best_found[t] == max(means[t, k] for k in played)
        assert result.top_share[t] == len(played & set(ranked[:2])) / 2


def test_what_was_the_best_counts_no_more_when_it_is_not(small_env):
    result, _ = played_where_means_drift(small_env, Player([k % 150 for k in range(30)]), drift="jump")
    assert (np.diff(result.best_found) < 0).any()
    assert (np.diff(result.top_share) < 0).any()


def test_where_graphs_change_from_round_to_round_nothing_adds_up(small_env):
    result = run_bandit(small_env(resample_graphs="round", horizon=3), registry.make_agent("lin-ts"))
    assert (result.simple_regret, result.best_found, result.top_share) == (None, None, None)
    assert run_bandit(small_env(resample_graphs="episode", horizon=3), Player([0] * 3)).best_found.shape == (3,)


def test_an_environment_that_does_not_tell_its_means_has_none(small_env):
    env = small_env(horizon=3)
    hidden = SimpleNamespace(reset=env.reset, step=env.step, unwrapped=None)
    assert run_bandit(hidden, Player([0] * 3)).simple_regret is None


@pytest.mark.parametrize("fail_at", [1, 3])
def test_a_repetition_that_diverged_has_numbers_of_the_rounds_played(small_env, fail_at):
    agent = Player([5, 3, 2, 1], [MEANS] * 4)  # which knows the best graph, but is not asked any more
    update = agent.update

    def fail(*given):
        update(*given)
        if agent.rounds == fail_at:
            raise FloatingPointError

    agent.update = fail
    result = play(small_env, agent)
    assert result.status == "diverged"
    assert result.simple_regret.tolist() == {1: [4.0], 3: [0.0, 0.0, 1.0]}[fail_at]
    assert len(result.best_found) == len(result.top_share) == fail_at


def test_a_prediction_that_diverges_changes_no_play(small_env):
    agent = Player([3] * 4)
    agent.predict_means = lambda: (_ for _ in ()).throw(FloatingPointError)
    result = play(small_env, agent)
    assert (result.status, result.simple_regret.tolist()) == ("finished", [1.0] * 4)


def test_an_episode_without_rounds_has_found_nothing(small_env):
    agent = Player([])
    agent.select_action = lambda *given: (_ for _ in ()).throw(FloatingPointError)
    result = play(small_env, agent)
    assert [len(array) for array in (result.simple_regret, result.best_found, result.top_share)] == [0, 0, 0]


@pytest.fixture(params=registry.list_agents())
def game(request, small_env):
    """A registered agent, and an environment on which it can play."""
    name = request.param
    fast = {"width": 16, "steps": 5} if name.startswith(("gnn", "nn", "epsilon")) else {}
    if registry.agent_needs(name) == "molecules":
        env = registry.make_environment(graphs=some_molecules(8), reward_model=np.arange(8.0), horizon=12)
        return env, registry.make_agent(name)
    return small_env(horizon=12), registry.make_agent(name, **fast)


def test_recording_changes_no_play_of_any_agent(game):
    env, agent = game
    result = run_bandit(env, agent, seed=3)
    env_seed, agent_seed = np.random.SeedSequence(3).generate_state(2).tolist()
    observation, info = env.reset(seed=env_seed)
    agent.reset(observation, seed=agent_seed, graph_set=env.unwrapped.graph_set)
    actions, rewards = go_on(env, agent, 12, observation, info["action_mask"])
    assert np.array_equal(result.actions, actions)
    assert np.array_equal(result.rewards, rewards)


def test_predicted_means_are_those_of_the_whole_prediction(game):
    env, agent = game
    result = run_bandit(env, agent, seed=3)
    if not hasattr(agent, "predict"):
        assert not hasattr(agent, "predict_means")
        return
    np.testing.assert_allclose(agent.predict_means(), agent.predict().mean, rtol=1e-12, atol=0)
    means = env.unwrapped.mean_rewards
    assert result.simple_regret[-1] == means.max() - means[agent.predict().mean.argmax()]


def test_a_recommendation_that_diverges_adds_no_number(small_env):
    class Broken(Player):
        def insight(self):
            raise FloatingPointError

    result = run_bandit(small_env(horizon=4), Broken([0] * 4), diagnose=True)
    assert result.status == "diverged"
    assert len(result.simple_regret) == len(result.actions)
