"""The three reward functions of the paper, drawn at random over a graph set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gntk import (
    AggregatedGraphs,
    GraphMLP,
    aggregate_neighbours,
    empirical_kernel,
    one_thread,
    select_graphs,
    symmetric_root,
)
from graph_bandit_env.graphs.graph_set import GraphSet

WIDTH = 512  # m of the networks that define the Gaussian-process rewards, with L = 2


@dataclass(frozen=True, eq=False)
class Drawn:
    """Mean rewards of K graphs, and the distribution of other draws of the same random function."""

    mean_rewards: Tensor
    """mu, `(K,)` float64."""
    root: Callable[[], Tensor]
    """Computes A, `(K, r)` float64: fresh draws are A xi, xi ~ N(0, I_r), with the same graphs and network."""


@one_thread()
def draw(name: str, graph_set: GraphSet, rng: np.random.Generator) -> Drawn:
    """Draw a named reward function for the graphs of a set, independent of the number of threads."""
    graphs = aggregate_neighbours(graph_set.to_batch())
    if name == "linear":
        return linear(graphs, rng)
    if name == "gp_gntk":
        return gp_gntk(graphs, rng)
    return gp_representation(graphs, graph_set.average_degrees, rng, relu=name.endswith("_relu"))


def linear(graphs: AggregatedGraphs, rng: np.random.Generator) -> Drawn:
    """Draw a linear function of the mean aggregated node.

        mu(G) = <theta*, (1/N) sum_i h_i>,   theta* ~ N(0, I_d)      [Wu & Amini 2024, Section 5]

    Args:
        graphs: K graphs.
        rng: draws theta*.

    Returns:
        mu. A fresh draw has another theta*.
    """
    features = mean_node(graphs)
    return Drawn(features @ draw_normal(rng, graphs.feature_dim), lambda: features)


def mean_node(graphs: AggregatedGraphs) -> Tensor:
    """Return (1/N) sum_i h_i of each graph, `(K, d)` float64."""
    return (graphs.sum_over_nodes(graphs.nodes.double()).T / graphs.divisors).T


def gp_gntk(graphs: AggregatedGraphs, rng: np.random.Generator) -> Drawn:
    """Draw mean rewards from the posterior of a Gaussian process with an empirical GNTK.

        z ~ N(0, I_K),   (s, n) by 30 Adam steps on the NLL of z under N(0, s K + n I),
        mu ~ N(s K C z, s K - s K C s K),   C = (s K + n I)^{-1}      [Wu & Amini 2024, Section 5]

    A fresh draw has other labels, but the same network, s and n (from the first labels). Marginally over the labels,

        mu' ~ N(0, s K - s K C s K + (s K C)(s K C)^T)

    Args:
        graphs: K graphs.
        rng: draws the network, z and mu.

    Returns:
        mu, and the symmetric root of the covariance of mu'.
    """
    kernel = empirical_kernel(GraphMLP(graphs.feature_dim, WIDTH, seed=draw_seed(rng), zero_start=False), graphs)
    labels = draw_normal(rng, len(graphs))
    scale, noise = fit_scale_and_noise(kernel, labels)
    prior, identity = scale * kernel, torch.eye(len(graphs), dtype=torch.float64)
    gain = torch.linalg.solve(prior + noise * identity, prior).T
    posterior = prior - gain @ prior
    means = draw_gaussian(gain @ labels, posterior, rng)
    return Drawn(means, one_thread()(lambda: symmetric_root(posterior + gain @ gain.T)))


def gp_representation(
    graphs: AggregatedGraphs, degrees: NDArray[np.float64], rng: np.random.Generator, relu: bool
) -> Drawn:
    """Draw mean rewards from a Gaussian process on the representation of a network trained to predict average degree.

        mu ~ N(0, R R^T),   r(G) = (1/N) sum_i f^(L-1)(h_i)      [Wu & Amini 2024, Section 5]

    Taken literally, f^(1) at L = 2 comes before the ReLU, so this mu is a linear function of the mean aggregated node,
    like `linear`. With `relu` the representation is ReLU(f^(L-1)).

    Args:
        graphs: K graphs.
        degrees: `(K,)`. Average degree of each graph, the targets of `train_on_degrees`.
        rng: draws the network, the batches and mu.
        relu: if True, use the representation after the ReLU.

    Returns:
        mu. A fresh draw has the same R.
    """
    features = representation(train_on_degrees(graphs, degrees, rng), graphs, relu)
    means = draw_gaussian(torch.zeros(len(graphs), dtype=torch.float64), features @ features.T, rng)
    return Drawn(means, lambda: features)


def train_on_degrees(graphs: AggregatedGraphs, degrees: NDArray[np.float64], rng: np.random.Generator) -> GraphMLP:
    """Train a network to predict the average degree, with Adam (0.01), batches of 2 and 30 passes.

    Args:
        graphs: K graphs.
        degrees: `(K,)`. Average degree of each graph.
        rng: draws the network and the batches.

    Returns:
        The network.
    """
    model = GraphMLP(graphs.feature_dim, WIDTH, seed=draw_seed(rng), zero_start=False)
    targets = torch.as_tensor(degrees, dtype=torch.float32)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(30):
        for index in torch.from_numpy(rng.permutation(len(graphs))).split(2):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(select_graphs(graphs, index)), targets[index]).backward()
            optimizer.step()
    return model


def representation(model: GraphMLP, graphs: AggregatedGraphs, relu: bool) -> Tensor:
    """Return (1/N) sum_i f^(1)(h_i) of each graph, or of ReLU(f^(1)): `(K, m)` float64."""
    first = graphs.nodes @ model.weights[0].detach().T
    hidden = first.relu() if relu else first
    return graphs.sum_over_nodes(hidden.double()) / graphs.divisors.unsqueeze(1)


def fit_scale_and_noise(kernel: Tensor, labels: Tensor, steps: int = 30) -> tuple[float, float]:
    """Fit the output scale s and the noise variance n of a Gaussian process by Adam (0.01) on the NLL, from s = n = 1.

        NLL = (1/2) z^T (s K + n I)^{-1} z + (1/2) log det(s K + n I)

    Args:
        kernel: `(K, K)` float64.
        labels: `(K,)` float64, z.
        steps: Adam steps on (log s, log n).

    Returns:
        s and n, both positive.
    """
    logarithms = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([logarithms], lr=0.01)
    identity = torch.eye(len(kernel), dtype=torch.float64)
    for _ in range(steps):
        optimizer.zero_grad()
        scale, noise = logarithms.exp()
        factor = torch.linalg.cholesky(scale * kernel + noise * identity)
        whitened = torch.linalg.solve_triangular(factor, labels.unsqueeze(1), upper=False)
        (whitened.square().sum() / 2 + factor.diagonal().log().sum()).backward()
        optimizer.step()
    scale, noise = logarithms.detach().exp().tolist()
    return scale, noise


def draw_gaussian(mean: Tensor, covariance: Tensor, rng: np.random.Generator) -> Tensor:
    """Draw from N(mean, covariance) by an eigendecomposition. The covariance may be singular.

        mean + V sqrt(Lambda) V^T z

    Negative eigenvalues are set to 0. The symmetric root, unlike V sqrt(Lambda), does not depend on the signs of the
    eigenvectors.
    """
    values, vectors = torch.linalg.eigh((covariance + covariance.T) / 2)
    drawn: Tensor = mean + vectors @ (values.clamp(min=0).sqrt() * (vectors.T @ draw_normal(rng, len(mean))))
    return drawn


def draw_normal(rng: np.random.Generator, size: int) -> Tensor:
    """Draw `(size,)` float64 from N(0, I)."""
    return torch.from_numpy(rng.standard_normal(size))


def draw_seed(rng: np.random.Generator) -> int:
    """Draw a seed for the weights of a network."""
    return int(rng.integers(2**63))
