import math
from types import SimpleNamespace

import numpy as np
import pytest
from support.play import play

import registry
from graph_bandit_lab import RunSettings, load_results, run_bandit, run_experiment, write_report
from graph_bandit_lab.design import EnvironmentSettings
from graph_bandit_lab.episodes.diagnostics import DIAGNOSTICS, Diagnostics
from graph_bandit_lab.reports.figures import diagnostics_figure
from graph_bandit_lab.storage.results import ResultStore

MEANS = np.array([0.0, 1.0, 2.0])
LAST_IS_OFF = np.array([0.1, 0.1, 0.3])


def record(mask=(1, 1, 1), action=0, rounds=1, **changes):
    """Record a belief that is right about all three graphs, but for `changes`."""
    belief = {
        "mean": MEANS + 0.1,
        "spread": np.full(3, 0.2),
        "sampled": MEANS + 0.15,
        "variance": np.array([0.5, 3.0, 0.1]),
        "log_determinant": 7.0,
        "effective_dimension": 2.5,
    }
    agent = SimpleNamespace(insight=lambda: SimpleNamespace(**{**belief, **changes}))
    diagnostics = Diagnostics()
    for _ in range(rounds):
        diagnostics.record(agent, MEANS, action, mask)
    return {name: values[-1] for name, values in diagnostics.arrays().items()}


def test_the_means_event_asks_every_graph_on_offer():
    assert record()["mean_event"] == 1
    assert record(mean=MEANS + LAST_IS_OFF)["mean_event"] == 0
    assert record(mean=MEANS + LAST_IS_OFF, mask=(1, 1, 0))["mean_event"] == 1
    assert record(mean=MEANS - 0.19)["mean_event"] == 1


@pytest.mark.parametrize("drift", ["walk", "jump"])
def test_where_means_drift_beliefs_are_compared_with_those_of_the_round(small_env, drift):
    """The belief of this agent is right to the last digit, as long as it is asked in its round."""
    env = small_env(horizon=20, drift=drift, drift_rate=0.4)
    agent = registry.make_agent("random")
    agent.insight = lambda: SimpleNamespace(
        mean=env.unwrapped.mean_rewards,
        spread=np.full(6, 1e-12),
        sampled=None,
        variance=np.ones(6),
        log_determinant=0.0,
        effective_dimension=1.0,
    )
    assert run_bandit(env, agent, diagnose=True).diagnostics["mean_event"].tolist() == [1.0] * 20


def test_the_sampling_event_widens_with_the_rounds():
    """c_t = sqrt(4 log t + 2 log K) is 1.48 at t = 1 and 2.48 at t = 3: a draw 2 nu sigma away passes then."""
    far = MEANS + 0.1 + 2 * 0.2
    assert record(sampled=far)["sample_event"] == 0
    assert record(sampled=far, rounds=3)["sample_event"] == 1


@pytest.mark.parametrize(("rounds", "width"), [(1, 1.482), (2, 2.225), (5, 2.938)])
@pytest.mark.parametrize("side", [-1, 1])
def test_the_sampling_event_ends_at_its_width(rounds, width, side):
    """c_t = sqrt(4 log t + 2 log 3)."""
    for spreads, passes in ((width, 1), (width + 0.01, 0)):
        row = record(sampled=MEANS + 0.1 + side * spreads * 0.2, rounds=rounds)
        assert row["sample_event"] == passes


def test_a_draw_that_is_the_mean_of_a_belief_without_spread_is_within_it():
    assert record(sampled=MEANS + 0.1, spread=np.zeros(3))["sample_event"] == 1


def test_at_the_bound_the_mean_is_still_within_and_the_draw_not_yet_optimistic():
    row = record(mean=MEANS + 0.25, spread=np.full(3, 0.25), sampled=MEANS + 0.5)
    assert (row["mean_event"], row["optimism_event"]) == (1, 0)


def test_the_optimism_event_is_of_the_best_graph_on_offer():
    high = MEANS + 0.1 + [0.0, 0.0, 0.21]
    assert record(sampled=high)["optimism_event"] == 1
    assert record(sampled=high, mask=(1, 1, 0))["optimism_event"] == 0
    assert record(sampled=MEANS + 0.1 - 0.3)["optimism_event"] == 0


