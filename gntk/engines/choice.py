"""Choose the form of the paper's network: compiled loops on the CPU at depth 2, torch in all other cases."""

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
    """Make the paper's network on some graphs, in its fastest form for this depth and device.

    Args:
        graphs: K graphs, aggregated.
        width: m, even.
        depth: L, at least 2.
        seed: seed of the initial weights.
        gradient: tangent features are derivatives with respect to all weights, or to those of the last layer.
        device: name of the torch device on which the network computes.

    Returns:
        The network, at its initial weights.

    Raises:
        ValueError: if a size is out of its range, or torch cannot use the device here.
    """
    torch_device = read_device(device)
    initial = [weight.detach() for weight in GraphMLP(graphs.feature_dim, width, depth, seed=seed).weights]
    if torch_device.type == "cpu" and depth == 2:
        return CompiledNetwork(graphs, initial, gradient)
    return TorchNetwork(graphs, initial, gradient, torch_device, batched=torch_device.type != "cpu")


def read_device(name: str) -> torch.device:
    """Return the torch device of a name.

    Args:
        name: such as "cpu", "cuda" or "cuda:1".

    Raises:
        ValueError: if it cannot be used here; the message lists the devices that torch sees.
    """
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()  # fails on "meta", whose tensors hold no numbers
    except (RuntimeError, AssertionError) as error:  # torch without CUDA raises AssertionError
        devices = ["cpu", *(f"cuda:{k}" for k in range(torch.cuda.device_count()))]
        raise ValueError(
            f"Expected `device` to be one that torch can use here: {', '.join(devices)}. Got {name!r}: {error}"
        ) from error
    return device
