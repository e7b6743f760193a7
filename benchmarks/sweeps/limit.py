"""The neural agents in the limit of a wide network and small steps, where a round costs milliseconds.

Tangent features stay those at theta_0, but for the factor s by which a penalty centred at 0 shrinks all weights. In the
time tau = (learning rate) x (steps), gradient descent then moves the part of the prediction along each eigenvector of
the kernel, weighted by the plays, with its eigenvalue e, by

    df / dtau = s^2 e (y - f) - 2 c f,   s = exp(-c tau)

from f = 0. c is the weight of the penalty, and 2 stands for the two layers that it shrinks. With the penalty centred at
theta_0, s = 1 and c f stands in the place of 2 c f. Batches are taken whole, so they add no noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, make_dataclass, replace

import torch
from torch import Tensor
from torch_geometric.data import Batch

import registry
from agents import zoo
from agents.beliefs import AcquisitionRule, Belief, compose
from agents.beliefs.rules import PhasedElimination, ThompsonSampling, UpperConfidenceBound
from agents.neural import NeuralAgent, NeuralSettings, gnn, nn
from gntk.engines import HeldFeatures, features_at

PIECES = 50  # of tau, in each of which s is taken as constant


@dataclass(frozen=True, kw_only=True)
class SplitSettings(NeuralSettings):
    """Settings of a neural agent whose covariance may have a ridge of its own."""

    covariance_regularization: float = 0.0
    """lambda of the covariance, whose ridge is width times this; 0: `regularization`, which is that of the penalty."""


class SplitAgent(NeuralAgent):
    """The neural agent, but for the ridge of its covariance."""

    settings: SplitSettings

    def begin(self, graphs: Batch, seed: int) -> None:
        """Start with a covariance of that ridge."""
        given = self.settings
        self.settings = replace(given, regularization=given.covariance_regularization or given.regularization)
        try:
            super().begin(graphs, seed)
        finally:
            self.settings = given


class ShrunkFeatures(HeldFeatures):
    """Features of which `factor` is left; the squares of all are at hand."""

    def __init__(self, values: Tensor, rows: Tensor, squares: Tensor, factor: float) -> None:
        super().__init__(values, rows)
        self.all_squares, self.factor = squares, factor

    def select(self, index: Tensor) -> Tensor:
        """Return the features of some graphs."""
        return self.factor * super().select(index)

    def cross(self, rows: Tensor) -> Tensor:
        """Return the inner products with other rows."""
        return self.factor * super().cross(rows)

    def squares(self, precision: Tensor | None = None, among: Tensor | None = None) -> Tensor:
        """Return the weighted squared length of each row, or of some."""
        lengths = self.all_squares.sum(1) if precision is None else self.all_squares @ precision
        return self.factor**2 * (lengths if among is None else lengths[among])


class LimitAgent(SplitAgent):
    """The same, with the limit in the place of the fit; each round's fit starts at theta_0."""

    def begin(self, graphs: Batch, seed: int) -> None:
        """Start at theta_0 with nothing observed."""
        if self.settings.start != "initial" or self.settings.standardize:
            raise ValueError('Expected start="initial" and standardize=False, as in preset=paper. Got others.')
        super().begin(graphs, seed)
        self.rows = features_at(self.network, self.network.initial).select(torch.arange(graphs.num_graphs))
        self.squares, self.kernel = self.rows.square(), self.rows @ self.rows.T
        self.means = torch.zeros(graphs.num_graphs, dtype=torch.float64)
        self.shrunk = 1.0

    def belief(self, covariance: object = None) -> Belief:
        """Return f and nu sigma of each graph."""
        spread = self.settings.exploration_scale * self.covariance.variance(self._scaled()).sqrt()
        return Belief(self.means, spread)

    def learn(self, slots: Tensor, rewards: Tensor) -> None:
        """Add the graphs played to the covariance, and fit."""
        self.history.add(slots, rewards)
        self.covariance.add(self._scaled(), slots)
        settings, t = self.settings, len(self.history)
        weight = settings.ridge / (t if settings.penalty == "per_round" else 1)
        steps = settings.steps if settings.fit == "steps" else settings.epochs * math.ceil(t / settings.batch_size)
        time = settings.learning_rate * steps
        centered = settings.penalty_center == "zero"
        seen = self.history.seen
        root = (self.history.counts[seen].double() / t).sqrt()
        values, vectors = torch.linalg.eigh(root[:, None] * self.kernel[seen][:, seen] * root)
        learned = relax(values.clamp(min=0), weight, time, centered)
        targets = vectors.T @ (root * self.history.means[seen])
        self.means = (self.kernel[:, seen] * root) @ (vectors @ (learned * targets))
        self.shrunk = math.exp(-weight * time) if centered else 1.0

    def _scaled(self) -> ShrunkFeatures:
        return ShrunkFeatures(self.means, self.rows, self.squares, self.shrunk)


def relax(values: Tensor, weight: float, time: float, centered: bool) -> Tensor:
    """Return f / (e y) of each eigenvalue e after some time, `(n,)` float64."""
    shrinks = weight * time > 1e-3 and centered
    pieces, decay = (PIECES if shrinks else 1), (2 if centered else 1) * weight
    found, step = torch.zeros_like(values), time / pieces
    for piece in range(pieces):
        square = math.exp(-2 * weight * step * (piece + 0.5)) if shrinks else 1.0
        rate = (square * values + decay).clamp(min=1e-300)
        left = torch.exp(-rate * step)
        found = found * left - square * torch.expm1(-rate * step) / rate
    return found


def split(settings: SplitSettings, make_rule: Callable[[], AcquisitionRule]) -> SplitAgent:
    """A graph neural network whose covariance and penalty have different ridges."""
    return SplitAgent(settings, gnn(settings, make_rule).architecture, make_rule)


def limit(settings: SplitSettings, make_rule: Callable[[], AcquisitionRule]) -> LimitAgent:
    """The limit of a graph neural network."""
    return LimitAgent(settings, gnn(settings, make_rule).architecture, make_rule)


def limit_without_edges(settings: SplitSettings, make_rule: Callable[[], AcquisitionRule]) -> LimitAgent:
    """The limit of the NN baseline."""
    return LimitAgent(settings, nn(settings, make_rule).architecture, make_rule)


def register() -> None:
    """Name these agents in this process: `gnn-ts-split`, `gnn-ts-limit`, `nn-ucb-limit` and so on."""
    rules = {
        "ts": (zoo.gnn_ts, ThompsonSampling),
        "ucb": (zoo.gnn_ucb, UpperConfidenceBound),
        "pe": (zoo.gnn_pe, PhasedElimination),
    }
    for rule, (shipped, kind) in rules.items():
        bases = (type(shipped().settings), SplitSettings)
        settings = make_dataclass(f"Split{bases[0].__name__}", [], bases=bases, frozen=True, kw_only=True)
        for family, model in (("gnn", split), ("gnn", limit), ("nn", limit_without_edges)):
            name = f"{family}-{rule}-{'split' if model is split else 'limit'}"
            if name not in registry.registered_agents():
                registry.register_agent(name, compose(name, model, settings, kind))
