"""Use any PyG module as a network on the graphs of a set, with per-graph gradients by autograd in blocks."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from gntk.engines.base import Batches, Gradient, Network, Weights
from gntk.engines.features import squares_in_blocks
from gntk.engines.torch_network import read_device

if TYPE_CHECKING:
    from torch_geometric.data import Batch, Data

GRAPHS_AT_A_TIME = 8  # in a vectorised backward pass
NODES_AT_A_TIME = 1 << 14  # in a forward pass without gradients

ModuleOrFactory = nn.Module | Callable[[], nn.Module]
"""A torch module `Batch -> (K,)`, or a function that makes one."""


class ModuleNetwork(Network):
    """A module `Batch -> (K,)` on the graphs of a set, centred and scaled so that the paper's settings fit it.

        f(G; theta) = F(G; theta) - F(G; theta_0),   psi = (dF/dtheta) / s,   s^2 = mean_G |dF/dtheta (G; theta_0)|^2

    At theta_0 it predicts 0, like the paper's network, and the mean diagonal of its kernel is 1, so that ridge and
    learning rate mean the same for every module. In units of s theta, descent on f with psi is plain gradient descent.

    The module is copied and runs in evaluation mode, because a prediction must not depend on the other graphs of a
    batch: dropout is off, and batch norm uses its stored statistics. Parameters with `requires_grad=False` never move.

    Memory: gradients are taken for 8 graphs at a time, which needs 8 x (4 p bytes + the activations that autograd keeps
    of 8 graphs) for p trainable parameters. A forward pass without gradients takes graphs with 16,384 nodes in total
    (or one graph, if it is larger). In addition `features_at` keeps 8 K p bytes if these are at most 256 MB.

    Args:
        module: a module with parameters theta_0, or a function that makes one, with parameters drawn from `seed`.
        batch: K graphs.
        seed: seed of the parameters, if `module` is a function.
        gradient: tangent features are derivatives with respect to all weights, or to those of the last layer. The last
            layer is the last submodule, in order of definition, that directly owns trainable parameters.
        device: name of the torch device on which the module computes.

    Raises:
        TypeError: if `module` is a function that does not return a module.
        ValueError: if the module does not return `(K,)` finite floating point numbers, if it has no trainable
            parameters, or if torch cannot use the device here.
    """

    def __init__(
        self, module: ModuleOrFactory, batch: Batch, seed: int = 0, gradient: Gradient = "all", device: str = "cpu"
    ) -> None:
        self.device = read_device(device)
        self.module = _make(module, seed).to(self.device)
        parameters = {name: p.detach().clone() for name, p in self.module.named_parameters() if p.requires_grad}
        if not parameters:
            raise ValueError("Expected a module with trainable parameters. Got none.")
        self._names = list(parameters)
        self.graphs = self._first_graphs = batch.to_data_list()
        self._tensors = [value for _, value in sorted(batch.to_dict().items()) if isinstance(value, Tensor)]
        self.num_graphs = len(self.graphs)
        every = torch.arange(len(parameters))
        self._kept = every[-_last_layer_size(self.module) :] if gradient == "last_layer" else every
        values = list(parameters.values())
        self.num_features = sum(values[k].numel() for k in self._kept)
        self.start_at(values, self.constants())

    def start_at(self, initial: Weights, constants: Mapping[str, Tensor]) -> None:
        """Replace the initial weights, and the parameters and buffers that are not trained."""
        self.module.load_state_dict(dict(constants), strict=False)
        self.initial = self.to_device(initial)
        present = self.graphs
        self.exchange(self._first_graphs)
        self._scale = self._unit_of_features()
        if present is not self._first_graphs:
            self.exchange(present)

    def _unit_of_features(self) -> float:
        """Return s, the typical length of psi at theta_0."""
        squares = []
        for index in torch.arange(self.num_graphs).split(GRAPHS_AT_A_TIME):
            outputs, gradients = self._gradients(self.initial, index)
            if not torch.allclose(outputs.cpu(), self._centers[index], rtol=1e-3, atol=1e-4):
                raise ValueError(
                    "Expected a module whose prediction for a graph does not depend on the other graphs of its batch. "
                    "Got one that does. It may contain batch normalisation."
                )
            lengths = torch.stack([gradient.double().flatten(1).square().sum(1) for gradient in gradients])
            squares.append(lengths.sum(0).cpu())
        return math.sqrt(torch.cat(squares).mean().item()) or 1.0

    def exchange(self, graphs: list[Data]) -> None:
        """Replace the graphs, and keep weights and scale.

        Raises:
            ValueError: if the module does not predict finite numbers for them. The network is then unchanged.
        """
        before = self.graphs
        self.graphs = graphs
        self.num_graphs = len(self.graphs)
        try:
            centers = self._outputs(self.initial)
            if not centers.isfinite().all():
                raise ValueError("Expected a module that predicts finite numbers. Got some that are not finite.")
        except BaseException:
            self.graphs, self.num_graphs = before, len(before)
            raise
        self._centers = centers

    def constants(self) -> dict[str, Tensor]:
        """Return the frozen parameters and the buffers."""
        kept = self.module.state_dict().items()
        return {name: value.detach().to("cpu", copy=True) for name, value in kept if name not in self._names}

    def fingerprint(self) -> list[Tensor]:
        """Return the tensors of the batch, and the shapes of the parameters."""
        shapes = [f"{name} {tuple(value.shape)}" for name, value in self.module.state_dict().items()]
        return [*self._tensors, torch.tensor(list("\n".join(shapes).encode()))]

    def values(self, weights: Weights) -> Tensor:
        """Return f(G; theta) of all graphs."""
        return self._outputs(weights) - self._centers

    def features(self, weights: Weights, index: Tensor) -> Tensor:
        """Return psi of some graphs."""
        features = [torch.empty(0, self.num_features)]
        for block in index.split(GRAPHS_AT_A_TIME):
            _, gradients = self._gradients(weights, block)
            features.append((torch.cat([gradients[k].flatten(1) for k in self._kept], dim=1) / self._scale).cpu())
        return torch.cat(features)

    def values_and_squares(self, weights: Weights, precision: Tensor) -> tuple[Tensor, Tensor]:
        """Return f and the weighted squares of psi of all graphs."""
        squares = squares_in_blocks(partial(self.features, weights), self.num_graphs, precision.double())
        return self.values(weights), squares

    def descend(
        self, weights: Weights, centers: Weights, batches: Batches, learning_rate: float, penalty: float
    ) -> list[Tensor]:
        """Return the weights after one step of gradient descent per batch, on s theta."""
        moved = [weight.clone() for weight in weights]
        for index, targets in batches:
            leaves = [weight.requires_grad_() for weight in moved]
            with torch.enable_grad():
                values = self._call(leaves, index) - self._centers[index].to(self.device)
                loss = (values - targets.to(values)).square().mean() / 2
            gradients = torch.autograd.grad(loss, leaves, allow_unused=True, materialize_grads=True)
            moved = [
                (weight.detach() - learning_rate * (gradient / self._scale**2 + penalty * (weight - center))).detach()
                for weight, gradient, center in zip(leaves, gradients, centers, strict=True)
            ]
        return moved

    def _call(self, weights: Weights, index: Tensor) -> Tensor:
        from torch_geometric.data import Batch

        batch = Batch.from_data_list([self.graphs[k] for k in index.tolist()]).to(self.device)
        outputs = torch.func.functional_call(self.module, dict(zip(self._names, weights, strict=True)), (batch,))
        if not isinstance(outputs, Tensor) or outputs.shape != (len(index),) or not outputs.is_floating_point():
            shape = tuple(outputs.shape) if isinstance(outputs, Tensor) else type(outputs).__name__
            raise ValueError(
                f"Expected a module that returns a floating point number for each graph, `({len(index)},)`. "
                f"Got `{shape}`. End it with a pooling over `batch.batch` and `.squeeze(-1)`."
            )
        return outputs

    def _outputs(self, weights: Weights) -> Tensor:
        with torch.no_grad():
            nodes = torch.tensor([graph.num_nodes for graph in self.graphs]).cumsum(0)
            groups = torch.div(nodes - 1, NODES_AT_A_TIME, rounding_mode="floor").unique_consecutive(return_counts=True)
            blocks = torch.arange(self.num_graphs).split(groups[1].tolist())
            return torch.cat([self._call(weights, index).cpu() for index in blocks])

    def _gradients(self, weights: Weights, index: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return F and dF/dtheta of a few graphs: `(n,)`, and `(n, ...)` for each parameter.

        Each row of the identity starts one backward pass, and all passes run together.
        """
        leaves = [weight.detach().requires_grad_() for weight in weights]
        with torch.enable_grad():
            outputs = self._call(leaves, index)
        gradients = torch.autograd.grad(
            outputs, leaves, torch.eye(len(index)).to(outputs), is_grads_batched=True, allow_unused=True
        )
        zeros = [weight.new_zeros(len(index), *weight.shape) for weight in weights]
        return outputs.detach(), [
            zero if gradient is None else gradient for zero, gradient in zip(zeros, gradients, strict=True)
        ]


def _make(module: ModuleOrFactory, seed: int) -> nn.Module:
    if isinstance(module, nn.Module):
        return copy.deepcopy(module).eval()
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # `torch.manual_seed` would also seed every GPU
        made = module()
    if not isinstance(made, nn.Module):
        raise TypeError(f"Expected `network` to make a torch module. Got {type(made).__name__}.")
    return made.eval()


def _last_layer_size(module: nn.Module) -> int:
    """Count the trainable parameters of the last submodule that owns any. They are the last of the module."""
    sizes = [sum(p.requires_grad for p in part.parameters(recurse=False)) for part in module.modules()]
    return [size for size in sizes if size][-1]
