"""Fit the network to the rewards observed, by stochastic gradient descent."""

from __future__ import annotations

import torch
from torch import Tensor

from agents.beliefs.rewards import History, make_targets
from agents.contract.protocol import DivergedError
from agents.neural.settings import NeuralSettings
from gntk.engines import Batches, Network, Weights


def fit(
    network: Network, weights: Weights, history: History, settings: NeuralSettings, generator: torch.Generator
) -> list[Tensor]:
    """Fit the weights to the history.

        min_theta (1/2t) sum_i (f(G_i; theta) - y_i)^2 + (c/2) |theta - theta_c|^2
        [Wu & Amini 2024, Algorithm 1, line 7: c = m lambda, theta_c = 0; ours: c = m lambda / t, theta_c = theta_0]

    Args:
        network: the network on the K graphs.
        weights: theta_{t-1}, not changed.
        history: t >= 1 observations.
        settings: settings of the fit.
        generator: draws the batches.

    Returns:
        theta_t.

    Raises:
        DivergedError: if a weight is not finite at the end.
    """
    start = weights if settings.start == "warm" else network.initial
    centers = network.initial if settings.penalty_center == "initial" else [torch.zeros_like(w) for w in start]
    penalty = settings.ridge / (len(history) if settings.penalty == "per_round" else 1)
    batches = draw_batches(history, settings, generator)
    if not batches.targets.any() and all(map(torch.equal, start, network.initial)) and centers is network.initial:
        return list(start)  # already the minimiser: steps would only follow rounding errors, and break ties
    fitted = network.descend(start, centers, batches, settings.learning_rate, penalty)
    if not all(weight.isfinite().all() for weight in fitted):
        raise DivergedError(
            f"The fit turned non-finite after {len(history)} observations. "
            "Lower `learning_rate` or `regularization`, or set penalty='per_round'."
        )
    return fitted


def draw_batches(history: History, settings: NeuralSettings, generator: torch.Generator) -> Batches:
    """Draw the batches of one round's fit, with float64 targets.

    If `fit` is steps, graphs are drawn in proportion to their pull counts, with their mean rewards as targets. Counts
    and means are sufficient for the squared loss on a finite set, so the cost does not grow with t. The draw uses the
    order in which graphs were first played, so that their order in the set does not matter.
    """
    targets = make_targets(history, settings.standardize, settings.warp)
    if settings.fit == "steps":
        seen = history.seen
        size = settings.steps * settings.batch_size
        drawn = torch.multinomial(history.counts[seen].double(), size, replacement=True, generator=generator)
        index = seen[drawn]
        return Batches.of_size(index, targets.of(history.means[index]), settings.batch_size)
    passes = [torch.randperm(len(history), generator=generator) for _ in range(settings.epochs)]
    sizes = Batches.of_size(passes[0], passes[0], settings.batch_size).offsets.diff().repeat(settings.epochs)
    offsets = torch.nn.functional.pad(sizes.cumsum(0), (1, 0))
    chosen = torch.cat(passes)
    return Batches(history.actions[chosen], targets.of(history.rewards[chosen]), offsets)
