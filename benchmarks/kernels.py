"""The training step and the scores, against matrix products, autograd and one backward pass per graph."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from benchmarks.measure import Row, compare
from benchmarks.plain import PlainFit, one_backward_per_graph
from gntk import (
    AggregatedGraphs,
    Batches,
    GraphMLP,
    aggregate_neighbours,
    descend,
    fused_descend,
    fused_values_and_squares,
    pad_graphs,
)

NODES, FEATURES, WIDTH, BATCH, GRAPHS, STEPS = 50, 10, 512, 5, 100, 50
SGEMM = 512  # side of the square matrices that the same core multiplies


def graphs_of(num_graphs: int, num_nodes: int, feature_dim: int) -> AggregatedGraphs:
    """Return random graphs, aggregated."""
    generator = torch.Generator().manual_seed(0)
    edges = torch.randint(num_nodes, (2, 10 * num_nodes), generator=generator)
    nodes = torch.randn(num_graphs, num_nodes, feature_dim, generator=generator)
    return aggregate_neighbours(Batch.from_data_list([Data(x=x, edge_index=edges) for x in nodes]))


def rows() -> tuple[list[Row], float]:
    """Return the rows of one training step and of scoring, on one thread; and the seconds of such a step."""
    graphs = graphs_of(GRAPHS, NODES, FEATURES)
    padded, weights = pad_graphs(graphs), [weight.detach() for weight in GraphMLP(FEATURES, WIDTH).weights]
    generator = torch.Generator().manual_seed(1)
    distinct = [torch.randperm(GRAPHS, generator=generator)[:BATCH] for _ in range(STEPS)]  # no repeats to merge
    index = torch.cat(distinct)
    batches = Batches.of_size(index, torch.randn(STEPS * BATCH, generator=generator), BATCH)
    plain, some = PlainFit(weights, graphs, 0.1, 0.01), next(iter(batches))
    square = torch.randn(SGEMM, SGEMM)
    precision = torch.rand((FEATURES + 1) * WIDTH)

    def compiled() -> None:
        fused_descend(weights, weights, padded, batches, 0.1, 0.01)

    def score() -> None:
        fused_values_and_squares(weights, padded, precision)

    flops, sgemm_flops = 4 * BATCH * NODES * FEATURES * WIDTH, 2 * SGEMM**3
    _, sgemm, fit = compare(lambda: square @ square, compiled)
    step = fit / STEPS
    autograd, plain_step, _ = compare(lambda: plain.step(some[0].tolist(), some[1]), compiled)
    torch_form, *_ = compare(lambda: descend(weights, weights, graphs, batches, 0.1, 0.01), compiled, pairs=5)
    scores, slow, fast = compare(lambda: one_backward_per_graph(weights, graphs, precision), score, pairs=5)
    shape = f"N={NODES}, d={FEATURES}, m={WIDTH}, batch of {BATCH}"
    share = (flops / step) / (sgemm_flops / sgemm)
    found = [
        Row.at_least(
            f"training step, {shape}: share of sgemm's GFLOP/s",
            share,
            "",
            0.6,
            f"{step * 1e6:.0f} us a step, {flops / step / 1e9:.0f} of {sgemm_flops / sgemm / 1e9:.0f} GFLOP/s",
        ),
        Row.at_least("the same against autograd", autograd * STEPS, "x", 5, f"{plain_step * 1e6:.0f} us a step"),
        Row("the same against hand-written gradients in torch", torch_form, "x"),
        _deeper(square),
        Row(
            f"scores of {GRAPHS} graphs against one backward per graph",
            scores,
            "x",
            detail=f"{fast * 1e3:.1f} ms against {slow * 1e3:.0f} ms",
        ),
    ]
    return found, step


def _deeper(square: Tensor) -> Row:
    """How much of a step at L = 3 torch spends in matrix products already, so that compiled loops could not save it."""
    graphs, weights = (
        graphs_of(BATCH, NODES, FEATURES),
        [w.detach() for w in GraphMLP(FEATURES, WIDTH, depth=3).weights],
    )
    batches = Batches.of_size(torch.arange(BATCH), torch.randn(BATCH), BATCH)
    _, sgemm, step = compare(lambda: square @ square, lambda: descend(weights, weights, graphs, batches, 0.1, 0.01), 5)
    flops = BATCH * NODES * WIDTH * (4 * FEATURES + 6 * WIDTH)
    share = (flops / step) / (2 * SGEMM**3 / sgemm)
    name = "training step at L=3, in torch: share of sgemm's GFLOP/s"
    return Row(name, share, "", detail=f"{step * 1e6:.0f} us a step")
