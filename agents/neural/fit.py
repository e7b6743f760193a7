"""The fit of the network to what has been observed, by stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from agents.history import History, OrderedHistory
from agents.neural.settings import NeuralSettings
from agents.protocol import DivergedError
from gntk import AggregatedGraphs, select_graphs, weighted_gradient


def fit(
    weights: Sequence[Tensor],
    initial: Sequence[Tensor],
    graphs: AggregatedGraphs,
    history: History,
    settings: NeuralSettings,
    generator: torch.Generator,
) -> list[Tensor]:
    """Fit the weights to the history.

        min_theta (1/2t) sum_i (f(G_i; theta) - y_i)^2 + (c/2) |theta - theta_c|^2
        [Wu & Amini 2024, Algorithm 1, line 7: c = m lambda, theta_c = 0; ours: c = m lambda / t, theta_c = theta_0]

    Args:
        weights: theta_{t-1}, L matrices; not changed.
        initial: theta_0.
        graphs: the K graphs.
        history: of t >= 1 observations.
        settings: of the fit.
        generator: draws the batches.

    Returns:
        theta_t.

    Raises:
        DivergedError: if a weight is not finite at the end.
    """
    fitted = [weight.clone() for weight in (weights if settings.start == "warm" else initial)]
    centers = initial if settings.penalty_center == "initial" else [torch.zeros_like(w) for w in initial]
    penalty = settings.ridge / (len(history) if settings.penalty == "per_round" else 1)
    for index, targets in draw_batches(history, settings, generator):
        _, gradients = weighted_gradient(fitted, select_graphs(graphs, index), targets.to(graphs.nodes.dtype))
        for weight, gradient, center in zip(fitted, gradients, centers, strict=True):
            weight -= settings.learning_rate * (gradient / len(index) + penalty * (weight - center))
    if not all(weight.isfinite().all() for weight in fitted):
        raise DivergedError(
            f"The fit turned non-finite after {len(history)} observations. "
            "Lower `learning_rate` or `regularization`, or choose penalty='per_round'."
        )
    return fitted


def draw_batches(
    history: History, settings: NeuralSettings, generator: torch.Generator
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield the batches of one round's fit: `(b,)` graphs and `(b,)` float64 targets.

    In mode steps a batch is drawn in proportion to pull counts and its targets are mean rewards: counts and means are
    sufficient for the squared loss on a finite set, so that the cost does not grow with t.
    """
    location, scale = history.location_and_scale() if settings.standardize else (0.0, 1.0)
    if settings.fit == "steps":
        size = settings.steps * settings.batch_size
        drawn = torch.multinomial(history.counts.double(), size, replacement=True, generator=generator)
        for index in drawn.split(settings.batch_size):
            yield index, (history.means[index] - location) / scale
        return
    if not isinstance(history, OrderedHistory):
        raise TypeError("Expected an `OrderedHistory` for fit='epochs'. Got one without order.")
    actions, targets = history.actions, (history.rewards - location) / scale
    for _ in range(settings.epochs):
        for chosen in torch.randperm(len(history), generator=generator).split(settings.batch_size):
            yield actions[chosen], targets[chosen]
