"""Times of a sweep that was never timed: what is timed of it, and how that is carried over to the rest."""

import pickle
import time
from dataclasses import replace

import numpy as np
import pytest

import registry
from graph_bandit_lab import AgentSpec, EnvironmentSettings, Grid, Sweep, read_sweep, run_sweep
from graph_bandit_lab.design.plan import plan
from graph_bandit_lab.execution import InProcess, Workers, calibrate, describe_work, planning
from graph_bandit_lab.execution.calibration import ROUNDS, choose_probes, time_probe
from graph_bandit_lab.execution.costs import Costs, Timing, parts_of

SIZES = [(k, n) for k in (10, 50, 200) for n in (10, 50, 500)]


def repetitions(*agents, sizes=SIZES, seeds=(1, 2), **environment):
    settings = [EnvironmentSettings(**{"num_graphs": k, "num_nodes": n, **environment}) for k, n in sizes]
    return plan([Grid(tuple(settings), tuple(map(AgentSpec.parse, agents)))], seeds)


def timings(law, some, rounds=(1, 2, 4, 8, 64, 256), noise=0.0):
    """Timings of each repetition by a law of K, N and t; drawing an instance takes K N 1e-5 s, a reset K 1e-4 s."""
    rng, each = np.random.default_rng(0), []
    for repetition in some:
        k, n = (repetition.key.environment[name] for name in ("num_graphs", "num_nodes"))
        instance, reset, round_ = parts_of(repetition)
        each += [Timing(instance, k, n, 0.4, k * n * 1e-5, k * n * 5e-6), Timing(reset, k, n, 0.4, k * 1e-4, k * 5e-5)]
        for t in rounds:
            seconds = law(k, n, t) * (1 + noise * rng.choice([-1, 1]))
            each.append(Timing(round_, k, n, 0.4, seconds, seconds / 2, t))
    return each


LAWS = {
    "steps": lambda k, n, t: 1e-3 + 1e-4 * n + 4e-7 * k * n,
    "more distinct graphs with t": lambda k, n, t: 1e-3 + 1e-4 * n * (1 + 3 * t / (t + 30)),
    "epochs": lambda k, n, t: 1e-3 + 2e-5 * n * t + 4e-7 * k * n,
    "a kernel that grows": lambda k, n, t: 5e-4 + 1e-8 * t**2 + 2e-7 * k * t + 1e-7 * k**2,
}


@pytest.mark.parametrize("name", LAWS)
def test_the_growth_is_fitted_from_a_few_sizes_and_lengths(name):
    law, some = LAWS[name], repetitions("random", sizes=[(10, 10), (200, 10), (10, 100), (100, 100), (50, 50)])
    costs = Costs(timings(law, some))
    for repetition in repetitions("random", sizes=[(50, 10), (100, 50), (200, 100), (200, 500)], horizon=1000):
        k, n = (repetition.key.environment[size] for size in ("num_graphs", "num_nodes"))
        expected = k * n * 1e-5 + k * 1e-4 + sum(law(k, n, t) for t in range(1, 1001))
        assert costs.seconds(repetition) == pytest.approx(expected, rel=0.02)
        assert costs.by_cpu().seconds(repetition) == pytest.approx(expected / 2, rel=0.02)
        assert costs.seconds(repetition, 10) < 0.05 * expected
    assert costs.busy == pytest.approx(2.0)


def test_rounds_that_are_now_long_now_short_are_estimated_by_their_mean():
    """Errors relative to what was timed would let the short ones count most: 1 - 0.5^2 = 3/4 of it."""
    some = repetitions("random", horizon=200)
    costs = Costs(timings(LAWS["steps"], some, rounds=range(1, 200), noise=0.5))
    expected = Costs(timings(LAWS["steps"], some, rounds=range(1, 200)))
    assert sum(costs.each(some)) == pytest.approx(sum(expected.each(some)), rel=0.1)


def test_what_was_never_timed_is_like_the_nearest_that_was():
    linear, other = repetitions("random", "ucb1"), repetitions("random", "gntk-ts", reward_model="gp_gntk")
    costs = Costs(timings(LAWS["steps"], [one for one in linear if one.label == "random"]))
    random = [one for one in linear if one.label == "random"]
    assert costs.each([one for one in other if one.label == "random"]) == pytest.approx(costs.each(random))
    assert np.isnan(costs.seconds(linear[1]))
    mixed = costs.each(linear)
    assert mixed[1::2] == pytest.approx([np.mean(mixed[::2])] * len(random))
    assert np.isnan(Costs([]).each(linear)).all()


