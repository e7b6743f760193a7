"""NeuralUCB and NeuralTS as published, on flat features: the neural agent with their network and their fit.

With weights W = sqrt(m) theta in place of their theta, they are a case of `NeuralAgent`: g / sqrt(m) are the tangent
features, the ridge is lambda, and the penalty m lambda |theta - theta_0|^2 is lambda |W - W_0|^2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch_geometric.data import Batch

from agents.beliefs.flat_features import FlatFeatures, FlatReader, FlatSettings
from agents.beliefs.rules import AcquisitionRule
from agents.contract.protocol import GraphSetLike
from agents.contract.settings import LARGEST_COUNT, POSITIVE, Width
from agents.neural.agent import NeuralAgent
from agents.neural.network import Architecture
from agents.neural.settings import NeuralSettings
from gntk import AggregatedGraphs
from gntk.engines import Network, paper_network


@dataclass(frozen=True, kw_only=True)
class FlatNeuralSettings(FlatSettings, NeuralSettings):
    """Settings of NeuralUCB and NeuralTS: the algorithms as published, except that rewards are standardised first."""

    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {"paper": {"own_variance": 0.0}}

    width: Width = 100
    """m, hidden width of the network; even."""
    exploration_scale: float = 1.0
    """nu, multiplies sigma: gamma of NeuralUCB, held constant, or nu sqrt(lambda) of NeuralTS."""
    regularization: Annotated[float, POSITIVE] = 0.1
    """lambda, in Z = lambda I + sum_i g_i g_i^T / m, and in the penalty m lambda |theta - theta_0|^2 / 2."""
    history: Literal["refreshed", "frozen"] = "frozen"
    fit: Literal["steps", "epochs"] = "epochs"
    epochs: int = 100
    """J, steps of gradient descent per round. Each pass is one step on all observations, if `batch_size` holds them."""
    batch_size: int = LARGEST_COUNT
    learning_rate: Annotated[float, POSITIVE] = 0.1
    """eta m t, step size on the mean squared loss over the t observations so far, in units of sqrt(m) theta."""
    start: Literal["warm", "initial"] = "initial"

    @property
    def ridge(self) -> float:
        """Return lambda."""
        return self.regularization


class FlatArchitecture(Architecture):
    """The network of Zhou et al. (2020) on the features x of each graph, doubled and of unit length.

        f(x) = sqrt(m) theta_L ReLU(theta_{L-1} ... ReLU(theta_1 x)),   x = (u, u) / sqrt(2),   u = x_0 / |x_0|
        [Zhou, Li & Gu 2020, Eq. (3.1) and Section 4]

    If features are scaled, u has an additional constant 1 before normalisation, to preserve lengths.

    Args:
        reader: reads x_0 of graphs.
    """

    _here: FlatFeatures  # of the graphs that the network is on

    def __init__(self, reader: FlatReader) -> None:
        self.reader, self.reads = reader, reader.reads

    def build(self, graphs: Batch, settings: NeuralSettings, seed: int) -> Network:
        """Return a network on K graphs, with weights from a seed."""
        self._here = self.reader.read(graphs)
        nodes = self._as_nodes(self._here)
        network = paper_network(nodes, settings.width, settings.depth, seed, settings.gradient, settings.device)
        network.start_at(draw_published(nodes.feature_dim, settings.width, settings.depth, seed))
        return network

    def exchange(self, network: Any, kept: Tensor, graphs: Batch | None) -> None:
        """Move a network to its remaining graphs, `kept` `(n,)`, followed by new ones.

        Raises:
            ValueError: if features were given, which exist only for the graphs of `reset`.
        """
        features = self._here.exchange(kept, graphs)
        network.exchange(self._as_nodes(features))
        self._here = features

    def _as_nodes(self, features: FlatFeatures) -> AggregatedGraphs:
        """Return the inputs of the network: graphs of one node each."""
        rows = features.rows
        if self.reader.settings.scale_features:
            rows = torch.nn.functional.pad(rows, (0, 1), value=1.0)
        length = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
        halves = rows / length.where(length > 0, 1.0) / math.sqrt(2)
        count = len(rows)
        return AggregatedGraphs(
            torch.cat([halves, halves], dim=1), torch.arange(count + 1), torch.ones(count, dtype=rows.dtype)
        )


def draw_published(feature_dim: int, width: int, depth: int, seed: int) -> list[Tensor]:
    """Draw the initial weights, at which every prediction is 0.

        sqrt(m) theta_l = diag(W, W),  W ~ N(0, 4);   sqrt(m) theta_L = (w, -w),  w ~ N(0, 2)
        [Zhou, Li & Gu 2020, Section 4, "we initialize theta_0"]

    Args:
        feature_dim: d, even.
        width: m, even.
        depth: L, at least 2.
        seed: seed of the draw.

    Returns:
        L matrices, `(m, d)`, `(m, m)` ..., `(1, m)`, float32.
    """
    generator = torch.Generator().manual_seed(seed)
    columns = [feature_dim // 2] + [width // 2] * (depth - 2)
    blocks = [2 * torch.randn(width // 2, count, generator=generator) for count in columns]
    last = math.sqrt(2) * torch.randn(1, width // 2, generator=generator)
    return [*(torch.block_diag(block, block) for block in blocks), torch.cat([last, -last], dim=1)]


class FlatNeuralAgent(NeuralAgent):
    """Learn a network on flat features of graphs, as NeuralUCB and NeuralTS do."""

    architecture: FlatArchitecture

    @property
    def uses_columns(self) -> bool:
        """Return True if it reads columns of the graph set."""
        return self.architecture.reader.settings.features == "columns"

    def read(self, observation: object, graph_set: GraphSetLike | None) -> Batch:
        """Return the graphs, and read the columns of the set."""
        self.architecture.reader.look(graph_set)
        return super().read(observation, graph_set)


def flat(
    settings: FlatNeuralSettings, make_rule: Callable[[], AcquisitionRule], *, feature_matrix: ArrayLike | None = None
) -> FlatNeuralAgent:
    """A network on flat features, with the covariance of its gradients [Zhou et al. 2020; Zhang et al. 2021].

    Args:
        settings: settings of features, network, covariance and fit.
        make_rule: makes the acquisition rule.
        feature_matrix: `(K, d)`, read as float64. Required if `settings.features` is "custom", otherwise None.

    Raises:
        ValueError: if `settings` name a module, or as in `FlatReader`.
    """
    if settings.network != "paper":
        raise ValueError(f"Expected no `network`. Got {settings.network!r}. The `gnn-*` agents take one.")
    return FlatNeuralAgent(settings, FlatArchitecture(FlatReader(settings, feature_matrix)), make_rule)
