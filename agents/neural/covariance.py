"""Posterior variance of tangent features: the matrix U of the paper, either its diagonal or exact in dual form.

    sigma^2(G) = psi(G)^T U^{-1} psi(G),   U = ridge I + sum_i psi_i psi_i^T,   ridge = m lambda

This is (1/m) |g|^2_{U^{-1}} of Wu & Amini (2024), Eq. (3), with both factors 1/m absorbed, in units of the noise
variance. All decompositions are in float64. The noise and the residual part of each graph are defined here as well.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from agents.beliefs.rewards import History, Targets
from agents.contract.protocol import State
from agents.neural.settings import NeuralSettings
from gntk import gram, symmetric_root
from gntk.engines import Features, Network

PRIOR_ROUNDS = 2.0  # weight of the prior of a noise variance, in observations
PRIOR_NOISE = 0.1  # noise variance around each graph's own mean before any graph has been played twice


class Covariance(ABC):
    """Operations on U that an agent needs. `features` holds the tangent features of all K graphs at current weights."""

    remembered: ClassVar[tuple[str, ...]]
    """Names of the tensors that hold all updates so far."""

    @abstractmethod
    def variance(self, features: Features, among: Tensor | None = None) -> Tensor:
        """Return sigma^2 of each graph, `(K,)` float64, or of the graphs `among` `(n,)`, `(n,)`."""

    @abstractmethod
    def root(self, features: Features, among: Tensor | None = None) -> Tensor:
        """Return R, `(n, r)` float64, continuous in R R^T = psi U^{-1} psi^T, the joint covariance of these graphs."""

    @abstractmethod
    def add(self, features: Features, actions: Tensor) -> None:
        """Add the graphs played, `actions` `(n,)` int64."""

    @abstractmethod
    def log_determinant(self, features: Features) -> float:
        """Return log det(U / ridge)."""

    def exchange(self, kept: Tensor, added: int) -> None:  # noqa: B027
        """Keep the graphs of the slots `kept` `(n,)`, then append graphs that were never played.

        By default nothing changes, because U depends on weights, not graphs.
        """

    def state_dict(self) -> State:
        """Return the updates so far."""
        return {name: getattr(self, name).clone() for name in self.remembered}

    def load_state_dict(self, state: State) -> None:
        """Replace the updates so far."""
        for name in self.remembered:
            setattr(self, name, state[name].clone())


class DiagonalCovariance(Covariance):
    """U without its off-diagonal entries, as in the paper's experiments: O(p) memory. All graphs are remembered."""

    remembered = ("diagonal",)

    def __init__(self, ridge: float, num_weights: int) -> None:
        self.ridge = ridge
        self.diagonal = torch.full((num_weights,), ridge, dtype=torch.float64)

    def variance(self, features: Features, among: Tensor | None = None) -> Tensor:
        """Return sum_j psi_j^2 / U_jj."""
        return features.squares(self.diagonal.reciprocal(), among)

    def root(self, features: Features, among: Tensor | None = None) -> Tensor:
        """Return psi diag(U)^{-1/2}, with r = p."""
        index = torch.arange(len(features.values)) if among is None else among
        return features.select(index).double() * self.diagonal.rsqrt()

    def add(self, features: Features, actions: Tensor) -> None:
        """Add psi_j^2 of each graph played to U_jj."""
        self.diagonal += features.select(actions).double().square().sum(0)

    def log_determinant(self, features: Features) -> float:
        """Return the sum of log(U_jj / ridge)."""
        return (self.diagonal / self.ridge).log().sum().item()


class _ExactCovariance(Covariance):
    """Exact U in dual form: sigma^2 = (|psi|^2 - |e|^2) / ridge, with |e|^2 the part explained by the graphs played."""

    ridge: float

    def variance(self, features: Features, among: Tensor | None = None) -> Tensor:
        """Return sigma^2 of each graph."""
        explained = self._explained(features, among).square().sum(0)
        return (features.squares(among=among) - explained).clamp(min=0) / self.ridge

    def root(self, features: Features, among: Tensor | None = None) -> Tensor:
        """Return the symmetric root of the posterior covariance of these graphs."""
        explained = self._explained(features, among)
        kernel = features.kernel() if among is None else gram(features.select(among), features.select(among))
        return symmetric_root((kernel - explained.T @ explained) / self.ridge)

    @abstractmethod
    def _explained(self, features: Features, among: Tensor | None) -> Tensor:
        """Return e, one column for each graph."""