def test_probes_are_the_smallest_middle_and_largest_of_each_kind_small_ones_first():
    some = read_sweep("paper-table1").plan().repetitions
    probes = choose_probes(some)
    assert [probe.size for probe in probes] == sorted(probe.size for probe in probes)
    sizes = {tuple(p.repetitions[0].key.environment[n] for n in ("num_graphs", "num_nodes")) for p in probes}
    assert sizes == {(k, n) for k in (10, 100, 200) for n in (10, 100, 500)}
    assert len(probes) == 9 * 3  # rewards
    for probe in probes:
        assert len({one.key.environment_key for one in probe.repetitions}) == 1
        assert len({one.label for one in probe.repetitions}) == len(probe.repetitions) == 6
    probabilities = {probe.repetitions[0].key.environment["edge_prob"] for probe in probes}
    assert probabilities == {0.2, 0.4, 0.6, 0.8}


def test_settings_with_other_rates_take_turns_and_those_of_other_sizes_are_timed_each():
    rates = [f"gnn-ts:exploration_scale={nu},width={m}" for nu in (0.1, 1) for m in (8, 16)]
    probes = choose_probes(repetitions(*rates, sizes=[(3, 4), (5, 4)]))
    assert [[one.label for one in probe.repetitions] for probe in probes] == [rates[:2], rates[2:]]


class Sleeper:
    """Plays at random; a round takes 3 ms, and 0.02 ms for each result before it."""

    def __init__(self):
        agent = registry.make_agent("random")
        for name in ("select_action", "state_dict", "load_state_dict", "settings"):
            setattr(self, name, getattr(agent, name))
        self._agent = agent

    def reset(self, *arguments, **keywords):
        self.results = 0
        self._agent.reset(*arguments, **keywords)

    def update(self, observation, action, reward):
        time.sleep(0.003 + 2e-5 * self.results)
        self.results += np.size(action)
        self._agent.update(observation, action, reward)


class Impatient(Sleeper):
    """Takes one result at a time, and not more than four."""

    def update(self, observation, action, reward):
        self.results += 1
        if np.ndim(action) or self.results > 4:
            raise ValueError("No more.")


@pytest.fixture
def sleepers(monkeypatch):
    monkeypatch.setattr(registry, "_REGISTRATIONS", dict(registry._REGISTRATIONS))
    registry.register_agent("sleeper", Sleeper)
    registry.register_agent("impatient", Impatient)


def test_growth_with_t_is_timed_after_longer_histories(sleepers):
    (repetition,) = repetitions("sleeper", sizes=[(3, 4)], seeds=(1,), horizon=1000)
    (probe,) = choose_probes([repetition])
    timed = [timing for timing in time_probe(probe, 0.8) if timing.part[0] == "round"]
    assert max(timing.round for timing in timed) > 300
    assert sum(timing.count for timing in timed) <= ROUNDS
    costs = calibrate([repetition], InProcess, seconds=0.8, progress=False)
    assert 10 < costs.seconds(repetition) < 40  # 13 s where no sleep is too long, 3 s without growth
    assert costs.busy > 3  # it sleeps
    assert costs.took < 10


def test_a_batch_is_timed_as_one_fit_for_all_its_rounds(sleepers):
    single, batched = (repetitions("sleeper", sizes=[(20, 4)], horizon=200, batch=b)[0] for b in (1, 10))
    costs = calibrate([single, batched], InProcess, seconds=1.0, progress=False)
    assert costs.seconds(batched) < 0.3 * costs.seconds(single)  # 20 fits and 200, of equal lengths
    (probe,) = choose_probes([batched])
    timed = [timing for timing in time_probe(probe, 0.3) if timing.part[0] == "round"]
    assert sum(timing.count for timing in timed) % 10 == 0


@pytest.mark.parametrize(("batch", "horizon"), [(7, 10), (12, 10), (12, 100)])
def test_batches_that_do_not_fit_the_horizon_are_timed(batch, horizon):
    (repetition,) = repetitions("ucb1", sizes=[(12, 4)], seeds=(1,), horizon=horizon, batch=batch)
    (probe,) = choose_probes([repetition])
    timed = [timing for timing in time_probe(probe, 5.0) if timing.part[0] == "round"]
    assert sum(timing.count for timing in timed) == horizon


