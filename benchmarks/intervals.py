"""Measure how often 95 % intervals of a mean hold it, on skewed positive numbers such as regret.

python -m benchmarks.intervals --markdown
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import tyro
from numpy.typing import NDArray
from scipy import stats

from graph_bandit_lab.analysis import mean_interval
from graph_bandit_lab.reports import print_columns

Floats = NDArray[np.float64]
DRAWS = 1000  # of a bootstrap
KINDS: Mapping[str, Callable[[np.random.Generator, tuple[int, int]], Floats]] = {  # each of mean 1
    "normal, sd 0.2": lambda rng, shape: rng.normal(1, 0.2, shape),
    "gamma, sd 0.7": lambda rng, shape: rng.gamma(2, 0.5, shape),
    "exponential, sd 1": lambda rng, shape: rng.exponential(1, shape),
    "lognormal, sd 1.3": lambda rng, shape: rng.lognormal(-0.5, 1, shape),
    "one of five stuck": lambda rng, shape: rng.gamma(10, 0.1, shape) * np.where(rng.random(shape) < 0.2, 10, 1) / 2.8,
}


def student(values: Floats) -> tuple[Floats, Floats]:
    """Return Student's interval, which may lie below 0."""
    return mean_interval(values, "any")


def percentile(values: Floats, tail: float = 0.025) -> tuple[Floats, Floats]:
    """Return the percentile bootstrap interval."""
    count = len(values)
    weights = np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), DRAWS) / count
    low, high = np.quantile(weights @ values, [tail, 1 - tail], axis=0)
    return low, high


def widened(values: Floats) -> tuple[Floats, Floats]:
    """Return the percentile interval with the percentiles that are right for few normal numbers      [Hesterberg 2015].

    A backtest has it.
    """
    count = len(values)
    return percentile(values, float(stats.norm.cdf(np.sqrt(count / (count - 1)) * stats.t.ppf(0.025, count - 1))))


METHODS: Mapping[str, Callable[[Floats], tuple[Floats, Floats]]] = {
    "Student, of the logarithm": mean_interval,
    "Student": student,
    "percentile bootstrap": percentile,
    "widened percentiles": widened,
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Measure how often 95 % intervals of a mean hold it."""

    repetitions: tuple[int, ...] = (3, 5, 10, 20)
    """Sizes of the samples."""
    samples: int = 4000
    """Samples of each size."""
    seed: int = 0
    """Seed of the samples."""
    markdown: bool = False
    """Print a Markdown table."""


def measure(settings: Settings) -> list[tuple[str, ...]]:
    """Return header and rows: the share of samples of which the interval holds the mean, by size, in percent."""
    rows: list[tuple[str, ...]] = [("numbers", "interval", *(f"n = {count}" for count in settings.repetitions))]
    for kind, draw in KINDS.items():
        rng = np.random.default_rng(settings.seed)
        samples = [draw(rng, (count, settings.samples)).clip(0) for count in settings.repetitions]
        for name, method in METHODS.items():
            bounds = [method(values) for values in samples]
            shares = [100 * float(np.mean((low <= 1) & (high >= 1))) for low, high in bounds]
            rows.append((kind, name, *(f"{share:.0f}" for share in shares)))
    return rows


def main(args: list[str] | None = None) -> int:
    """Print the table, and return the exit code."""
    settings = tyro.cli(Settings, args=args, prog="python -m benchmarks.intervals", description=__doc__)
    rows = measure(settings)
    print_columns(rows, markdown=settings.markdown)
    return 0


if __name__ == "__main__":
    sys.exit(main())
