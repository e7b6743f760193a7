"""Transform rewards into the targets of a model, and its predictions of targets back into rewards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import stdtr
from torch import Tensor

from agents.beliefs.rewards.history import RELATIVE_ROUNDING, SMALLEST_SCALE, History
from agents.beliefs.rewards.partial import PartialResults
from agents.beliefs.rewards.ranks import estimate_ranks
from agents.contract.protocol import Prediction
from agents.contract.settings import Warp

ENTRIES = 30_000  # of the largest intermediate matrix, graphs x levels: some ten of them stay in the cache
MIDDLE = 0.6745  # half of all normal variables lie within this many standard deviations of the mean
LEAST_UNITS, MOST_UNITS = 1e-9, 1e6  # noise standard deviations are clipped to this range, in units of the targets
LEAST_SPREAD = 1e-12  # of a target; smaller standard deviations are raised to this
DEGREES = 20  # of the polynomial expansion of covariances
AT_A_TIME = 100  # joint draws converted to rewards at a time
TAIL = 4.0  # degrees of freedom of a forecast: results of graphs chosen for their predictions vary more than others


@dataclass(frozen=True)
class Standardised:
    """The targets (reward - location) / unit."""

    location: float = 0.0
    """Subtracted from the rewards."""
    unit: float = 1.0
    """Divisor of the rewards: the number of reward units per target unit, used to convert noise."""

    def of(self, rewards: Tensor) -> Tensor:
        """Return the targets of rewards of any shape, float64."""
        return (rewards - self.location) / self.unit

    def to_rewards(self, targets: Tensor) -> Tensor:
        """Return the rewards of targets of any shape, float64."""
        return self.location + self.unit * targets

    def moments(self, mean: Tensor, std: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and standard deviation of the rewards of normal targets, all `(K,)` float64."""
        return self.to_rewards(mean), self.unit * std

    def covariance(self, mean: Tensor, covariance: Tensor) -> Tensor:
        """Return the joint covariance `(K, K)` of the rewards, given that of jointly normal targets."""
        return self.unit**2 * covariance

    def exceeded(self, value: float, mean: Tensor, std: Tensor) -> Tensor:
        """Return the probability `(K,)` that one more reward, normal, exceeds a value.

        Args:
            value: in reward units.
            mean: `(K,)` float64. Means of the targets.
            std: `(K,)` float64. Their standard deviations, with noise.
        """
        above: Tensor = torch.special.ndtr((mean - (value - self.location) / self.unit) / std.clamp(min=LEAST_SPREAD))
        return above

    def gains(self, value: float, mean: Tensor, root: Tensor, count: int, generator: torch.Generator) -> Tensor:
        """Draw the amounts by which normal mean rewards exceed a value: `(count, K)`, 0 if they do not.

        Args:
            value: in reward units.
            mean: `(K,)` float64. Means of the targets.
            root: `(K, K)` float64. R with R R^T = covariance of the targets, without noise.
            count: number of joint draws.
            generator: generator of the draws.
        """
        normal = torch.randn(count, len(mean), generator=generator, dtype=torch.float64)
        return (self.to_rewards(mean + normal @ root.T) - value).clamp(min=0)


