"""The neural agent: Algorithm 1 of Wu & Amini (2024), less its loop, which is the caller's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from agents.beliefs.acquisition import AcquisitionRule, Belief
from agents.beliefs.batch import choose_batch
from agents.beliefs.history import History, OrderedHistory
from agents.beliefs.insight import Insight, check_chosen, make_insight
from agents.beliefs.likelihood import MarginalLikelihood
from agents.contract.inputs import check_reset, derive_streams, masked_argmax, read_feedback, read_graphs, read_mask
from agents.contract.protocol import DivergedError, Prediction
from agents.contract.state import check_identity, make_identity
from agents.neural.covariance import Covariance, DiagonalCovariance, FrozenCovariance, RefreshedCovariance
from agents.neural.fit import fit
from agents.neural.network import NetworkBuilder
from agents.neural.settings import NeuralSettings
from gntk import effective_dimension, gram, one_thread
from gntk.engines import Features, Network, features_at


class NeuralAgent:
    """Learn a network on graphs; play by its prediction and the variance of its tangent features.

    Args:
        settings: of network, covariance and fit.
        build_network: makes the network on the graphs: `graph_network` or `node_network` of `agents.neural.network`,
            or what its `module_network` returns.
        acquisition: makes the rule that turns belief into play.
    """

    def __init__(
        self, settings: NeuralSettings, build_network: NetworkBuilder, acquisition: Callable[[], AcquisitionRule]
    ) -> None:
        self.settings, self.build_network, self.acquisition = settings, build_network, acquisition
        self._chosen: tuple[Belief, Tensor] | None = None  # belief and index of the last choice
        self._initial: Features | None = None  # psi at theta_0
        self._current: Features | None = None  # psi at theta_{t-1}

    @one_thread()
    def reset(self, observation: Any, seed: int = 0, graph_set: Any = None) -> None:
        """Encode the graphs once, and start at theta_0 with nothing observed."""
        batch = read_graphs(observation, graph_set)
        network_seed, generator = derive_streams(seed)
        network = self.build_network(batch, self.settings, network_seed)  # line 2: theta_0
        self.network, self.generator = network, generator
        self.weights = network.initial
        self.covariance = _build_covariance(self.settings, network)  # line 2: U_0
        ordered = self.settings.fit == "epochs"
        self.history = OrderedHistory(network.num_graphs) if ordered else History(network.num_graphs)
        self.rule = self.acquisition()
        self._initial = self._current = self._chosen = None

    @one_thread()
    def select_action(self, observation: Any, action_mask: ArrayLike | None = None) -> int:
        """Play the graph that the rule ranks highest."""
        check_reset(self, "network")
        mask = read_mask(action_mask, self.network.num_graphs)
        belief = self.belief()
        index = self.rule(belief, mask, self.generator)  # line 4: r_hat_t(G)
        self._chosen = belief, index
        return masked_argmax(index, mask, self.generator)  # line 5: G_t

    @one_thread()
    def select_batch(
        self, observation: Any, count: int, action_mask: ArrayLike | None = None, pending: Sequence[int] = ()
    ) -> list[int]:
        """Choose different graphs, one after the other."""
        check_reset(self, "network")
        mask = read_mask(action_mask, self.network.num_graphs)
        imagined = _build_covariance(self.settings, self.network)
        imagined.load_state_dict(self.covariance.state_dict())

        def hallucinate(action: int) -> Belief:
            imagined.add(self._features(), torch.tensor([action]))
            return self.belief(imagined)

        return choose_batch(self.rule, self.belief(), mask, count, self.generator, hallucinate, pending)

    @one_thread()
    def predict(self) -> Prediction:
        """Return mean and standard deviation of each graph's reward, sigma in units of the likeliest noise."""
        check_reset(self, "network")
        features, ridge = self._features(), self.settings.ridge
        location, unit = self._location_and_scale()
        noise = ridge  # so that f has the kernel as its variance, where nothing is known
        if len(self.history):
            rows = features.select(self.history.counts.nonzero().squeeze(1))
            noise = MarginalLikelihood(gram(rows, rows), self.history, location, unit).fit_noise(ridge)
        mean = location + unit * self._values(features).double()
        std = unit * (noise * self.covariance.variance(features)).sqrt()
        return Prediction(mean.numpy(), std.numpy(), unit * noise**0.5)

    @one_thread()
    def update(self, observation: Any, action: ArrayLike, reward: ArrayLike) -> None:
        """Add what was played to the covariance, and fit the network to all that was observed."""
        check_reset(self, "network")
        actions, rewards = read_feedback(action, reward, self.network.num_graphs)
        self.history.add(actions, rewards)
        self.covariance.add(self._features(), actions)  # line 6: U_t, still at theta_{t-1}
        self.weights = fit(self.network, self.weights, self.history, self.settings, self.generator)  # line 7: theta_t
        self._current = self._chosen = None

    def belief(self, covariance: Covariance | None = None) -> Belief:
        """Return f(G; theta_{t-1}) and nu sigma_t(G) of each graph, in the units of the targets.

        Raises:
            DivergedError: if they are not finite.
        """
        features, scale, covariance = self._features(), self.settings.exploration_scale, covariance or self.covariance
        try:
            spread = scale * covariance.variance(features).sqrt()
        except torch.linalg.LinAlgError as error:  # type: ignore[attr-defined]
            raise DivergedError(f"The tangent features are too large for a covariance: {error}") from error
        mean = self._values(features).double()
        if not (mean.isfinite().all() and spread.isfinite().all()):
            raise DivergedError("The network's predictions are not finite. Lower `learning_rate`.")
        return Belief(mean, spread, root=lambda: scale * covariance.root(features))

    @one_thread()
    def insight(self) -> Insight:
        """Return what the last choice rested on; between `select_action` and `update`. O(K^2 p + K^3)."""
        belief, index = check_chosen(self._chosen)
        features, covariance, ridge = self._features(), self.covariance, self.settings.ridge
        kernel = features.kernel()
        location, unit = self._location_and_scale()
        return make_insight(
            belief,
            index,
            self.rule,
            location,
            unit,
            variance=covariance.variance(features),
            log_determinant=covariance.log_determinant(features),
            effective_dimension=effective_dimension(kernel, max(1, len(self.history)), ridge),
        )

    def state_dict(self) -> dict[str, Any]:
        """Return weights, covariance, history, and the states of rule and generator."""
        return {
            "identity": self._identity(),
            "initial": [weight.to("cpu", copy=True) for weight in self.network.initial],
            "weights": [weight.to("cpu", copy=True) for weight in self.weights],
            "constants": self.network.constants(),
            "covariance": self.covariance.state_dict(),
            "history": self.history.state_dict(),
            "rule": self.rule.state_dict(),
            "generator": self.generator.get_state(),
        }

    @one_thread()
    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state` was taken; `reset` on the same graphs must come first.

        Raises:
            ValueError: if the state is of other settings or graphs; nothing is changed then.
        """
        parts = ("initial", "weights", "constants", "covariance", "history", "rule", "generator")
        check_identity(state, self._identity(), parts)
        self.network.start_at(state["initial"], state["constants"])
        self.weights = self.network.place(state["weights"])
        self.covariance.load_state_dict(state["covariance"])
        self.history.load_state_dict(state["history"])
        self.rule.load_state_dict(state["rule"])
        self.generator.set_state(state["generator"])
        self._initial = self._current = self._chosen = None

    def _identity(self) -> dict[str, Any]:
        check_reset(self, "network")
        # A state of one device is a state of any.
        return make_identity(self.settings.replace(device="cpu"), self.network.fingerprint())

    def _location_and_scale(self) -> tuple[float, float]:
        return self.history.location_and_scale() if self.settings.standardize else (0.0, 1.0)

    def _features(self) -> Features:
        """Return psi at theta_{t-1} (or theta_0); once for each theta, for `update` needs again what play needed."""
        hold = self.settings.covariance == "exact"
        if self.settings.gradients_at == "initial":
            self._initial = self._initial or features_at(self.network, self.network.initial, hold)
            return self._initial
        self._current = self._current or features_at(self.network, self.weights, hold)
        return self._current

    def _values(self, features: Features) -> Tensor:
        return self.network.values(self.weights) if self.settings.gradients_at == "initial" else features.values


def _build_covariance(settings: NeuralSettings, network: Network) -> Covariance:
    if settings.covariance == "diagonal":
        return DiagonalCovariance(settings.ridge, network.num_features)
    if settings.history == "refreshed" or settings.gradients_at == "initial":  # equal where features never change
        return RefreshedCovariance(settings.ridge, network.num_graphs)
    return FrozenCovariance(settings.ridge, network.num_features)
