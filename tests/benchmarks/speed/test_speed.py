"""The plain forms of the benchmarks are references too: autograd, and one backward pass per graph."""

import torch
from support.graphs import ragged_graphs
from torch_geometric.data import Batch

from benchmarks.speed import kernels, pool, whole_run
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


def test_the_compiled_kernel_is_that_of_one_arc_cosine_a_pair():
    torch.testing.assert_close(infinite_width_kernel(GRAPHS), infinite_width_kernel_in_torch(GRAPHS), rtol=0, atol=1e-8)
    row = kernels.infinite_width(num_graphs=3, num_nodes=4, pairs=1)
    assert row.value > 0
    assert row.asked == "at least 4"


def test_whole_runs_and_pools_are_measured_in_small_too():
    run = whole_run.play("gnn-ts:width=8,steps=2", num_graphs=4, num_nodes=5, horizon=3, repetitions=2)
    assert [len(clock) for clock in run["clocks"]] == [3, 3]
    assert len(set(run["regret"])) == 2
    assert run["peak_bytes"] > 1e7
    assert len(whole_run.play("lin-ucb", 4, 5, 3, repetitions=1, changing=1)["clocks"][0]) == 3
    scored = in_a_process_of_its_own(pool.__name__, 12, 4, 3)
    assert scored["choice"] > 0
    assert scored["peak_bytes"] > 1e7


def test_a_row_knows_whether_its_aim_is_met():
    assert Row.at_least("a", 2.0, "x", 2).met
    assert not Row.at_least("a", 1.9, "x", 2).met
    assert Row.at_most("a", 2.0, "s", 2).met
    assert not Row.at_most("a", 2.1, "s", 2).met


def test_a_comparison_is_the_median_ratio_of_neighbours(monkeypatch):
    times = iter([2.0, 1.0, 9.0, 3.0, 40.0, 10.0])  # both slow down together, as on a noisy machine
    monkeypatch.setattr("benchmarks.speed.measure.seconds", lambda function: next(times))
    assert compare(int, int, pairs=3) == (3.0, 9.0, 3.0)