class RefreshedCovariance(_ExactCovariance):
    """Exact U with every past feature at the current weights. Only the pull counts are stored.

        sigma^2 = (diag K - |L^{-1} S K|^2 / ridge) / ridge,   S = diag(sqrt(n)),   L L^T = I + S K S / ridge

    Here K = psi psi^T and n are the pull counts (the linearised Laplace posterior). L involves only the q graphs that
    were played: O(q K) memory and O(q K p + q^2 K) time per round, for any t. With features at the initial weights this
    is the same U as that of `FrozenCovariance`.
    """

    remembered = ("counts",)

    def __init__(self, ridge: float, num_graphs: int) -> None:
        self.ridge = ridge
        self.counts = torch.zeros(num_graphs, dtype=torch.float64)

    def add(self, features: Features, actions: Tensor) -> None:
        """Count the graphs played."""
        self.counts += torch.bincount(actions, minlength=len(self.counts))

    def exchange(self, kept: Tensor, added: int) -> None:
        """Keep the counts of the graphs that stay."""
        self.counts = torch.cat([self.counts[kept], self.counts.new_zeros(added)])

    def log_determinant(self, features: Features) -> float:
        """Return log det(I + S K S / ridge), from the factor."""
        return 2 * self._factor(*self._scaled(features)).diagonal().log().sum().item()

    def _explained(self, features: Features, among: Tensor | None) -> Tensor:
        scaled, seen = self._scaled(features)
        factor = self._factor(scaled, seen)
        scaled = scaled if among is None else scaled[:, among]
        explained: Tensor = torch.linalg.solve_triangular(factor, scaled / self.ridge**0.5, upper=False)
        return explained

    def _scaled(self, features: Features) -> tuple[Tensor, Tensor]:
        """Return the rows of S K that belong to the graphs played, `(q, K)`, and the indices of these graphs."""
        seen = self.counts.nonzero().squeeze(1)
        return self.counts[seen].sqrt().unsqueeze(1) * features.cross(features.select(seen)), seen

    def _factor(self, scaled: Tensor, seen: Tensor) -> Tensor:
        inner = scaled[:, seen] * self.counts[seen].sqrt() / self.ridge
        inner.diagonal().add_(1)
        factor: Tensor = torch.linalg.cholesky(inner)
        return factor


class FrozenCovariance(_ExactCovariance):
    """Exact U with each past feature as it was when its graph was played (the paper).

        sigma^2 = (|psi|^2 - |L^{-1} Psi psi|^2) / ridge,   L L^T = ridge I + Psi Psi^T

    Psi holds the t features played. L grows by one row per pull. O(t p + t^2) memory, O(t p K) time per round. All
    graphs are remembered.
    """

    remembered = ("played", "factor")

    def __init__(self, ridge: float, num_weights: int) -> None:
        self.ridge = ridge
        self._rows = torch.empty(0, num_weights, dtype=torch.float32)  # Psi, and room for more
        self.factor = torch.empty(0, 0, dtype=torch.float64)  # L

    @property
    def played(self) -> Tensor:
        """Return the features played so far, `(t, p)`."""
        return self._rows[: len(self.factor)]

    def add(self, features: Features, actions: Tensor) -> None:
        """Append a row to the factor for each graph played."""
        for feature in features.select(actions):
            cross = gram(self.played, feature.unsqueeze(0))
            row = torch.linalg.solve_triangular(self.factor, cross, upper=False).squeeze(1)
            # The rest plus ridge is ridge (1 + sigma^2), so it is never below ridge.
            rest = feature.double().square().sum() - row.square().sum()
            if len(self.factor) == len(self._rows):
                self._rows = torch.cat([self._rows, self._rows.new_empty(max(16, len(self._rows)), len(feature))])
            self._rows[len(self.factor)] = feature  # exact, because features are computed in float32
            self.factor = torch.nn.functional.pad(self.factor.T, (0, 1, 0, 1)).T  # column-major, as solvers read it
            self.factor[-1, :-1], self.factor[-1, -1] = row, (self.ridge + rest.clamp(min=0)).sqrt()

    def log_determinant(self, features: Features) -> float:
        """Return log det(I + Psi Psi^T / ridge), from the factor."""
        return (2 * self.factor.diagonal().log() - math.log(self.ridge)).sum().item()

    def load_state_dict(self, state: State) -> None:
        """Replace features and factor."""
        self._rows, self.factor = state["played"].clone(), state["factor"].clone()

    def _explained(self, features: Features, among: Tensor | None) -> Tensor:
        cross = features.cross(self.played) if among is None else gram(self.played, features.select(among))
        explained: Tensor = torch.linalg.solve_triangular(self.factor, cross, upper=False)
        return explained


