"""Choose molecules, and the assay of each, until the money of a round is spent."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import torch
from scipy.special import ndtri
from torch import Tensor

from benchmarks.pools.assays.linked import LinkedModel

SHORT_LIST = 300  # molecules to choose among, those of largest mean + 2 sigma in the dear assay
ROUNDING = 1e-9
OUTCOMES = torch.from_numpy(ndtri((np.arange(24) + 0.5) / 24))  # of a cheap result, equally likely, increasing


class Offer(NamedTuple):
    """What is known of n molecules, and what they cost."""

    mean: Tensor
    """`(n,)` float64. Mean of the dear value."""
    covariance: Tensor
    """`(2 n, 2 n)` float64. Covariance of the dear values, then of the cheap ones."""
    dear_noise: float
    """Noise variance of a dear result."""
    cheap_noise: float
    """Noise variance of a cheap result."""
    dear_price: float
    """What a dear result costs; it can be infinite."""
    cheap_price: float
    """What a cheap result costs."""
    dear_open: Tensor
    """`(n,)` bool. Whether the dear result can be bought."""
    cheap_open: Tensor
    """`(n,)` bool. Whether the cheap result can be bought."""
    threshold: float
    """The dear value above which a molecule is a gain."""


Rule: TypeAlias = Callable[[Offer], tuple[int, bool]]
"""Choose a molecule, and whether it goes to the cheap assay."""


def by_variance(offer: Offer) -> tuple[int, bool]:
    """Choose the molecule of the highest upper bound, then the assay that tells more of its dear value for its price.

        argmax_x m(x) + sigma(x);   argmax_a cov(dear(x), a(x))^2 / (var(a(x)) + noise_a) / price_a

    An assay that cannot be bought is left out.
    """
    size = len(offer.mean)
    variance = offer.covariance.diagonal().clamp(min=0)
    bound = offer.mean + variance[:size].sqrt()
    molecule = int(bound.where(offer.dear_open | offer.cheap_open, -torch.inf).argmax())
    dear, cheap = variance[molecule].item(), variance[size + molecule].item()
    shared = offer.covariance[molecule, size + molecule].item()
    told_by_dear = dear**2 / (dear + offer.dear_noise) / offer.dear_price
    told_by_cheap = shared**2 / (cheap + offer.cheap_noise) / offer.cheap_price
    if not (offer.cheap_open[molecule] and offer.dear_open[molecule]):
        return molecule, bool(offer.cheap_open[molecule])
    return molecule, told_by_cheap > told_by_dear


def by_funnel(offer: Offer) -> tuple[int, bool]:
    """Choose the molecule and assay of the largest expected gain per expected price.

        dear:  E (dear(x) - t)_+ / p
        cheap: max_S E[(dear(x) - t)_+ 1_S] / (q + p P(S)),   S: cheap results after which the dear one is bought

    So a cheap result gains what the dear one that may follow it gains: the Gittins index of a molecule that may be
    tested before it is bought [Weitzman 1979]. What a result tells of other molecules does not count.
    """
    size = len(offer.mean)
    variance = offer.covariance.diagonal().clamp(min=0)
    sigma = variance[:size].sqrt()
    dear = expected_gain(offer.mean, sigma, offer.threshold) / offer.dear_price
    moved = offer.covariance[:size, size:].diagonal() / (variance[size:] + offer.cheap_noise).sqrt()
    moved = torch.minimum(moved.clamp(min=0), 0.9999 * sigma).unsqueeze(1)  # deviation of the mean after a cheap result
    rest = (sigma.unsqueeze(1).square() - moved.square()).sqrt().expand(-1, len(OUTCOMES))
    gains = expected_gain(offer.mean.unsqueeze(1) + moved * OUTCOMES, rest, offer.threshold).flip(1).cumsum(1)
    followed = torch.arange(1, len(OUTCOMES) + 1, dtype=torch.float64) / len(OUTCOMES)
    price = offer.dear_price if math.isfinite(offer.dear_price) else offer.cheap_price
    cheap = (gains / len(OUTCOMES) / (offer.cheap_price + price * followed)).amax(1)
    dear, cheap = dear.where(offer.dear_open, -torch.inf), cheap.where(offer.cheap_open, -torch.inf)
    molecule = int(torch.maximum(dear, cheap).argmax())
    return molecule, bool(cheap[molecule] > dear[molecule])


def expected_gain(mean: Tensor, sigma: Tensor, threshold: float) -> Tensor:
    """Return E (v - threshold)_+ of normal values v."""
    sigma = sigma.clamp(min=1e-9)
    z = (mean - threshold) / sigma
    density = torch.exp(-z.square() / 2) / math.sqrt(2 * math.pi)
    gain: Tensor = sigma * (density + z * torch.special.ndtr(z)).clamp(min=1e-30)
    return gain


RULES: dict[str, Rule] = {"variance": by_variance, "funnel": by_funnel}


def spend_round(
    model: LinkedModel,
    rule: Rule,
    has_dear: Tensor,
    has_cheap: Tensor,
    prices: tuple[float, float],
    money: float,
    quantile: float,
) -> tuple[list[int], list[int]]:
    """Choose until the money of a round pays for no other result. Each molecule is chosen once.

    A result that was chosen counts as measured, and equal to its mean, so that the choice spreads [Desautels et al.
    2014].

    Args:
        model: trained on the results so far.
        rule: chooses a molecule and its assay.
        has_dear: `(K,)` bool. Molecules with a dear result.
        has_cheap: `(K,)` bool. Molecules with a cheap result.
        prices: of a dear and of a cheap result.
        money: what the round may cost.
        quantile: the threshold is that quantile of the means of molecules with a dear result.

    Returns:
        Molecules for the dear and for the cheap assay.
    """
    mean, variance = _dear_moments(model, len(has_dear))
    hoped = (mean + 2 * variance.sqrt()).where(~has_dear, -torch.inf)
    near = hoped.topk(min(SHORT_LIST, int((~has_dear).sum()))).indices
    means, covariance = model.predict(near)
    size, link, threshold = len(near), model.link, mean[has_dear].quantile(quantile).item()
    fresh, tested = torch.ones(size, dtype=torch.bool), has_cheap[near]
    chosen: tuple[list[int], list[int]] = ([], [])
    while True:
        pays = [price <= money * (1 + ROUNDING) for price in prices]
        offer = Offer(
            means[:size], covariance, link.noise, link.cheap_noise, *prices,
            dear_open=fresh & pays[0], cheap_open=fresh & ~tested & pays[1], threshold=threshold,
        )  # fmt: skip
        if not (offer.dear_open | offer.cheap_open).any():
            return chosen
        k, cheap = rule(offer)
        chosen[cheap].append(int(near[k]))
        fresh[k], money = False, money - prices[cheap]
        row = k + size * cheap
        column = covariance[row].clone()
        noise = link.cheap_noise if cheap else link.noise
        covariance.addr_(column, column, alpha=-1 / (column[row].item() + noise))


def _dear_moments(model: LinkedModel, size: int) -> tuple[Tensor, Tensor]:
    """Return means and variances of the dear values of all molecules, `(K,)` each."""
    means, variances = [], []
    for block in torch.arange(size).split(500):
        mean, covariance = model.predict(block)
        means.append(mean[: len(block)])
        variances.append(covariance.diagonal()[: len(block)].clamp(min=0))
    return torch.cat(means), torch.cat(variances)
