"""Time the training step, the scores and the infinite-width kernel against their plain forms and matrix products."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from benchmarks.speed.measure import Row, compare, seconds
from benchmarks.speed.plain import PlainFit, infinite_width_kernel_in_torch, one_backward_per_graph
from gntk import AggregatedGraphs, GraphMLP, aggregate_neighbours, infinite_width_kernel
from gntk.engines import Batches, CompiledNetwork, descend

NODES, FEATURES, WIDTH, BATCH, GRAPHS, STEPS = 50, 10, 512, 5, 100, 50
SGEMM = 512  # size of the square matrices that the same core multiplies


def graphs_of(num_graphs: int, num_nodes: int, feature_dim: int) -> AggregatedGraphs:
    """Return aggregated random graphs."""
    generator = torch.Generator().manual_seed(0)
    edges = torch.randint(num_nodes, (2, 10 * num_nodes), generator=generator)
    nodes = torch.randn(num_graphs, num_nodes, feature_dim, generator=generator)
    return aggregate_neighbours(Batch.from_data_list([Data(x=x, edge_index=edges) for x in nodes]))


@dataclass(eq=False)
class Fit:
    """A descent of 50 steps on batches of five distinct graphs, so there are no repeats to merge."""

    graphs: AggregatedGraphs = field(default_factory=lambda: graphs_of(GRAPHS, NODES, FEATURES))
    weights: list[Tensor] = field(default_factory=lambda: [w.detach() for w in GraphMLP(FEATURES, WIDTH).weights])

    @cached_property
    def network(self) -> CompiledNetwork:
        """Return the compiled network."""
        return CompiledNetwork(self.graphs, self.weights)

    @cached_property
    def batches(self) -> Batches:
        """Return the batches."""
        generator = torch.Generator().manual_seed(1)
        index = torch.cat([torch.randperm(GRAPHS, generator=generator)[:BATCH] for _ in range(STEPS)])
        return Batches.of_size(index, torch.randn(STEPS * BATCH, generator=generator), BATCH)

    def compiled(self) -> None:
        """Descend in compiled loops."""
        self.network.descend(self.weights, self.weights, self.batches, 0.1, 0.01)

    def in_torch(self) -> None:
        """Descend in torch, by hand-written gradients."""
        descend(self.weights, self.weights, self.graphs, self.batches, 0.1, 0.01)


def step_seconds() -> float:
    """Return the current seconds of a compiled training step."""
    fit = Fit()
    fit.compiled()
    return seconds(fit.compiled, least=0.5) / STEPS


def rows() -> list[Row]:
    """Return the rows for one training step and for scoring, on one thread."""
    fit = Fit()
    graphs, weights = fit.graphs, fit.weights
    plain, some = PlainFit(weights, graphs, 0.1, 0.01), next(iter(fit.batches))
    square = torch.randn(SGEMM, SGEMM)
    precision = torch.rand((FEATURES + 1) * WIDTH)

    def score() -> None:
        fit.network.values_and_squares(weights, precision)

    ratio, product, descent = compare(lambda: square @ square, fit.compiled)
    step, flops, product_flops = descent / STEPS, 4 * BATCH * NODES * FEATURES * WIDTH, 2 * SGEMM**3
    autograd, plain_step, _ = compare(lambda: plain.step(some[0].tolist(), some[1]), fit.compiled)
    torch_form, *_ = compare(fit.in_torch, fit.compiled, pairs=5)
    scores, slow, fast = compare(lambda: one_backward_per_graph(weights, graphs, precision), score, pairs=5)
    shape = f"N={NODES}, d={FEATURES}, m={WIDTH}, batch of {BATCH}"
    return [
        Row.at_least(
            f"training step, {shape}: share of sgemm's GFLOP/s",
            ratio * STEPS * flops / product_flops,
            "",
            0.6,
            f"{step * 1e6:.0f} us a step, {flops / step / 1e9:.0f} of {product_flops / product / 1e9:.0f} GFLOP/s",
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
        infinite_width(),
    ]


def infinite_width(num_graphs: int = 400, num_nodes: int = 20, pairs: int = 5) -> Row:
    """Compare the compiled kernel with one arc cosine a pair of nodes in torch, on the same core."""
    graphs = graphs_of(num_graphs, num_nodes, FEATURES)
    ratio, slow, fast = compare(
        lambda: infinite_width_kernel_in_torch(graphs), lambda: infinite_width_kernel(graphs), pairs
    )
    difference = (infinite_width_kernel(graphs) - infinite_width_kernel_in_torch(graphs)).abs().max().item()
    return Row.at_least(
        f"infinite-width kernel of {num_graphs} graphs, N={num_nodes}, d={FEATURES}, against torch",
        ratio,
        "x",
        4,
        f"{fast:.2f} s against {slow:.2f} s; they differ by {difference:.0e}",
    )


def _deeper(square: Tensor) -> Row:
    """Measure how much of a step at L = 3 torch spends in matrix products, which compiled loops could not save."""
    graphs = graphs_of(BATCH, NODES, FEATURES)
    weights = [weight.detach() for weight in GraphMLP(FEATURES, WIDTH, depth=3).weights]
    batches = Batches.of_size(torch.arange(BATCH), torch.randn(BATCH), BATCH)
    ratio, _, step = compare(lambda: square @ square, lambda: descend(weights, weights, graphs, batches, 0.1, 0.01), 5)
    share = ratio * BATCH * NODES * WIDTH * (4 * FEATURES + 6 * WIDTH) / (2 * SGEMM**3)
    name = "training step at L=3, in torch: share of sgemm's GFLOP/s"
    return Row(name, share, "", detail=f"{step * 1e6:.0f} us a step")
