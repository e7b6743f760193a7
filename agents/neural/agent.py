"""The neural agent: Algorithm 1 of Wu & Amini (2024), less its loop, which is the caller's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from agents.acquisition import AcquisitionRule, Belief
from agents.history import History, OrderedHistory
from agents.inputs import check_reset, derive_streams, masked_argmax, read_feedback, read_graphs, read_mask
from agents.neural.covariance import Covariance, DiagonalCovariance, FrozenCovariance, RefreshedCovariance
from agents.neural.fit import fit
from agents.neural.settings import NeuralSettings
from agents.protocol import DivergedError
from agents.state import check_identity, make_identity
from gntk import AggregatedGraphs, GraphMLP, one_thread, values_and_features

Encoder = Callable[..., AggregatedGraphs]


class NeuralAgent:
    """Learn a network on graphs; play by its prediction and the variance of its tangent features.

    Args:
        settings: of network, covariance and fit.
        encode: what the network sees of a graph: `gntk.aggregate_neighbours` or `gntk.keep_nodes`.
        acquisition: makes the rule that turns belief into play.
    """

    def __init__(self, settings: NeuralSettings, encode: Encoder, acquisition: Callable[[], AcquisitionRule]) -> None:
        self.settings, self.encode, self.acquisition = settings, encode, acquisition

    @one_thread()
    def reset(self, observation: Any, seed: int = 0, graph_set: Any = None) -> None:
        """Encode the graphs once, and start at theta_0 with nothing observed."""
        batch = read_graphs(observation, graph_set)
        network_seed, self.generator = derive_streams(seed)
        self.graphs = self.encode(batch, own_count=self.settings.node_count == "own").to(torch.float32)
        self.initial = _initial_weights(self.settings, self.graphs.feature_dim, network_seed)  # line 2: theta_0
        self.weights = self.initial
        self.covariance = _build_covariance(self.settings, len(self.graphs), self.initial)  # line 2: U_0
        ordered = self.settings.fit == "epochs"
        self.history = OrderedHistory(len(self.graphs)) if ordered else History(len(self.graphs))
        self.rule = self.acquisition()
        self._initial_features = None
        if self.settings.gradients == "initial":
            self._initial_features = values_and_features(self.initial, self.graphs)[1]
        self._believed: tuple[Tensor, Tensor] | None = None

    @one_thread()
    def select_action(self, observation: Any, action_mask: ArrayLike | None = None) -> int:
        """Play the graph that the rule ranks highest."""
        check_reset(self, "graphs")
        mask = read_mask(action_mask, len(self.graphs))
        index = self.rule(self.belief(), mask, self.generator)  # line 4: r_hat_t(G)
        return masked_argmax(index, mask, self.generator)  # line 5: G_t

    @one_thread()
    def update(self, observation: Any, action: ArrayLike, reward: ArrayLike) -> None:
        """Add what was played to the covariance, and fit the network to all that was observed."""
        check_reset(self, "graphs")
        actions, rewards = read_feedback(action, reward, len(self.graphs))
        self.history.add(actions, rewards)
        self.covariance.add(self._values_and_features()[1], actions)  # line 6: U_t, still at theta_{t-1}
        self.weights = fit(  # line 7: theta_t
            self.weights, self.initial, self.graphs, self.history, self.settings, self.generator
        )
        self._believed = None

    def belief(self) -> Belief:
        """Return f(G; theta_{t-1}) and nu sigma_t(G) of each graph, in the units of the targets.

        Raises:
            DivergedError: if they are not finite.
        """
        values, features = self._values_and_features()
        scale = self.settings.exploration_scale
        try:
            spread = scale * self.covariance.variance(features).sqrt()
        except torch.linalg.LinAlgError as error:  # type: ignore[attr-defined]
            raise DivergedError(f"The tangent features are too large for a covariance: {error}") from error
        return Belief(values.double(), spread, root=lambda: scale * self.covariance.root(features))

    def state_dict(self) -> dict[str, Any]:
        """Return weights, covariance, history, and the states of rule and generator."""
        return {
            "identity": self._identity(),
            "initial": [weight.clone() for weight in self.initial],
            "weights": [weight.clone() for weight in self.weights],
            "covariance": self.covariance.state_dict(),
            "history": self.history.state_dict(),
            "rule": self.rule.state_dict(),
            "generator": self.generator.get_state(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state` was taken; `reset` on the same graphs must come first.

        Raises:
            ValueError: if the state is of other settings or graphs; nothing is changed then.
        """
        parts = ("initial", "weights", "covariance", "history", "rule", "generator")
        check_identity(state, self._identity(), parts)
        self.initial = [weight.clone() for weight in state["initial"]]
        self.weights = [weight.clone() for weight in state["weights"]]
        self.covariance.load_state_dict(state["covariance"])
        self.history.load_state_dict(state["history"])
        self.rule.load_state_dict(state["rule"])
        self.generator.set_state(state["generator"])
        if self._initial_features is not None:
            self._initial_features = values_and_features(self.initial, self.graphs)[1]
        self._believed = None

    def _identity(self) -> dict[str, Any]:
        check_reset(self, "graphs")
        return make_identity(self.settings, [self.graphs.nodes, self.graphs.offsets, self.graphs.divisors])

    def _values_and_features(self) -> tuple[Tensor, Tensor]:
        if self._believed is None:  # once for each theta: `update` needs again what `select_action` needed
            values, features = values_and_features(self.weights, self.graphs)
            if not (values.isfinite().all() and features.isfinite().all()):
                raise DivergedError("The network's predictions are not finite. Lower `learning_rate`.")
            fixed = self._initial_features
            self._believed = values, features if fixed is None else fixed
        return self._believed


def _initial_weights(settings: NeuralSettings, feature_dim: int, seed: int) -> list[Tensor]:
    model = GraphMLP(feature_dim, settings.width, settings.depth, seed=seed)
    return [weight.detach() for weight in model.weights]


def _build_covariance(settings: NeuralSettings, num_graphs: int, weights: list[Tensor]) -> Covariance:
    num_weights = sum(weight.numel() for weight in weights)
    if settings.covariance == "diagonal":
        return DiagonalCovariance(settings.ridge, num_weights)
    if settings.history == "refreshed" or settings.gradients == "initial":  # equal where features never change
        return RefreshedCovariance(settings.ridge, num_graphs)
    return FrozenCovariance(settings.ridge, num_weights)
