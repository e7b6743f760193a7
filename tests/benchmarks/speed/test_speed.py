"""The plain forms of the benchmarks are references too: autograd, and one backward pass per graph."""

import pytest
import torch
from llvmlite.binding import FeatureMap
from support.graphs import ragged_graphs
from torch_geometric.data import Batch

from benchmarks.speed import changing, kernels, pool, round_profile, whole_run
from benchmarks.speed.measure import Row, compare, in_a_process_of_its_own
from benchmarks.speed.plain import PlainFit, infinite_width_kernel_in_torch, one_backward_per_graph
from gntk import GraphMLP, aggregate_neighbours, infinite_width_kernel
from gntk.engines import Batches, CompiledNetwork

GRAPHS = aggregate_neighbours(Batch.from_data_list(ragged_graphs(sizes=(5, 1, 7, 3, 6))))
WEIGHTS = [weight.detach() for weight in GraphMLP(4, 10, zero_start=False).weights]
NETWORK = CompiledNetwork(GRAPHS, [weight.detach() for weight in GraphMLP(4, 10).weights])


def test_the_compiled_descent_is_that_of_an_optimizer_on_autograd():
    batches = Batches.of_size(torch.tensor([0, 3, 3, 1, 4, 2, 2]), torch.randn(7), 3)
    fit = PlainFit(WEIGHTS, GRAPHS, learning_rate=0.1, penalty=0.02)
    for index, targets in batches:
        fit.step(index.tolist(), targets)
    found = NETWORK.descend(WEIGHTS, WEIGHTS, batches, 0.1, 0.02)
    torch.testing.assert_close(found, [weight.detach() for weight in fit.network.parameters()])


def test_the_compiled_scores_are_those_of_one_backward_per_graph():
    values, squares = one_backward_per_graph(WEIGHTS, GRAPHS, torch.ones(50))
    found_values, found_squares = NETWORK.values_and_squares(WEIGHTS, torch.ones(50))
    torch.testing.assert_close(found_values, values)
    torch.testing.assert_close(found_squares.float(), squares)


def test_rounds_on_graphs_that_change_are_timed_late_and_early():
    row = changing.late_against_early("lin-ucb", rounds=8, memory=4, seed=0)
    assert row.name.endswith("a round at t=8 against t=2")
    assert row.value > 0
    assert changing.recognition(num_graphs=3, num_nodes=4).value > 0


def test_the_compiled_kernel_is_that_of_one_arc_cosine_a_pair():
    torch.testing.assert_close(infinite_width_kernel(GRAPHS), infinite_width_kernel_in_torch(GRAPHS), rtol=0, atol=1e-8)
    row = kernels.infinite_width(num_graphs=3, num_nodes=4, pairs=1)
    assert row.value > 0
    assert row.asked == "at least 4"


def test_the_step_is_measured_in_vectors_of_both_widths(monkeypatch):
    steps = iter([0.3, 0.5, 0.4, 0.6, 0.9, 0.7])  # 256 and 512 bits, in turn
    targets = []

    def run(module, pairs, NUMBA_CPU_FEATURES):
        targets.append(NUMBA_CPU_FEATURES[-len("+prefer-256-bit") :])
        return {"share": next(steps), "seconds": 1e-4, "rate": 50.0, "product": 100.0}

    monkeypatch.setattr(kernels, "in_a_process_of_its_own", run)
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", lambda: FeatureMap(avx512f=True))
    narrow, wide = kernels.widths(times=3)
    assert targets == ["+prefer-256-bit", "-prefer-256-bit"] * 3
    assert (narrow.value, wide.value) == (0.4, 0.6)
    assert kernels.measure_step(kernels.Fit(), pairs=1).share > 0
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", FeatureMap)
    with pytest.raises(ValueError, match="Expected a CPU with AVX-512"):
        kernels.widths()


def test_whole_runs_and_pools_are_measured_in_small_too():
    run = whole_run.play("gnn-ts:width=8,steps=2", num_graphs=4, num_nodes=5, horizon=3, repetitions=2)
    assert [len(clock) for clock in run["clocks"]] == [3, 3]
    assert len(set(run["regret"])) == 2
    assert run["peak_bytes"] > 1e7
    scored = in_a_process_of_its_own(pool.__name__, 12, 4, 3)
    assert scored["choice"] > 0
    assert scored["peak_bytes"] > 1e7


def test_a_part_leaves_out_the_time_of_the_parts_inside_it(monkeypatch):
    times = iter([0.0, 1.0, 3.0, 8.0, 10.0, 11.0, 12.0])  # start; into outer, inner and out; work of inner; the end
    monkeypatch.setattr("benchmarks.speed.round_profile.time.process_time", lambda: next(times))
    clock = round_profile.Clock()
    inner = clock.timed("inner", lambda n: n, lambda n: 5.0 * n)
    outer = clock.timed("outer", lambda n: inner(n) + 1)
    clock.start()
    assert outer(2) == 3
    clock.stop()
    assert clock.seconds == {"": 2.0, "outer": 3.0, "inner": 5.0}
    assert clock.operations == {"inner": 10.0}


def test_the_products_of_a_round_are_counted_by_hand():
    network = NETWORK  # 5 + 1 + 7 + 3 + 6 nodes, d = 4, m = 10
    assert round_profile.work_of_features(network, WEIGHTS, torch.tensor([0, 2])) == 4 * (5 + 7) * 4 * 10
    batches = Batches.of_size(torch.tensor([0, 0, 1, 3, 3]), torch.zeros(5), 3)  # graphs 0 and 1, then 3
    assert round_profile.work_of_descent(network, WEIGHTS, WEIGHTS, batches, 0.1, 0.01) == 4 * (5 + 1 + 3) * 4 * 10


def test_a_round_is_profiled_by_part():
    agent = "gnn-ts:width=8,steps=2"
    seconds, operations = round_profile.profile(agent, rounds=3, warm=2, num_graphs=4, num_nodes=5)
    assert set(seconds) == {"", *(part.name for part in round_profile.PARTS)}
    assert {name for name, count in operations.items() if count} == {p.name for p in round_profile.PARTS if p.work}


def test_products_are_compared_at_the_rate_of_their_precision():
    fit, gram = "steps of the fit", "cross-Gram of the graphs played"
    header, *parts, whole = round_profile.table_of(
        {fit: 0.3, gram: 0.6, "": 0.1}, {fit: 2e8, gram: 4e7}, 10, (1e9, 1e8)
    )
    assert parts == [(gram, "60.00", "60%", "40.00"), (fit, "30.00", "30%", "20.00"), ("the loop", "10.00", "10%", "")]
    assert whole == ("a round", "100.00", "100%", "60.00")
    assert len(header) == len(whole)


def test_a_row_knows_whether_its_aim_is_met():
    assert Row.at_least("a", 2.0, "x", 2).met
    assert not Row.at_least("a", 1.9, "x", 2).met
    assert Row.at_most("a", 2.0, "s", 2).met
    assert not Row.at_most("a", 2.1, "s", 2).met


def test_a_comparison_is_the_median_ratio_of_neighbours(monkeypatch):
    times = iter([2.0, 1.0, 9.0, 3.0, 40.0, 10.0])  # both slow down together, as on a noisy machine
    monkeypatch.setattr("benchmarks.speed.measure.seconds", lambda function: next(times))
    assert compare(int, int, pairs=3) == (3.0, 9.0, 3.0)