def test_what_an_agent_raises_leaves_what_was_timed_before(sleepers):
    (repetition,) = repetitions("impatient", sizes=[(3, 4)], seeds=(1,))
    (probe,) = choose_probes([repetition])
    timed = time_probe(probe, 0.5)
    assert [timing.part[0] for timing in timed] == ["instance", "reset", "round", "round", "round"]
    assert sum(timing.count for timing in timed[2:]) == 4


class Recorded(Workers):
    """Takes the shares that probes are given; every second a worker dies."""

    slots = 1

    def __init__(self):
        self.shares = []

    def submit(self, function, probe, share):
        self.shares.append(share)
        return InProcess().submit(fake_probe, probe)

    def shutdown(self, wait=True, *, cancel_futures=False):
        self.closed = True


def fake_probe(probe):
    return timings(LAWS["steps"], probe.repetitions)


def test_an_instance_that_would_take_too_long_is_left_to_the_fit():
    workers = Recorded()
    some = repetitions("random", "ucb1", horizon=1000)
    costs = calibrate(some, lambda: workers, seconds=0.2, progress=False)
    assert 3 <= len(workers.shares) < len(SIZES)  # drawing 200 graphs of 500 nodes takes a second by this law
    assert workers.closed
    k, n = 200, 500
    expected = k * n * 1e-5 + k * 1e-4 + 1000 * LAWS["steps"](k, n, 1)
    assert costs.seconds(some[-1]) == pytest.approx(expected, rel=0.5)


SWEEP = Sweep(title="two", grids=(Grid((EnvironmentSettings(horizon=8),), (AgentSpec.parse("random"),)),), seeds=(1, 2))


def test_a_dry_run_says_how_long_it_takes_here_and_on_a_cluster(tmp_path, monkeypatch):
    some = SWEEP.plan()
    law = lambda k, n, t: 450.0  # noqa: E731 - an hour for each of the two
    costs = Costs(timings(law, some.repetitions), took=2.0)
    monkeypatch.setattr(planning, "calibrate", lambda *_, **__: costs)
    first, second, third = describe_work(some, tmp_path, 1, open_workers=InProcess, cluster=100).splitlines()
    assert first == (
        "two: 2 repetitions, 0 stored, 2 to play; about 2.0 h with 1 worker, 1.0 h on a cluster of 100 such cores."
    )
    assert second == (
        "None of them is timed yet: their times are estimated from 12 warm rounds on 2 instances, played in 2.0 s."
    )
    assert third.endswith("rounds took 2.0 times their CPU time. By CPU time it is about 1.0 h with 1 worker, "
                          "30.0 min on a cluster of 100 such cores.")  # fmt: skip
    assert describe_work(some, tmp_path, 1) == "two: 2 repetitions, 0 stored, 2 to play; none is timed yet."
    assert not list(tmp_path.iterdir())


def test_what_is_stored_with_equal_settings_is_not_timed_again(tmp_path, monkeypatch):
    run_sweep(SWEEP, tmp_path, progress=False, report=False)
    agents = (AgentSpec.parse("random"), AgentSpec.parse("ucb1"))
    larger = replace(SWEEP, grids=(Grid(SWEEP.grids[0].environments, agents),), seeds=(1, 2, 3)).plan()

    def calibrate_others(repetitions, *_, **__):
        assert {repetition.label for repetition in repetitions} == {"ucb1"}
        return Costs(timings(LAWS["steps"], repetitions))

    monkeypatch.setattr(planning, "calibrate", calibrate_others)
    text = describe_work(larger, tmp_path, 1, open_workers=InProcess)
    assert "two: 6 repetitions, 2 stored, 4 to play; about" in text
    assert "3 of them are not timed yet" in text


def test_a_probe_reaches_another_process_whole():
    (probe,) = choose_probes(repetitions("random", sizes=[(3, 4)], horizon=8))
    assert pickle.loads(pickle.dumps(probe)) == probe
    assert sum(timing.count for timing in time_probe(probe, 5.0) if timing.part[0] == "round") == 8
