"""Show where a round of a neural agent goes, part by part: python -m benchmarks.speed.round_profile [AGENT] [ROUNDS].

Times are those that one core has worked in each part, without the parts inside it. Beside them stands what the products
of matrices alone would take, at the rate that this core reaches in the same run on square matrices of 512.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import wraps
from pkgutil import resolve_name
from typing import Any, NamedTuple
from unittest.mock import patch

import torch
from torch import Tensor

import registry
from gntk.engines import Batches, CompiledNetwork, HeldFeatures, Weights
from graph_bandit_lab import AgentSpec, run_bandit
from graph_bandit_lab.episodes import RoundRecord
from graph_bandit_lab.reports import print_columns

Row = tuple[str, ...]
ROUNDS, WARM = 400, 50  # the first rounds compile
SQUARE, PRODUCTS = 512, 20  # size of the matrices whose product is timed, and how often


class Part(NamedTuple):
    """A function in which a round spends time."""

    name: str
    """What it does."""
    function: str
    """Its place, from the package on."""
    work: Callable[..., float] | None = None
    """Return the floating-point operations of its products, given its arguments."""
    precision: torch.dtype = torch.float32
    """Type of the numbers that are multiplied."""


class Clock:
    """Add up the seconds of one core by part; the time of a part leaves out that of the parts inside it."""

    def __init__(self) -> None:
        self.seconds, self.operations = defaultdict[str, float](float), defaultdict[str, float](float)
        self._inside, self._since = list[str](), 0.0

    def start(self) -> None:
        """Begin with no time."""
        self.seconds.clear()
        self.operations.clear()
        self._since = time.process_time()

    def stop(self) -> None:
        """Add what has passed since the last part began or ended."""
        now = time.process_time()
        self.seconds[self._inside[-1] if self._inside else ""] += now - self._since
        self._since = now

    def timed(
        self, name: str, function: Callable[..., Any], work: Callable[..., float] | None = None
    ) -> Callable[..., Any]:
        """Return a function that does the same, and whose time and operations are added up as those of a part."""

        @wraps(function)
        def measured(*arguments: Any, **options: Any) -> Any:
            self.stop()
            self._inside.append(name)
            try:
                return function(*arguments, **options)
            finally:
                self.stop()
                self._inside.pop()
                if work is not None:
                    self.operations[name] += work(*arguments, **options)
                    self._since = time.process_time()  # counting takes no part's time

        return measured


def work_of_features(network: CompiledNetwork, weights: Weights, index: Tensor) -> float:
    """Return 4 N d m for each graph: W h_i, and the sum of those h_i that switch a hidden unit on."""
    return 4.0 * int(network.graphs.sizes[index].sum()) * weights[0].numel()


def work_of_descent(
    network: CompiledNetwork, weights: Weights, centers: Weights, batches: Batches, *steps: float
) -> float:
    """Return the same for each distinct graph of each batch."""
    return sum(work_of_features(network, weights, index.unique()) for index, _ in batches)


def work_of_gram(features: HeldFeatures, rows: Tensor) -> float:
    """Return 2 p for each pair of rows."""
    return 2.0 * len(rows) * features.features.numel()


def work_of_squares(features: HeldFeatures, **options: object) -> float:
    """Return 2 p for each row."""
    return 2.0 * features.features.numel()


PARTS = (
    Part(
        "values and tangent features of all graphs",
        "gntk.engines.compiled.CompiledNetwork.values_and_features",
        work_of_features,
    ),
    Part("steps of the fit", "gntk.engines.compiled.CompiledNetwork.descend", work_of_descent),
    Part("targets and batches of the fit", "agents.neural.agent.fit"),
    Part("cross-Gram of the graphs played", "gntk.engines.features.HeldFeatures.cross", work_of_gram, torch.float64),
    Part(
        "squared lengths of the features", "gntk.engines.features.HeldFeatures.squares", work_of_squares, torch.float64
    ),
    Part("the rest of the posterior variance", "agents.neural.covariance.RefreshedCovariance.variance"),
    Part("the rest of a choice", "agents.contract.base.BaseAgent.select_action"),
    Part("the rest of learning", "agents.contract.base.BaseAgent.update"),
    Part("what the agent would recommend", "graph_bandit_lab.episodes.findings.Findings.recommend"),
    Part("the environment", "graph_bandit_env.env.GraphActionBandit.step"),
)


def rate(precision: torch.dtype) -> float:
    """Return the operations a second of one core in the product of square matrices."""
    square = torch.randn(SQUARE, SQUARE, dtype=precision)
    square @ square
    begin = time.process_time()
    for _ in range(PRODUCTS):
        square @ square
    return 2 * SQUARE**3 * PRODUCTS / (time.process_time() - begin)


def profile(
    agent: str = "gnn-ts", rounds: int = ROUNDS, warm: int = WARM, num_graphs: int = 100, num_nodes: int = 50
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the seconds of each part of all rounds after the first `warm`, and the operations of those with products.

    Args:
        agent: an agent as on the command line.
        rounds: how many rounds are counted.
        warm: how many rounds are played before.
        num_graphs: K.
        num_nodes: N.
    """
    spec, clock = AgentSpec.parse(agent), Clock()
    env = registry.make_environment(
        horizon=warm + rounds,
        reward_model="gp_gntk",
        reward_scale="unit",
        observe="indices",
        num_graphs=num_graphs,
        num_nodes=num_nodes,
    )

    def begin(record: RoundRecord) -> None:
        if record.round == warm:
            clock.start()

    with ExitStack() as stack:
        for part in PARTS:
            timed = clock.timed(part.name, resolve_name(part.function), part.work)
            stack.enter_context(patch(part.function, timed))
        run_bandit(env, registry.make_agent(spec.name, **spec.settings), 0, on_round=begin)
        clock.stop()
    return clock.seconds, clock.operations


def table_of(seconds: dict[str, float], operations: dict[str, float], rounds: int, rates: Sequence[float]) -> list[Row]:
    """Return header and rows, the longest part first, and the sum.

    Args:
        seconds: of each part.
        operations: of the parts with products.
        rounds: in how many rounds.
        rates: operations a second in float32 and in float64.
    """
    header = ("part", "ms a round", "share", "its products alone, ms")
    precisions = {part.name: part.precision for part in PARTS}
    bounds = {
        name: 1e3 * count / rounds / rates[precisions[name] == torch.float64] for name, count in operations.items()
    }
    total = sum(seconds.values())
    rows = [
        (name or "the loop", f"{1e3 * spent / rounds:.2f}", f"{spent / total:.0%}", _number(bounds.get(name)))
        for name, spent in sorted(seconds.items(), key=lambda item: -item[1])
    ]
    return [header, *rows, ("a round", f"{1e3 * total / rounds:.2f}", "100%", _number(sum(bounds.values())))]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def main(agent: str = "gnn-ts", rounds: str = str(ROUNDS)) -> None:
    """Print the table as Markdown, for K = 100 graphs of N = 50 nodes."""
    torch.set_num_threads(1)
    before = [rate(torch.float32), rate(torch.float64)]
    seconds, operations = profile(agent, int(rounds))
    rates = [(old + rate(kind)) / 2 for old, kind in zip(before, (torch.float32, torch.float64), strict=True)]
    print_columns(table_of(seconds, operations, int(rounds), rates), markdown=True)
    print(f"\n{agent}, products of matrices: {rates[0] / 1e9:.0f} GFLOP/s in float32, {rates[1] / 1e9:.0f} in float64.")


if __name__ == "__main__":
    main(*sys.argv[1:])
