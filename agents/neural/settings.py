"""Settings of the neural agents, and the paper's literal values as a preset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from agents.contract.settings import (
    POSITIVE,
    Layers,
    NodeCount,
    NodeFeaturesName,
    Warp,
    Width,
    check_fields,
    check_warp,
)
from gntk.engines import read_device

_PAPER: dict[str, object] = {
    # The paper's algorithm to the letter, with the best tested cell of its grid for nu, eta and lambda
    # (docs/evidence/testbed.md). In 10 of 16 cells of eta and lambda the penalty drives the network to zero by
    # t = 1000.
    "covariance": "diagonal",
    "gradients_at": "current",
    "history": "frozen",
    "fit": "epochs",
    "epochs": 30,
    "batch_size": 5,
    "exploration_scale": 0.01,
    "learning_rate": 0.01,
    "regularization": 1e-4,
    "penalty": "constant",
    "penalty_center": "zero",
    "start": "initial",
    "standardize": False,
    "own_variance": 0.0,
    "node_features": "given",
    "node_count": "largest",
}
_STEPS: dict[str, object] = {"fit": "steps", "steps": 300}  # the same at a constant cost per round


@dataclass(frozen=True, kw_only=True)
class NeuralSettings:
    """Settings of the GNN and NN agents. `preset=paper` selects the literal algorithm of the paper."""

    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {"paper": _PAPER, "paper-steps": {**_PAPER, **_STEPS}}

    network: str = "paper"
    """The paper's network, or the class of a Python module and the name given with it."""
    width: Width = 512
    """m, hidden width of the network; even."""
    depth: Layers = 2
    """L, number of weight matrices of the network, at least 2."""
    node_features: NodeFeaturesName = "auto"
    """Features of nodes. Given: only the given ones. Auto: also the degree of each node and the size of its graph,
    one-hot in bins, if the given ones make the aggregated nodes of a graph network nearly alike."""
    node_count: NodeCount = "auto"
    """N, the divisor of the sum over a graph's nodes: the largest node count of the set (the paper), or the graph's
    own. Auto: the graph's own if its size is among the features, otherwise the largest."""
    exploration_scale: float = 0.3
    """nu, multiplies sigma, in standard deviations of the rewards if targets are standardised."""
    regularization: Annotated[float, POSITIVE] = 1e-4
    """lambda. The ridge of the covariance is width times lambda."""
    covariance: Literal["exact", "diagonal"] = "exact"
    """Form of U: exact (in dual form), or its diagonal only, as in the paper's experiments."""
    gradient: Literal["all", "last_layer"] = "all"
    """Weights with respect to which tangent features are derivatives: all, or those of the last layer (neural-linear).
    The fit moves all weights in either case."""
    gradients_at: Literal["current", "initial"] = "current"
    """Weights at which tangent features are taken: the current ones (theta_{t-1}), or the initial ones (theta_0)."""
    history: Literal["refreshed", "frozen"] = "refreshed"
    """Past tangent features in the exact covariance. Refreshed: at the current weights, at a constant cost per round.
    Frozen: as when played (the paper), at a cost that grows with t. The diagonal form is always frozen."""
    fit: Literal["steps", "epochs"] = "steps"
    """Steps: a fixed number of batches per round, drawn in proportion to pull counts, on each graph's mean reward.
    Epochs: passes over all observations (the paper), at a cost that grows with t."""
    steps: int = 50
    """Batches per round, if fit is steps."""
    epochs: int = 30
    """Passes per round, if fit is epochs."""
    batch_size: int = 5
    """Graphs in a batch."""
    learning_rate: Annotated[float, POSITIVE] = 0.1
    """eta, learning rate of stochastic gradient descent."""
    penalty: Literal["per_round", "constant"] = "per_round"
    """Weight c of the penalty (c/2)|theta - center|^2 on the mean squared loss. Per round: m lambda / t, the ridge that
    matches the covariance. Constant: m lambda (the paper), which over many steps drives the network to its center."""
    penalty_center: Literal["initial", "zero"] = "initial"
    """Center of the penalty: theta_0, or 0 (the paper)."""
    start: Literal["warm", "initial"] = "warm"
    """Weights at which each round's fit starts: those of the last round, or theta_0 (the paper)."""
    standardize: bool = True
    """Standardise rewards before the fit, by mean and standard deviation over the distinct graphs seen so far."""
    own_variance: float = 0.05
    """s, prior variance of the residual between each graph's mean reward and the network's value, in squared units of
    the targets. 0 disables it (the paper)."""
    warp: Warp = "none"
    """Targets of the fit: the standardised rewards, or normal scores, which depend only on the ranks of rewards and are
    robust to outliers."""
    memory: int = 2000
    """Largest number of played graphs to remember if graphs change between rounds: the most recent ones."""

    device: str = "cpu"
    """Device of the network: cpu (compiled loops at depth 2), or a torch device such as cuda. In either case the
    covariance is computed on the CPU in float64."""

    def __post_init__(self) -> None:
        check_fields(self)
        read_device(self.device)
        check_warp(self.warp, self.standardize)

    @property
    def ridge(self) -> float:
        """Return m lambda, in units of the tangent kernel (for a module: in units of its mean diagonal at theta_0)."""
        return self.width * self.regularization
