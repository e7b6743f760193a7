"""UCB on the nearest neighbours of a graph: an agent in a package of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from agents.contract.inputs import check_reset, derive_streams, masked_argmax, read_feedback, read_graphs, read_mask
from agents.contract.settings import check_fields, read_settings
from agents.contract.state import check_identity, make_identity


@dataclass(frozen=True, kw_only=True)
class KnnSettings:
    """Settings of `knn-ucb`. The strings below are also what `graph-bandit agents knn-ucb` prints."""

    exploration_scale: float = 0.1
    """nu, standard deviation of a reward around its mean; in standard deviations of the rewards over the graphs."""
    smoothness: float = 1.0
    """L, how much mean rewards may differ at the root mean square distance of two graphs; in the same unit."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.smoothness == 0:
            raise ValueError("Expected `smoothness` to be positive. Got 0, with which all graphs are worth the same.")


class KnnUCB:
    """Learn about a graph from the graphs nearest to it, as many as make the confidence bound tightest.

        w_m(G) = nu sqrt(log(1 + t) / n_m) + L r_m,   index(G) = ybar_m + s w_m, at the m with the least w_m

    after k-nearest-neighbour UCB [Reeve, Mellor & Brown 2018]. The m graphs nearest to G, itself the first, have had
    n_m rewards of mean ybar_m, and the last of them is r_m away; s is the standard deviation of the mean rewards over
    the graphs played. A round takes O(K^2) time, whatever t.

    Args:
        settings: the fields of `KnnSettings`, as keywords.
    """

    needs = "any"
    """What the agent asks of a graph set: nothing. `registry.agent_needs` reads it here."""

    def __init__(self, **settings: Any) -> None:
        self.settings = read_settings(KnnSettings, settings)

    def reset(self, observation: Any, seed: int = 0, graph_set: Any = None) -> None:
        """Forget all rewards, and order the graphs by their distance from each."""
        _, self.generator = derive_streams(seed)
        graphs = read_graphs(observation, graph_set).to_data_list()
        features = standardize(torch.stack([describe(graph.x, graph.edge_index) for graph in graphs]))
        distances = torch.cdist(features, features, compute_mode="donot_use_mm_for_euclid_dist")  # 0 stays 0
        self.distances, self.nearest = (distances / math.sqrt(2 * features.shape[1])).sort(dim=1, stable=True)
        self.counts = torch.zeros(len(graphs), dtype=torch.float64)
        self.sums = torch.zeros(len(graphs), dtype=torch.float64)

    def select_action(self, observation: Any, action_mask: ArrayLike | None = None) -> int:
        """Play the graph with the largest index, ties at random."""
        check_reset(self, "counts")
        return masked_argmax(self.index(), read_mask(action_mask, len(self.counts)), self.generator)

    def update(self, observation: Any, action: ArrayLike, reward: ArrayLike) -> None:
        """Count the rewards; they are checked before anything changes."""
        check_reset(self, "counts")
        actions, rewards = read_feedback(action, reward, len(self.counts))
        self.counts.index_add_(0, actions, torch.ones_like(rewards))
        self.sums.index_add_(0, actions, rewards)

    def index(self) -> Tensor:
        """Return the upper confidence bound of each graph, `(K,)` float64; all tie before the first reward."""
        seen = self.counts > 0
        if not seen.any():
            return torch.zeros_like(self.counts)
        counts, sums = self.counts[self.nearest].cumsum(1), self.sums[self.nearest].cumsum(1)
        noise = self.settings.exploration_scale * (self.counts.sum().log1p() / counts).sqrt()
        widths = (noise + self.settings.smoothness * self.distances).where(counts > 0, torch.inf)
        width, m = widths.min(dim=1, keepdim=True)
        means = self.sums[seen] / self.counts[seen]
        scale = means.std(correction=0)
        unit = scale if scale > 1e-12 * means.abs().max() else 1.0  # 1 until two graphs differ
        return (sums.gather(1, m) / counts.gather(1, m) + unit * width).squeeze(1)

    def state_dict(self) -> dict[str, Any]:
        """Return the rewards of each graph and the state of the generator, and whose they are."""
        identity = self._identity()
        counts, sums = self.counts.clone(), self.sums.clone()
        return {"identity": identity, "counts": counts, "sums": sums, "generator": self.generator.get_state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state` was taken; `reset` on the same graphs must come first.

        Raises:
            ValueError: if the state is of other settings or graphs; nothing is changed then.
        """
        check_identity(state, self._identity(), ("counts", "sums", "generator"))
        self.counts, self.sums = state["counts"].clone(), state["sums"].clone()
        self.generator.set_state(state["generator"])

    def _identity(self) -> dict[str, Any]:
        check_reset(self, "counts")
        return make_identity(self.settings, [self.nearest, self.distances])


def describe(nodes: Tensor, edge_index: Tensor) -> Tensor:
    """Return the mean node of a graph, and the mean over its nodes of the sum of their neighbours, `(2 d,)` float64."""
    nodes = nodes.double()
    return torch.cat([nodes.mean(0), nodes[edge_index[0]].sum(0) / len(nodes)])


def standardize(features: Tensor) -> Tensor:
    """Give each column of `(K, f)` mean 0 and standard deviation 1; one that is constant becomes 0."""
    spread = features.std(0, correction=0)
    return (features - features.mean(0)) / spread.where(spread > 1e-9 * features.abs().amax(0), 1.0)
