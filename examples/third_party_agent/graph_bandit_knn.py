"""UCB on the nearest neighbours of a graph: an agent in a separate package."""

from dataclasses import dataclass

import torch

from agents.beliefs import Belief, BeliefAgent, UpperConfidenceBound, compose
from agents.contract import check_fields


@dataclass(frozen=True, kw_only=True)
class KnnSettings:
    """Settings of `knn-ucb`. `graph-bandit agents knn-ucb` prints the docstrings below."""

    exploration_scale: float = 0.1
    """nu, the standard deviation of a reward around its mean; in standard deviations of the rewards over the graphs."""
    smoothness: float = 1.0
    """L, how much mean rewards may differ at the root mean square distance of two graphs; in the same unit."""

    def __post_init__(self):
        check_fields(self)
        if self.smoothness == 0:
            raise ValueError("Expected `smoothness` to be positive. Got 0, which makes all graphs equally good.")


class KnnAgent(BeliefAgent):
    """Learn about a graph from the graphs nearest to it, as many as make the confidence bound tightest.

        w_m(G) = nu sqrt(log(1 + t) / n_m) + L r_m,   mean ybar_m and spread s w_m, at the m with the least w_m

    This is k-nearest-neighbour UCB [Reeve, Mellor & Brown 2018]. The m graphs nearest to G, G included, have n_m
    rewards with mean ybar_m, and the farthest of them is r_m away; s is the standard deviation of the mean rewards over
    the graphs played. A round takes O(K^2) time, whatever t.
    """

    def begin(self, graphs, seed):
        """Sort the graphs by their distance from each graph, in mean nodes and mean sums of neighbours."""
        super().begin(graphs, seed)
        nodes = [(graph.x.double(), graph.edge_index[0]) for graph in graphs.to_data_list()]
        features = torch.stack([torch.cat([x.mean(0), x[sources].sum(0) / len(x)]) for x, sources in nodes])
        spread = features.std(0, correction=0)
        features = (features - features.mean(0)) / spread.where(spread > 1e-9 * features.abs().amax(0), 1.0)
        distances = torch.cdist(features, features, compute_mode="donot_use_mm_for_euclid_dist")  # keeps 0 exact
        self.distances, self.nearest = (distances / (2 * features.shape[1]) ** 0.5).sort(dim=1, stable=True)

    def belief(self):
        """Return the mean and spread of each graph; all graphs have the same before the first reward."""
        rewards, totals = self.history.counts.double(), self.history.counts * self.history.means
        if not rewards.any():
            return Belief(totals, torch.ones_like(totals))
        counts, sums = rewards[self.nearest].cumsum(1), totals[self.nearest].cumsum(1)
        noise = self.settings.exploration_scale * (rewards.sum().log1p() / counts).sqrt()
        width, m = (noise + self.settings.smoothness * self.distances).where(counts > 0, torch.inf).min(1, keepdim=True)
        mean, spread = sums.gather(1, m) / counts.gather(1, m), self.history.location_and_scale()[1] * width
        return Belief(mean.squeeze(1), spread.squeeze(1))

    def known(self):
        """Return the arrays by which a saved state is matched to its graphs."""
        return [self.nearest, self.distances]


def knn(settings: KnnSettings, make_rule):
    """Make the model, which any acquisition rule can play."""
    return KnnAgent(settings, make_rule)


knn_ucb = compose("knn-ucb", knn, KnnSettings, UpperConfidenceBound)
