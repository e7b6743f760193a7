"""What an agent found and believed in an episode, by the true means."""

from types import SimpleNamespace

import numpy as np
import pytest

import registry
from graph_bandit_lab import run_bandit
from graph_bandit_lab.episodes.findings import DIAGNOSTICS, Diagnostics, Findings

THREE = np.array([0.0, 1.0, 2.0])


def record(mask=(1, 1, 1), action=0, rounds=1, **changes):
    """Record a belief that is right about all three graphs, but for `changes`."""
    belief = {
        "mean": THREE + 0.1,
        "spread": np.full(3, 0.2),
        "sampled": THREE + 0.15,
        "variance": np.array([0.5, 3.0, 0.1]),
        "log_determinant": 7.0,
        "effective_dimension": 2.5,
        "misfit": 1.2,
    }
    agent = SimpleNamespace(insight=lambda: SimpleNamespace(**{**belief, **changes}))
    diagnostics = Diagnostics()
    for _ in range(rounds):
        diagnostics.record(agent, THREE, action, mask)
    return {name: values[-1] for name, values in diagnostics.arrays().items()}


@pytest.mark.parametrize(("rounds", "width"), [(1, 1.482), (2, 2.225), (5, 2.938)])
@pytest.mark.parametrize("side", [-1, 1])
def test_the_sampling_event_ends_at_its_width(rounds, width, side):
    """c_t = sqrt(4 log t + 2 log 3)."""
    for spreads, passes in ((width, 1), (width + 0.01, 0)):
        row = record(sampled=THREE + 0.1 + side * spreads * 0.2, rounds=rounds)
        assert row["sample_event"] == passes


def test_the_optimism_event_is_of_the_best_graph_on_offer():
    high = THREE + 0.1 + [0.0, 0.0, 0.21]
    assert record(sampled=high)["optimism_event"] == 1
    assert record(sampled=high, mask=(1, 1, 0))["optimism_event"] == 0
    assert record(sampled=THREE + 0.1 - 0.3)["optimism_event"] == 0


@pytest.mark.parametrize("name", ["gnn-ts", "gntk-ucb", "random"])
def test_diagnostics_change_no_action(small_env, name):
    settings = {"width": 16, "steps": 5} if name.startswith(("gnn", "nn")) else {}
    plain, told = (
        run_bandit(small_env(), registry.make_agent(name, **settings), seed=5, diagnose=diagnose)
        for diagnose in (False, True)
    )
    assert np.array_equal(plain.actions, told.actions)
    assert plain.diagnostics is None
    if name == "random":
        assert told.diagnostics == {}
    else:
        assert set(told.diagnostics) == set(DIAGNOSTICS)
        assert {len(values) for values in told.diagnostics.values()} == {30}


@pytest.mark.parametrize("settings", [{"gradients_at": "initial"}, {"history": "frozen"}])
def test_the_potential_stays_below_twice_the_log_determinant_that_the_covariance_has(small_env, settings):
    """The determinant comes from the covariance's factor, the potential from its variances."""
    agent = registry.make_agent("gnn-ts", width=16, steps=5, **settings)
    found = run_bandit(small_env(), agent, seed=3, diagnose=True).diagnostics
    potential = found["potential"].cumsum()[:-1]
    assert (potential <= 2 * found["log_determinant"][1:] + 1e-9).all()
    assert found["log_determinant"][0] == 0
    assert (np.diff(found["log_determinant"]) > 0).all()


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
    assert findings.arrays()["top_recall"].tolist() == expected


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
        assert result.top_recall[t] == len(played & set(ranked[:2])) / 2


def test_where_graphs_change_from_round_to_round_nothing_adds_up(small_env):
    result = run_bandit(small_env(resample_graphs="round", horizon=3), registry.make_agent("lin-ts"))
    assert (result.simple_regret, result.best_found, result.top_recall) == (None, None, None)
    assert run_bandit(small_env(resample_graphs="episode", horizon=3), Player([0] * 3)).best_found.shape == (3,)
