"""Compute the tangent features of a network of linear layers: all graphs from one backward pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

OwnedLayer = tuple[nn.Module, Tensor]
"""A linear layer, and the graph `(rows,)` that each row of its input belongs to, in increasing order."""


def linear_tangent_features(
    evaluate: Callable[[], Tensor], layers: Sequence[OwnedLayer], num_graphs: int
) -> tuple[Tensor, Tensor]:
    """Evaluate a network and, for each graph, its gradient with respect to the weights of its linear layers.

        dF(G) / dW = sum_{rows i of G} delta_i a_i^T,   dF(G) / db = sum_{rows i of G} delta_i

    Here a_i is the input of the layer at row i, and delta_i the derivative with respect to its output there. The output
    of a graph must not depend on the rows of another, so that one backward pass of sum_G F(G) gives all delta_i.

    Args:
        evaluate: returns F `(K,)` and calls each layer once.
        layers: linear layers with `weight` `(out, in)` and, optionally, `bias` `(out,)`, each with the graph of each
            row.
        num_graphs: K.

    Returns:
        F `(K,)` and the features `(K, p)` float32, without autograd history: of each layer in turn the weight
        (row-major), then the bias.

    Raises:
        ValueError: if a layer is not called exactly once, or the number of its rows is not the expected one.
    """
    calls: list[list[tuple[Tensor, Tensor]]] = [[] for _ in layers]

    def record(number: int) -> Callable[[nn.Module, tuple[Tensor, ...], Tensor], None]:
        return lambda module, inputs, output: calls[number].append((inputs[0].detach(), output))

    hooks = [layer.register_forward_hook(record(number)) for number, (layer, _) in enumerate(layers)]
    try:
        with torch.enable_grad():
            outputs = evaluate()
    finally:
        for hook in hooks:
            hook.remove()
    for number, ((layer, owners), called) in enumerate(zip(layers, calls, strict=True)):
        if len(called) != 1 or len(called[0][0]) != len(owners):
            rows = [len(inputs) for inputs, _ in called]
            raise ValueError(f"Expected layer {number} ({layer}) to be called once, on {len(owners)} rows. Got {rows}.")
    signals = torch.autograd.grad(
        outputs,
        [called[0][1] for called in calls],
        torch.ones_like(outputs),
        allow_unused=True,
        materialize_grads=True,
    )
    features = []
    for (layer, owners), called, signal in zip(layers, calls, signals, strict=True):
        padded = _pad(torch.cat([signal, called[0][0]], dim=1), owners, num_graphs)
        signals_of, inputs_of = padded.split([signal.shape[1], called[0][0].shape[1]], dim=2)
        features.append((signals_of.mT @ inputs_of).flatten(1))
        if getattr(layer, "bias", None) is not None:
            features.append(signals_of.sum(1))
    return outputs.detach(), torch.cat(features, dim=1)


def _pad(rows: Tensor, owners: Tensor, num_graphs: int) -> Tensor:
    """Arrange the rows by graph, `(K, most, columns)`, padded with zeros, which change no sum."""
    counts = torch.bincount(owners, minlength=num_graphs)
    offsets = counts.cumsum(0) - counts
    most = int(counts.max()) if len(rows) else 0
    padded = rows.new_zeros(num_graphs, most, rows.shape[1])
    padded[owners, torch.arange(len(owners)) - offsets[owners]] = rows
    return padded
