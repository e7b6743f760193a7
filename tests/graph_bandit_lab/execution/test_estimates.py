"""Times of repetitions of which none is stored: what is played of them, and how that is carried over to the rest."""

import time
from dataclasses import replace

import numpy as np
import pytest

import registry
from graph_bandit_lab import AgentSpec, EnvironmentSettings, Grid, Sweep, run_sweep
from graph_bandit_lab.design.plan import plan
from graph_bandit_lab.execution import InProcess, describe_work, estimates, planning
from graph_bandit_lab.execution.estimates import BATCHES, Estimates, estimate_times, time_repetition

SIZES = [(k, n) for k in (10, 50, 200) for n in (10, 50, 500)]


def repetitions(*agents, sizes=SIZES, seeds=(1, 2), **environment):
    settings = [EnvironmentSettings(**{"num_graphs": k, "num_nodes": n, **environment}) for k, n in sizes]
    return plan([Grid(tuple(settings), tuple(map(AgentSpec.parse, agents)))], seeds)


class Sleeper:
    """Plays at random; a round takes 3 ms, and 0.02 ms for each result before it."""

    def __init__(self):
        agent = registry.make_agent("random")
        for name in ("select_action", "state_dict", "load_state_dict", "settings"):
            setattr(self, name, getattr(agent, name))
        self._agent = agent

    def reset(self, *arguments, **keywords):
        self.results, self.fits = 0, 0
        self._agent.reset(*arguments, **keywords)

    def update(self, observation, action, reward):
        time.sleep(0.003 + 2e-5 * self.results)
        self.results += np.size(action)
        self.fits += 1
        self._agent.update(observation, action, reward)


class Impatient(Sleeper):
    """Takes not more than four results."""

    def update(self, observation, action, reward):
        super().update(observation, action, reward)
        if self.results > 4:
            raise self.error("No more.")


@pytest.fixture(autouse=True)
def sleepers(monkeypatch):
    monkeypatch.setattr(registry, "_REGISTRATIONS", dict(registry._REGISTRATIONS))
    monkeypatch.setattr(Impatient, "error", ValueError, raising=False)
    registry.register_agent("sleeper", Sleeper)
    registry.register_agent("impatient", Impatient)


def test_growth_with_t_is_timed_halfway():
    (repetition,) = repetitions("sleeper", sizes=[(3, 4)], seeds=(1,), horizon=1000)
    begin = time.monotonic()
    wall, cpu = time_repetition(repetition)
    assert time.monotonic() - begin < 5
    assert 12 < wall < 40  # 13 s where no sleep is too long, 3 s without growth
    assert cpu < wall / 3  # it sleeps


def test_a_batch_is_timed_as_one_fit_for_all_its_rounds():
    single, batched = (repetitions("sleeper", sizes=[(20, 4)], horizon=200, batch=b)[0] for b in (1, 10))
    assert time_repetition(batched)[0] < 0.3 * time_repetition(single)[0]  # 20 fits and 200, of equal lengths