def build_covariance(settings: NeuralSettings, network: Network) -> Covariance:
    """Return U_0 in the form chosen by the settings."""
    if settings.covariance == "diagonal":
        return DiagonalCovariance(settings.ridge, network.num_features)
    if settings.history == "refreshed" or settings.gradients_at == "initial":  # equal if features never change
        return RefreshedCovariance(settings.ridge, network.num_graphs)
    return FrozenCovariance(settings.ridge, network.num_features)


def fit_noise(kernel: Tensor, history: History, targets: Targets, ridge: float) -> float:
    """Estimate the noise variance n if the prior covariance is (n / ridge) K, as for tangent features.

        n = (y^T (K / ridge + D^{-1})^{-1} y + SS + P ridge) / (t + P),   D = diag(counts),   P = `PRIOR_ROUNDS`

    y are the mean targets of the graphs seen, and SS is the sum of squares within graphs. The prior is worth P rewards
    with noise variance `ridge`, at which the prior covariance is K. Without the prior, a single reward or equal rewards
    would give a noise of 0.

    Args:
        kernel: K, `(q, q)` float64. Kernel of the graphs seen, in the order of the set.
        history: the rewards observed.
        targets: the scale on which the rewards are modelled.
        ridge: the noise variance at which the prior covariance is K.
    """
    seen = history.counts > 0
    means = targets.of(history.means[seen]).unsqueeze(1)
    inner = kernel / ridge
    inner.diagonal().add_(1 / history.counts[seen].double())
    between = (means * torch.cholesky_solve(means, torch.linalg.cholesky(inner))).sum().item()
    within = history.squares.sum().item() / targets.unit**2
    return (between + within + PRIOR_ROUNDS * ridge) / (history.rounds + PRIOR_ROUNDS)


@dataclass(frozen=True, eq=False)
class Residual:
    """The difference between the mean reward of each graph and the value of the network: a graph-specific residual.

    It is the posterior of delta, independent between graphs, given the values f of the network.

        y = f(G) + delta_G + e,   delta_G ~ N(0, s),   e ~ N(0, n)
        E delta_G = g (ybar_G - f(G)),   Var delta_G = (1 - g) s,   g = t_G s / (t_G s + n)

    t_G are the rewards of G and ybar_G is their mean. The noise n is that within graphs, and `PRIOR_NOISE` before any
    graph has been played twice.
    """

    history: History
    """The rewards."""
    targets: Targets
    """The scale on which they are modelled."""
    variance: float
    """s, in squared units of the targets. 0 disables the residual."""

    def mean(self, values: Tensor) -> Tensor:
        """Return E delta of each slot, `(K,)` float64, given f `(K,)`."""
        history = self.history
        gain = 1 - self.spread(history.counts).square() / self.variance if self.variance else 0.0
        shift = gain * (self.targets.of(history.means) - values.double())
        return torch.where(history.counts > 0, shift, 0.0)

    def spread(self, counts: Tensor) -> Tensor:
        """Return the standard deviation of delta after `counts` `(K,)` rewards of each slot, `(K,)` float64."""
        return (self.variance / (1 + counts.double() * (self.variance / self.noise))).sqrt()

    @property
    def noise(self) -> float:
        """Return n, pooled over the graphs."""
        history = self.history
        replicates = history.rounds - len(history.seen)
        within = history.squares.sum().item() / self.targets.unit**2
        return (within + PRIOR_ROUNDS * PRIOR_NOISE) / (replicates + PRIOR_ROUNDS)
