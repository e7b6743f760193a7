"""Random reward functions that are defined for any graph, including graphs drawn later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gntk import AggregatedGraphs, GraphMLP, aggregate_neighbours, one_thread, tangent_features
from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.graphs.random_graphs import RandomGraphs
from graph_bandit_env.rewards.reward_functions import (
    WIDTH,
    draw_normal,
    draw_seed,
    fit_scale_and_noise,
    mean_node,
    representation,
    train_on_degrees,
)


@dataclass(frozen=True)
class GeneralReward:
    """mu(G) = <phi(G), w>, the same function for every graph set."""

    num_nodes: int
    """N, the divisor of sums over nodes."""

    features: Callable[[AggregatedGraphs], Tensor]
    """phi, a function from K graphs to `(K, p)`."""
    weights: Tensor
    """w, `(p,)` float64."""

    @one_thread()
    @torch.no_grad()
    def __call__(self, graph_set: GraphSet) -> NDArray[np.float64]:
        """Return the `(K,)` float64 mean rewards, independent of the number of threads."""
        values: Tensor = (
            self.features(aggregate_neighbours(graph_set.to_batch(), self.num_nodes)).double() @ self.weights
        )
        return values.numpy()


@one_thread()
def draw(name: str, random_graphs: RandomGraphs, rng: np.random.Generator) -> GeneralReward:
    """Draw a named reward function that is defined for any graph.

    "linear" has the same weights here as in `graph_bandit_env.rewards.reward_functions` if the generators are equal.
    For the other names, that module draws K values for one graph set, while this one fits a function on
    `random_graphs.NUM_EXAMPLES` graphs.

    Args:
        name: "linear", "gp_gntk", "gp_representation" or "gp_representation_relu".
        random_graphs: the distribution of the graphs.
        rng: the only source of randomness.

    Returns:
        The function.
    """
    largest, _ = random_graphs.largest_sizes
    if name == "linear":
        return GeneralReward(largest, mean_node, draw_normal(rng, random_graphs.feature_dim))
    examples = random_graphs.draw_examples(rng)
    graphs = aggregate_neighbours(examples.to_batch(), largest)
    if name == "gp_gntk":
        model = GraphMLP(graphs.feature_dim, WIDTH, seed=draw_seed(rng), zero_start=False)
        features = tangent_features(model, graphs).double()
        return GeneralReward(largest, partial(tangent_features, model), draw_posterior_weights(features, rng))
    model = train_on_degrees(graphs, examples.average_degrees, rng)
    return GeneralReward(largest, partial(representation, model, relu=name.endswith("_relu")), draw_normal(rng, WIDTH))


def draw_posterior_weights(features: Tensor, rng: np.random.Generator) -> Tensor:
    """Draw weights w so that <phi(G), w> is a sample of the Gaussian-process posterior of `reward_functions.gp_gntk`.

        z ~ N(0, I_n),   (s, v) by the NLL of z under N(0, s K + v I), K = Phi Phi^T,   C = (s K + v I)^{-1}
        w = sqrt(s) u + s Phi^T C (z - sqrt(s) Phi u - sqrt(v) e),   u ~ N(0, I_p), e ~ N(0, I_n)

    The sample is a prior sample plus an update by the data      [Matheron's rule; Wilson et al. 2020].

    Args:
        features: `(n, p)` float64. Phi, the features of the example graphs.
        rng: draws z, u and e.

    Returns:
        `(p,)` float64. w.
    """
    kernel = features @ features.T
    labels = draw_normal(rng, len(kernel))
    scale, noise = fit_scale_and_noise(kernel, labels)
    prior = scale**0.5 * draw_normal(rng, features.shape[1])
    residual = labels - features @ prior - noise**0.5 * draw_normal(rng, len(features))
    covariance = scale * features @ features.T + noise * torch.eye(len(features), dtype=torch.float64)
    weights: Tensor = prior + scale * features.T @ torch.linalg.solve(covariance, residual)
    return weights