@pytest.mark.parametrize(("batch", "horizon"), [(1, 1), (1, 2), (1, 9), (7, 10), (12, 10), (12, 100)])
def test_any_horizon_is_timed_with_whole_batches_and_as_much_experience_as_halfway(batch, horizon):
    agents = []
    registry.register_agent("watched", lambda: agents.append(Sleeper()) or agents[-1])
    (repetition,) = repetitions("watched", sizes=[(12, 4)], seeds=(1,), horizon=horizon, batch=batch)
    assert all(0 < seconds < np.inf for seconds in time_repetition(repetition))
    few = batch * min(BATCHES, max(1, horizon // 2 // batch))
    more = max(0, horizon // 2 - few)
    assert agents[-1].results == 2 * few + more
    assert agents[-1].fits == 2 * few // batch + bool(more)


@pytest.mark.parametrize("changes", [{"num_graphs": (3, 6)}, {"resample_graphs": "round", "num_graphs": (3, 6)}])
def test_graphs_that_change_are_timed(changes):
    (repetition,) = repetitions("epsilon-greedy", sizes=[(6, 4)], seeds=(1,), horizon=60, **changes)
    assert all(0 < seconds < np.inf for seconds in time_repetition(repetition))


def test_an_agent_that_diverges_takes_as_long_as_it_plays(monkeypatch):
    monkeypatch.setattr(Impatient, "error", FloatingPointError)
    (repetition,) = repetitions("impatient", sizes=[(3, 4)], seeds=(1,), horizon=100_000)
    assert 5 * 0.003 < time_repetition(repetition)[0] < 2


def test_an_agent_that_cannot_be_timed_counts_as_the_mean_of_the_others():
    some = repetitions("sleeper", "impatient", sizes=[(3, 4)], seeds=(1, 2))
    found = estimate_times(some, InProcess, progress=False)
    assert (found.tried, found.kinds) == (1, 2)
    assert found.wall == pytest.approx([found.wall[0]] * 4)
    assert np.isnan(estimate_times(some[1::2], InProcess, progress=False).wall).all()


def law(repetition):
    """Seconds by a law that is in proportion to K N T: tried ones and the others are all as they should be."""
    environment = repetition.key.environment
    wall = 1e-6 * environment["num_graphs"] * environment["num_nodes"] * environment["horizon"]
    time.sleep(0.02)
    return np.array([wall, wall / 2])


def test_kinds_that_are_left_when_the_time_is_up_are_in_proportion(monkeypatch):
    monkeypatch.setattr(estimates, "time_repetition", law)
    some = [*repetitions("random", "ucb1", horizon=300), *repetitions("random", "ucb1", horizon=1000)]
    found = estimate_times(some, InProcess, progress=False, seconds=0.3)
    assert 2 < found.tried < found.kinds == 4 * len(SIZES)
    assert found.took < 1
    assert found.wall == pytest.approx([law(repetition)[0] for repetition in some])
    assert found.cpu == pytest.approx(found.wall / 2)


def test_of_other_environments_the_same_kind_counts_before_a_nearer_size():
    (large,), (small,) = (repetitions("random", sizes=[size], seeds=(1,), batch=5) for size in ((50, 50), (10, 10)))
    (other,) = repetitions("random", sizes=[(50, 40)], seeds=(1,))
    timed = [(other, np.ones(2)), (small, np.full(2, 7.0))]
    assert estimates._carry_over(timed, large) == pytest.approx([7.0 * 25] * 2)
    assert estimates._carry_over(timed[:1], large) == pytest.approx([1.25] * 2)


def test_settings_with_other_rates_are_of_one_kind_and_those_of_other_sizes_are_not(monkeypatch):
    monkeypatch.setattr(estimates, "time_repetition", law)
    rates = [f"gnn-ts:exploration_scale={nu},width={m}" for nu in (0.1, 1) for m in (8, 16)]
    assert estimate_times(repetitions(*rates, sizes=[(3, 4), (5, 4)]), InProcess, progress=False).kinds == 2 * 2


SWEEP = Sweep(title="two", grids=(Grid((EnvironmentSettings(horizon=8),), (AgentSpec.parse("random"),)),), seeds=(1, 2))


def test_a_dry_run_says_how_long_it_takes_here_and_on_a_cluster(tmp_path, monkeypatch):
    some, hour = SWEEP.plan(), np.full(2, 3600.0)
    monkeypatch.setattr(planning, "estimate_times", lambda *_, **__: Estimates(hour, hour / 2, 1, 3, 2.0))
    first, second, third = describe_work(some, tmp_path, 1, open_workers=InProcess, cluster=100).splitlines()
    assert first == (
        "two: 2 repetitions, 0 stored, 2 to play; about 2.0 h with 1 worker, 1.0 h on a cluster of 100 such cores."
    )
    assert second == (
        "None of them is timed yet: their times are estimated from a few rounds of 1 of their 3 kinds, "
        "played in 2.0 s, and are rough."
    )
    assert third.endswith("rounds took 2.0 times their CPU time. By CPU time it is about 1.0 h with 1 worker, "
                          "30.0 min on a cluster of 100 such cores.")  # fmt: skip
    assert describe_work(some, tmp_path, 1) == "two: 2 repetitions, 0 stored, 2 to play; none is timed yet."
    assert not list(tmp_path.iterdir())


def test_a_dry_run_of_an_agent_that_cannot_be_timed_says_so(tmp_path):
    grids = (Grid((EnvironmentSettings(horizon=100),), (AgentSpec.parse("impatient"),)),)
    text = describe_work(replace(SWEEP, grids=grids).plan(), tmp_path, 1, open_workers=InProcess, progress=False)
    assert "2 to play; no agent could be timed." in text


def test_what_is_stored_with_equal_settings_is_not_timed_again(tmp_path, monkeypatch):
    run_sweep(SWEEP, tmp_path, progress=False, report=False)
    agents = (AgentSpec.parse("random"), AgentSpec.parse("ucb1"))
    larger = replace(SWEEP, grids=(Grid(SWEEP.grids[0].environments, agents),), seeds=(1, 2, 3)).plan()

    def estimate_others(repetitions, *_, **__):
        assert {repetition.label for repetition in repetitions} == {"ucb1"}
        return Estimates(np.ones(3), np.ones(3), 1, 1, 1.0)

    monkeypatch.setattr(planning, "estimate_times", estimate_others)
    text = describe_work(larger, tmp_path, 1, open_workers=InProcess)
    assert "two: 6 repetitions, 2 stored, 4 to play; about" in text
    assert "3 of them are not timed yet" in text
