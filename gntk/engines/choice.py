"""Which way to compute the paper's network: compiled loops on the CPU at depth 2, torch everywhere else."""

from __future__ import annotations

import torch

from gntk.aggregation import AggregatedGraphs
from gntk.engines.base import Gradient, PaperNetwork
from gntk.engines.compiled import CompiledNetwork
from gntk.engines.torch_network import TorchNetwork
from gntk.network import GraphMLP


def paper_network(
    graphs: AggregatedGraphs,
    width: int = 512,
    depth: int = 2,
    seed: int = 0,
    gradient: Gradient = "all",
    device: str = "cpu",
) -> PaperNetwork:
    """Return the paper's network on some graphs, in its fastest form for a depth on a device.

    Args:
        graphs: K graphs, aggregated.
        width: m, even.
        depth: L, at least 2.
        seed: of the initial weights.
        gradient: the weights that tangent features are derivatives by: all, or those of the last layer.
        device: where it computes.

    Raises:
        ValueError: if a size is out of its range, or torch has no such device here.
    """
    where = read_device(device)
    initial = [weight.detach() for weight in GraphMLP(graphs.feature_dim, width, depth, seed=seed).weights]
    if where.type == "cpu" and depth == 2:
        return CompiledNetwork(graphs, initial, gradient)
    return TorchNetwork(graphs, initial, gradient, where, batched=where.type != "cpu")


def read_device(name: str) -> torch.device:
    """Return a torch device that can be used here.

    Raises:
        ValueError: if it cannot; the message says what torch sees.
    """
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()  # "meta" has no numbers
    except (RuntimeError, AssertionError) as error:  # torch built without CUDA asserts
        found = [f"cuda:{k}" for k in range(torch.cuda.device_count())]
        raise ValueError(
            f"Expected `device` to be one that torch can use here: {', '.join(['cpu', *found])}. Got {name!r}: {error}"
        ) from error
    return device