def test_a_rule_that_draws_no_rewards_has_no_such_events():
    row = record(sampled=None)
    assert row["mean_event"] == 1
    assert math.isnan(row["sample_event"])
    assert math.isnan(row["optimism_event"])


def test_the_potential_is_of_the_graph_played_and_at_most_one():
    assert [record(action=action)["potential"] for action in range(3)] == [0.5, 1.0, 0.1]
    assert record()["log_determinant"] == 7
    assert record()["effective_dimension"] == 2.5


def test_an_agent_without_insight_leaves_no_records():
    diagnostics = Diagnostics()
    diagnostics.record(object(), MEANS, 0, [1, 1, 1])
    assert diagnostics.arrays() == {}


@pytest.mark.parametrize("name", ["gnn-ts", "gnn-ucb", "nn-pe", "gnn-greedy", "gntk-ts", "gntk-ucb", "ucb1", "random"])
def test_diagnostics_change_no_action(small_env, name):
    settings = {"width": 16, "steps": 5} if name.startswith(("gnn", "nn")) else {}
    plain, told = (
        run_bandit(small_env(), registry.make_agent(name, **settings), seed=5, diagnose=diagnose)
        for diagnose in (False, True)
    )
    assert np.array_equal(plain.actions, told.actions)
    assert plain.diagnostics is None
    if name in ("ucb1", "random"):
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


def test_a_good_agent_with_a_wide_spread_is_right_about_the_means(small_env):
    agent = registry.make_agent("gntk-ts", exploration_scale=5.0)
    found = run_bandit(small_env(reward_model="linear"), agent, seed=3, diagnose=True).diagnostics
    assert found["mean_event"].mean() > 0.8
    assert found["sample_event"].mean() > 0.9


def test_insight_is_refused_where_nothing_was_chosen(small_env):
    for name in ("gnn-ts", "gntk-ts"):
        agent = registry.make_agent(name)
        play(small_env(), agent, 2)
        with pytest.raises(RuntimeError, match="between `select_action` and `update`"):
            agent.insight()


def settings(folder, **changes):
    environment = EnvironmentSettings(num_graphs=6, num_nodes=5, feature_dim=3, horizon=20)
    agents = ("gnn-ts:width=8,steps=3", "gntk-ucb", "random")
    return RunSettings(out=folder, agents=agents, environment=environment, repetitions=2, **changes)


def test_a_run_can_be_asked_for_diagnostics_later(tmp_path):
    run_experiment(settings(tmp_path))
    before = load_results(tmp_path)
    assert not before["diagnostics"].map(bool).any()
    assert run_experiment(settings(tmp_path, diagnostics=True)).played == 6
    after = load_results(tmp_path)
    assert after.drop(columns="diagnostics").astype(str).equals(before.drop(columns="diagnostics").astype(str))
    assert after["diagnostics"].map(bool).sum() == 4
    assert run_experiment(settings(tmp_path, diagnostics=True)).played == 0  # random has none to give
    assert run_experiment(settings(tmp_path)).played == 0


def test_diagnostics_of_other_play_are_refused_and_nothing_changes(tmp_path, monkeypatch):
    run_experiment(settings(tmp_path))
    store_add = ResultStore.add_diagnostics

    def of_other_play(store, key, seed, result):
        result.actions[0] += 1
        store_add(store, key, seed, result)

    monkeypatch.setattr(ResultStore, "add_diagnostics", of_other_play)
    with pytest.raises(ValueError, match="to play as it did"):
        run_experiment(settings(tmp_path, diagnostics=True))
    assert not load_results(tmp_path)["diagnostics"].map(bool).any()


def test_the_report_draws_them(tmp_path):
    run_experiment(settings(tmp_path, diagnostics=True))
    html = write_report(tmp_path).read_text()
    assert "Diagnostics of each round" in html
    assert (tmp_path / "diagnostics.png").stat().st_size > 10_000
    figure = diagnostics_figure(load_results(tmp_path), ["gnn-ts:width=8,steps=3", "gntk-ucb", "random"])
    lines = [len(axes.lines) for axes in figure.axes]
    assert lines == [2, 1, 1, 4, 2, 0]  # gntk-ucb draws no rewards; each agent's potential has its bound