class NormalScores:
    """Normal scores: the i-th smallest of q rewards has a fixed score, regardless of its distance to the others.

        z_i = Phi^{-1}((i - 1/2) / q),   divided by their standard deviation      [Blom 1958]

    Equal rewards share the mean of their ranks. Between two rewards the targets are interpolated linearly. Beyond the
    smallest and the largest they are extrapolated with the mean slope up to the median.

    Interval-censored rewards are included in q, and i is estimated (`estimate_ranks`). If some rewards must be smaller
    than all others, their upper bound has the score of their share. The largest rewards are treated in the same way.

    Args:
        rewards: `(q,)` float64, q >= 1. The mean rewards of the graphs played.
        unit: standard deviation of these rewards. The unit of the targets comes from the middle half of the rewards,
            which is robust to outliers, or from `unit` if all are equal.
        resolution: rewards that differ by at most this are equal, so that rounding errors do not affect ranks.
        intervals: start and end, `(n,)` float64 each, of interval-censored rewards.
    """

    def __init__(
        self, rewards: Tensor, unit: float, resolution: float = 0.0, intervals: tuple[Tensor, Tensor] | None = None
    ) -> None:
        self.unit = unit
        ordered = rewards.sort().values
        level = (ordered.diff(prepend=ordered[:1]) > resolution).cumsum(0)
        sizes = level.bincount().double()
        levels = level.bincount(ordered) / sizes
        levels, ranks, ends = estimate_ranks(levels, sizes, *(intervals or (rewards[:0], rewards[:0])))
        total = len(rewards) + (len(intervals[0]) if intervals else 0)
        scores = torch.special.ndtri(ranks / total)
        every = torch.arange(total, dtype=torch.float64)
        spread = (torch.special.ndtri((every + 0.5) / total) if intervals else scores[level]).std(correction=0)
        spread = spread.where(spread > 0, 1.0)
        self._scores = scores / spread
        self._levels = levels
        self._slopes = _slopes(self._scores, self._levels) if len(levels) > 1 else ordered.new_full((2,), unit)
        self._bounds = torch.special.ndtri(ends / (total + 1)) / spread
        low, high = self.to_rewards(ordered.new_tensor([-MIDDLE, MIDDLE])).tolist()
        self.unit = (high - low) / (2 * MIDDLE) if high - low > resolution else unit

    def of(self, rewards: Tensor) -> Tensor:
        """Transform rewards into targets."""
        return _interpolate(rewards, self._levels, self._scores, 1 / self._slopes)

    def to_rewards(self, targets: Tensor) -> Tensor:
        """Transform targets into rewards. Medians are mapped to medians."""
        return _interpolate(targets, self._scores, self._levels, self._slopes)

    def moments(self, mean: Tensor, std: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and standard deviation of the rewards of normal targets, in closed form.

        On each piece the reward is a + b t with t = (target - mean) / std, and the moments of t are

            M_0 = [Phi(t)],   M_1 = -[phi(t)],   M_2 = M_0 - [t phi(t)]

        where [...] is the difference between both ends of the piece.
        """
        rows = max(1, ENTRIES // (len(self._scores) + 1))
        parts = [self._moments(*part) for part in zip(mean.split(rows), std.split(rows), strict=True)]
        means, stds = zip(*parts, strict=True)
        return torch.cat(means), torch.cat(stds)

    def covariance(self, mean: Tensor, covariance: Tensor) -> Tensor:
        """Return the joint covariance of the rewards of jointly normal targets, by Mehler's formula.

            cov(r_i, r_j) = sum_k a_ik a_jk rho_ij^k,   a_ik = E r_i(t) He_k(t) / sqrt(k!),   k = 1, ..., `DEGREES`

        t is standard normal and He_k a Hermite polynomial. Rewards are piecewise linear in t, so that integration by
        parts leaves terms at the kinks e alone, where the slope changes by d:

            a_1 = E r',   a_k = sum_e d_e He_{k-2}(e) phi(e) / sqrt(k!)   for k > 1

        The variances are those of `moments`: the contribution of higher degrees counts as independent between graphs.
        """
        std = covariance.diagonal().clamp(min=LEAST_SPREAD**2).sqrt()
        ends = (self._scores - mean.unsqueeze(1)) / std.unsqueeze(1)
        slopes = self._slopes / self.unit
        coefficients = [_steps(torch.special.ndtr(ends), 1.0) @ slopes]
        before, polynomial = torch.zeros_like(ends), torch.exp(-(ends**2) / 2) / math.sqrt(2 * math.pi)
        for k in range(2, DEGREES + 1):
            coefficients.append(polynomial @ slopes.diff() / math.sqrt(k * (k - 1)))
            following = (ends * polynomial - math.sqrt(k - 2) * before) / math.sqrt(k - 1)
            before, polynomial = polynomial, following
        correlation = (covariance / torch.outer(std, std)).clamp(-1, 1)
        total, power = torch.zeros_like(covariance), torch.ones_like(covariance)
        for coefficient in coefficients:
            power = power * correlation
            total += power * torch.outer(std * coefficient, std * coefficient)
        total *= self.unit**2
        total.diagonal().copy_(self.moments(mean, std)[1] ** 2)
        return total

    def exceeded(self, value: float, mean: Tensor, std: Tensor) -> Tensor:
        """Return the probability that one more reward exceeds a value.

            P = F_4((mean - c) / std),   c = z + (b - z) min(1, std),   b = Phi^{-1}(i / (q + 1))

        z is the target of the value, b that for the i-th smallest reward, and F_4 Student's distribution. Among q + 1
        rewards of unknown graphs (std = 1), the last is the largest with probability 1 / (q + 1), while the score of
        the largest of q would imply 1 / (2 q). The prediction of a known graph (std = 0), such as a copy of the best
        one, is relative to the scores. b is interpolated and extrapolated like the scores.
        """
        above = (mean - self._barrier(value, std)) / std.clamp(min=LEAST_SPREAD)
        return torch.from_numpy(stdtr(TAIL, above.numpy()))

    def gains(self, value: float, mean: Tensor, root: Tensor, count: int, generator: torch.Generator) -> Tensor:
        """Draw the amounts by which the mean rewards exceed a value, with the barriers and the tails of `exceeded`."""
        normal = torch.randn(count, len(mean), generator=generator, dtype=torch.float64)
        squares = torch.randn(count, int(TAIL), generator=generator, dtype=torch.float64).square().mean(1, keepdim=True)
        lift = self.of(mean.new_tensor(value)) - self._barrier(value, root.square().sum(1).sqrt())
        drawn = (normal @ root.T).div_(squares.sqrt()).add_(mean + lift)
        return torch.cat([self.to_rewards(some) for some in drawn.split(AT_A_TIME)]).sub_(value).clamp_(min=0)

    def _barrier(self, value: float, std: Tensor) -> Tensor:
        """Return c of `exceeded`, `(K,)`."""
        reward = std.new_tensor(value)
        slopes = _slopes(self._levels, self._bounds) if len(self._levels) > 1 else 1 / self._slopes
        score, bound = self.of(reward), _interpolate(reward, self._levels, self._bounds, slopes)
        return score + (bound - score) * std.clamp(max=1)

    def _moments(self, mean: Tensor, std: Tensor) -> tuple[Tensor, Tensor]:
        std = std.clamp(min=LEAST_SPREAD).unsqueeze(1)
        ends = (self._scores - mean.unsqueeze(1)) / std
        density = torch.exp(-(ends**2) / 2) / math.sqrt(2 * math.pi)
        zeroth = _steps(torch.special.ndtr(ends), 1.0)
        first, second = -_steps(density, 0.0), zeroth - _steps(ends * density, 0.0)
        median = self.to_rewards(mean)  # a and b are relative to the median, in units, so that their squares are exact
        anchor = _anchors(len(self._slopes))
        b = std * self._slopes / self.unit
        a = (self._levels[anchor] - median.unsqueeze(1)) / self.unit - b * ends[:, anchor]
        expected = (a * zeroth + b * first).sum(1)
        squared = (a**2 * zeroth + 2 * a * b * first + b**2 * second).sum(1)
        return median + self.unit * expected, self.unit * (squared - expected**2).clamp(min=0).sqrt()


Targets: TypeAlias = Standardised | NormalScores
"""An increasing, invertible function from rewards to targets."""


def predict(targets: Targets, mean: Tensor, std: Tensor, noise: float) -> Prediction:
    """Predict the rewards from normal targets.

    Args:
        targets: the scale on which the rewards are modelled.
        mean: `(K,)` float64. Means of the targets.
        std: `(K,)` float64. Their standard deviations, without noise.
        noise: noise variance of a target.
    """

    def quantiles(probability: float) -> NDArray[np.float64]:
        likely = mean + NormalDist().inv_cdf(probability) * (std**2 + noise).sqrt()
        return targets.to_rewards(likely).numpy()

    def exceeds(value: float) -> NDArray[np.float64]:
        return targets.exceeded(value, mean, (std**2 + noise).sqrt()).numpy()

    expected, spread = (moment.numpy() for moment in targets.moments(mean, std))
    noise_std = targets.unit * noise**0.5
    if isinstance(targets, Standardised):
        return Prediction(expected, spread, noise_std)
    return Prediction(expected, spread, noise_std, quantiles, exceeds)


def variances_of(deviations: Tensor, targets: Targets) -> Tensor:
    """Return noise variances in squared units of the targets.

    The unit of the targets converts them, as for learned noise. The slope at each result is not used, because normal
    scores have steep pieces between nearly equal results.

    Args:
        deviations: `(n,)` float64. Standard deviations in reward units.
        targets: the scale on which rewards are modelled.
    """
    return (deviations / targets.unit).clamp(LEAST_UNITS, MOST_UNITS).square()


def make_targets(
    history: History, standardize: bool, warp: Warp = "none", partial: PartialResults | None = None
) -> Targets:
    """Make the targets of the observed rewards.

    Args:
        history: the rewards.
        standardize: standardise rewards. If False, rewards are used as targets.
        warp: "none", or "normal_scores" of the graphs' mean rewards. Without exact rewards, ranks are unknown and
            bounds are standardised.
        partial: a table with bounds on further rewards, or None. If rewards are standardised, bounds count as rewards.
    """
    if not standardize:
        return Standardised()
    rewards, intervals, (location, unit) = history.means[history.seen], None, history.location_and_scale()
    resolution = history.resolution if len(rewards) else SMALLEST_SCALE
    if partial is not None and bool((partial.sides != 0).any()):
        intervals = partial.intervals(history.counts)
        numbers = torch.cat([rewards, *(side[side.isfinite()] for side in intervals)])
        resolution = max(RELATIVE_ROUNDING * numbers.abs().max().item(), SMALLEST_SCALE)
        location, scale = numbers.mean().item(), numbers.std(correction=0).item()
        unit = scale if scale > resolution else max(1.0, resolution)
    if warp == "none" or not len(rewards):
        return Standardised(location, unit)
    return NormalScores(rewards, unit, resolution, intervals)


def _interpolate(x: Tensor, knots: Tensor, values: Tensor, slopes: Tensor) -> Tensor:
    """Return the function that is linear on each of the m + 1 pieces between m knots."""
    piece = torch.searchsorted(knots, x.contiguous(), right=True)  # at a knot, its exact value
    anchor = _anchors(len(slopes))[piece]
    return values[anchor] + slopes[piece] * (x - knots[anchor])


def _slopes(knots: Tensor, values: Tensor) -> Tensor:
    """Return the slope on each piece. Both outer pieces have the mean slope up to the middle knot."""
    last = len(knots) - 1
    begins = torch.tensor([0, *range(last), last // 2])
    ends = torch.tensor([(last + 1) // 2, *range(1, last + 1), last])
    slopes: Tensor = (values[ends] - values[begins]) / (knots[ends] - knots[begins])
    return slopes


def _anchors(pieces: int) -> Tensor:
    """Return a knot at an end of each piece: the left one, if available."""
    return (torch.arange(pieces) - 1).clamp(min=0)


def _steps(values: Tensor, last: float) -> Tensor:
    """Return the differences of a function between the ends of pieces, starting from 0."""
    begin, end = values.new_zeros(len(values), 1), values.new_full((len(values), 1), last)
    return torch.cat([begin, values, end], dim=1).diff(dim=1)
