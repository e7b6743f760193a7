"""UCB on the nearest neighbours of a graph: an agent in a package of its own."""

from dataclasses import dataclass

import torch

from agents.beliefs import Belief, BeliefAgent, UpperConfidenceBound, compose
from agents.contract import check_fields


@dataclass(frozen=True, kw_only=True)
class KnnSettings:
    """Settings of `knn-ucb`. The strings below are also what `graph-bandit agents knn-ucb` prints."""

    exploration_scale: float = 0.1
    """nu, standard deviation of a reward around its mean; in standard deviations of the rewards over the graphs."""
    smoothness: float = 1.0
    """L, how much mean rewards may differ at the root mean square distance of two graphs; in the same unit."""

    def __post_init__(self):
        check_fields(self)
        if self.smoothness == 0:
            raise ValueError("Expected `smoothness` to be positive. Got 0, with which all graphs are worth the same.")


class KnnAgent(BeliefAgent):
    """Learn about a graph from the graphs nearest to it, as many as make the confidence bound tightest.

        w_m(G) = nu sqrt(log(1 + t) / n_m) + L r_m,   mean ybar_m and spread s w_m, at the m with the least w_m

    after k-nearest-neighbour UCB [Reeve, Mellor & Brown 2018]. The m graphs nearest to G, itself the first, have had
    n_m rewards of mean ybar_m, and the last of them is r_m away; s is the standard deviation of the mean rewards over
    the graphs played. A round takes O(K^2) time, whatever t.
    """

    def begin(self, graphs, seed):
        """Order the graphs by their distance from each: of their mean nodes, and of their mean sums of neighbours."""
        super().begin(graphs, seed)
        nodes = [(graph.x.double(), graph.edge_index[0]) for graph in graphs.to_data_list()]
        features = torch.stack([torch.cat([x.mean(0), x[sources].sum(0) / len(x)]) for x, sources in nodes])
        spread = features.std(0, correction=0)
        features = (features - features.mean(0)) / spread.where(spread > 1e-9 * features.abs().amax(0), 1.0)
        distances = torch.cdist(features, features, compute_mode="donot_use_mm_for_euclid_dist")  # 0 stays 0
        self.distances, self.nearest = (distances / (2 * features.shape[1]) ** 0.5).sort(dim=1, stable=True)

    def belief(self):
        """Return mean and width of each graph; all are alike before the first reward."""
        rewards, totals = self.history.counts.double(), self.history.counts * self.history.means
        if not rewards.any():
            return Belief(totals, torch.ones_like(totals))
        counts, sums = rewards[self.nearest].cumsum(1), totals[self.nearest].cumsum(1)
        noise = self.settings.exploration_scale * (rewards.sum().log1p() / counts).sqrt()
        width, m = (noise + self.settings.smoothness * self.distances).where(counts > 0, torch.inf).min(1, keepdim=True)
        mean, spread = sums.gather(1, m) / counts.gather(1, m), self.history.location_and_scale()[1] * width
        return Belief(mean.squeeze(1), spread.squeeze(1))

    def known(self):
        """Return what a saved state is told apart by."""
        return [self.nearest, self.distances]


def knn(settings: KnnSettings, make_rule):
    """A graph by the rewards of its nearest neighbours: a model, which any acquisition rule can play."""
    return KnnAgent(settings, make_rule)


knn_ucb = compose("knn-ucb", knn, UpperConfidenceBound)
