"""The neural agent, Algorithm 1 of Wu & Amini (2024) without its loop, with the paper's network or a module."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Literal

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from agents.beliefs.agent import BatchBeliefAgent
from agents.beliefs.belief import AcquisitionRule, Belief, Fantasize, Insight, make_insight
from agents.beliefs.rewards import Targets, make_targets, predict
from agents.contract.protocol import DivergedError, Prediction, State
from agents.neural.covariance import Covariance, Residual, build_covariance, fit_noise
from agents.neural.fit import fit
from agents.neural.network import Architecture, ModuleArchitecture, PaperArchitecture, name_module
from agents.neural.settings import NeuralSettings
from gntk import effective_dimension, gram, one_thread
from gntk.engines import Features, ModuleOrFactory, features_at

MOST_DRAWN_JOINTLY = 5000  # graphs
SHAPE = ("width", "depth", "node_count", "node_features")
"""Settings of the paper's network that do not apply to a module."""


class NeuralAgent(BatchBeliefAgent[NeuralSettings]):
    """Learn a network on graphs, and play by its prediction and the variance of its tangent features.

    Args:
        settings: settings of network, covariance and fit.
        architecture: makes the network on the graphs: a `PaperArchitecture` or a `ModuleArchitecture` of
            `agents.neural.network`.
        make_rule: makes the acquisition rule, which `BeliefAgent.choose` applies (lines 4 and 5).
    """

    algorithm = 6

    def __init__(
        self, settings: NeuralSettings, architecture: Architecture, make_rule: Callable[[], AcquisitionRule]
    ) -> None:
        super().__init__(settings, make_rule)
        self.architecture, self.reads = architecture, architecture.reads
        self._taken: Features | None = None  # psi at theta_{t-1}, or at theta_0

    def check_size(self, num_graphs: int) -> None:
        """Refuse more graphs than can be drawn jointly, because each draw decomposes a K x K matrix."""
        jointly = getattr(self._make_rule(), "draws_jointly", False) and self.settings.covariance == "exact"
        if jointly and num_graphs > MOST_DRAWN_JOINTLY:
            raise ValueError(
                f'Expected at most {MOST_DRAWN_JOINTLY:,} graphs with `sampling="joint"`. Got {num_graphs:,}: a round '
                f"would decompose a matrix of {8 * num_graphs**2 / 1e9:,.1f} GB, in time that grows as K^3. Use "
                '`sampling="independent"`.'
            )

    def begin(self, graphs: Batch, seed: int) -> None:
        """Encode the graphs once, and start at theta_0 without observations."""
        super().begin(graphs, seed)
        self.network = self.architecture.build(graphs, self.settings, seed)  # line 2: theta_0
        self.weights, self.addition = self.network.initial, self.architecture.addition
        self.covariance = build_covariance(self.settings, self.network)  # line 2: U_0
        self._taken = None

    def meet(self, kept: Tensor, graphs: Sequence[Data]) -> None:
        """Encode new graphs, and keep weights and covariance."""
        new = Batch.from_data_list(list(graphs)) if graphs else None
        self.architecture.exchange(self.network, kept, new)
        self.covariance.exchange(kept, len(graphs))
        self.exchange(kept, len(graphs))
        self._taken = None

    def worth_keeping(self) -> Tensor:
        """Return the slots of the graphs played, the last `memory` of them."""
        return self.history.seen[-self.settings.memory :]

    def belief(self, covariance: Covariance | None = None, counts: Tensor | None = None) -> Belief:
        """Return mean and nu sigma of each graph of the round, with its residual part, in units of the targets.

            f(G; theta_{t-1}) + E delta_G,   nu sqrt(sigma_t(G)^2 + Var delta_G)

        Args:
            covariance: U after fantasized plays. None: U after the actual plays.
            counts: `(K,)` int64. Plays of each slot including fantasized ones. None: the actual plays.

        Raises:
            DivergedError: if an f or a sigma is not finite.
        """
        features, scale, covariance = self._features(), self.settings.exploration_scale, covariance or self.covariance
        try:
            variance = covariance.variance(features, self.offered)  # line 4: sigma_t(G)^2
        except torch.linalg.LinAlgError as error:  # type: ignore[attr-defined]
            raise DivergedError(f"The tangent features are too large for a covariance: {error}") from error
        mean = self._means()  # line 4: f(G; theta_{t-1})
        own = self._of_round(self._residual().spread(self.history.counts if counts is None else counts))
        spread = scale * (variance + own.square()).sqrt()
        if not (mean.isfinite().all() and spread.isfinite().all()):
            raise DivergedError("The network's predictions are not finite. Lower `learning_rate`.")

        def root() -> Tensor:
            shared = covariance.root(features, self.offered)
            drawn = own.where(self._of_round(self.history.counts) > 0, 0.0) if self.plays_new else own
            return scale * (torch.cat([shared, drawn.diag()], dim=1) if self.settings.own_variance else shared)

        return Belief(mean, spread, root=root, best=self.best_seen(mean))

    def learn(self, slots: Tensor, rewards: Tensor) -> None:
        """Add the graphs played to the covariance, and fit the network to all observations."""
        super().learn(slots, rewards)
        self.covariance.add(self._features(), slots)  # line 6: U_t, still at theta_{t-1}
        self.weights = fit(self.network, self.weights, self.history, self.settings, self.generator)  # line 7: theta_t
        if self.settings.gradients_at == "current":
            self._taken = None

    def residual(self, slot: int, reward: float) -> float | None:
        """Return the standardised error of the last choice's forecast of a reward, with noise.

        The paper's algorithm, without a residual part for each graph, has no forecast.
        """
        places = torch.tensor([slot]) if self.offered is None else (self.offered == slot).nonzero()[:, 0]
        scale = self.settings.exploration_scale if self.settings.own_variance else 0.0
        if self._ranked is None or not scale or not len(places):
            return None
        belief, own = self._ranked[0], self._residual()
        away = own.targets.of(torch.tensor(reward, dtype=torch.float64)) - belief.mean[places[0]]
        return float(away / ((belief.spread[places[0]] / scale).square() + own.noise).sqrt())

    def fantasize(self) -> Fantasize:
        """Return a function that takes actions and returns the belief after them. Means do not change."""
        fantasized, counts = build_covariance(self.settings, self.network), self.history.counts.clone()
        fantasized.load_state_dict(self.covariance.state_dict())

        def hallucinate(*actions: int) -> Belief:
            slots = torch.tensor(actions) if self.offered is None else self.offered[[*actions]]
            fantasized.add(self._features(), slots)
            counts.index_add_(0, slots, torch.ones_like(slots))
            return self.belief(fantasized, counts)

        return hallucinate

    def expect(self) -> Prediction:
        """Return posterior mean and standard deviation of each mean reward, with the noise by marginal likelihood."""
        features, ridge = self._features(), self.settings.ridge
        targets, noise = self._targets(), ridge  # without observations the prior covariance is the kernel
        if len(self.history):
            rows = features.select(self.history.counts.nonzero().squeeze(1))
            noise = fit_noise(gram(rows, rows), self.history, targets, ridge)
        own = self._of_round(self._residual().spread(self.history.counts))
        std = (noise * self.covariance.variance(features, self.offered) + own.square()).sqrt()
        return predict(targets, self._means(), std, noise)

    def expect_means(self) -> Tensor:
        """Return the mean of each graph of the round, in reward units."""
        if self.settings.warp != "none":
            return super().expect_means()
        return self._targets().to_rewards(self._means())

    @one_thread()
    def insight(self) -> Insight:
        """Return the belief behind the last choice, in O(K^2 p + K^3). Call it between `select_action` and `update`."""
        belief, index = self.ranked
        features, covariance = self._features(), self.covariance
        rows = None if self.offered is None else features.select(self.offered)
        kernel = features.kernel() if rows is None else gram(rows, rows)
        dimension = effective_dimension(kernel, max(1, len(self.history)), self.settings.ridge)
        return make_insight(
            belief,
            index,
            self.rule,
            self._targets(),
            self.watch.misfit,
            variance=covariance.variance(features, self.offered),
            log_determinant=covariance.log_determinant(features),
            effective_dimension=dimension,
        )

    def known(self) -> list[Tensor]:
        """Return the tensors that identify the graphs to the network."""
        return self.network.fingerprint()

    def state(self) -> State:
        """Return weights, covariance and history."""
        return {
            **super().state(),
            "initial": [weight.to("cpu", copy=True) for weight in self.network.initial],
            "weights": [weight.to("cpu", copy=True) for weight in self.weights],
            "constants": self.network.constants(),
            "covariance": self.covariance.state_dict(),
        }

    def restore(self, state: State) -> None:
        """Continue with weights, covariance and history of a state."""
        super().restore(state)
        self.network.start_at(state["initial"], state["constants"])
        self.weights = self.network.to_device(state["weights"])
        self.covariance.load_state_dict(state["covariance"])
        self._taken = None

    def _targets(self) -> Targets:
        return make_targets(self.history, self.settings.standardize, self.settings.warp)

    def _features(self) -> Features:
        """Return psi at theta_{t-1} (or theta_0), computed once for each theta and shared by choice and `update`."""
        if self._taken is None:
            weights = self.network.initial if self.settings.gradients_at == "initial" else self.weights
            self._taken = features_at(self.network, weights, hold=self.settings.covariance == "exact")
        return self._taken

    def _residual(self) -> Residual:
        return Residual(self.history, self._targets(), self.settings.own_variance)

    def _means(self) -> Tensor:
        """Return f(G; theta_{t-1}) + E delta_G of each graph of the round, `(K,)` float64."""
        values = self._features().values
        if self.settings.gradients_at == "initial":
            values = self.network.values(self.weights)
        values = values.double()
        return self._of_round(values + self._residual().mean(values))

    def _of_round(self, values: Tensor) -> Tensor:
        return values if self.offered is None else values[self.offered]


def gnn(
    settings: NeuralSettings,
    make_rule: Callable[[], AcquisitionRule],
    *,
    network: ModuleOrFactory | Literal["paper"] = "paper",
    network_name: str = "",
) -> NeuralAgent:
    """A graph neural network with the covariance of its tangent features [Wu & Amini 2024, Algorithm 1].

    Args:
        settings: settings of network, covariance and fit.
        make_rule: makes the acquisition rule.
        network: "paper", or a torch module `Batch -> (K,)` on PyG batches with parameters theta_0, or a function that
            makes one, with new parameters from the seed of each `reset`.
        network_name: name of a module in settings and results, in addition to its class.

    Raises:
        ValueError: if `network` is the name of a module, or a module comes with settings of the paper's network.
        TypeError: if `network` has none of these types.
    """
    if isinstance(network, str):
        if network != "paper" or network_name:
            raise ValueError(
                f'Expected `network` to be a module, a function that makes one, or "paper" (without a `network_name`). '
                f"Got {network!r}. A stored name does not bring its module back: pass the module itself."
            )
        return NeuralAgent(settings, PaperArchitecture(reads_edges=True), make_rule)
    defaults = {field.name: field.default for field in dataclasses.fields(settings)}
    ignored = [name for name in SHAPE if getattr(settings, name) != defaults[name]]
    if ignored:
        raise ValueError(f"Expected no {', '.join(ignored)} with `network`, because a module has its own shape.")
    named = dataclasses.replace(settings, network=name_module(network, network_name))
    return NeuralAgent(named, ModuleArchitecture(network), make_rule)


def nn(settings: NeuralSettings, make_rule: Callable[[], AcquisitionRule]) -> NeuralAgent:
    """The same network on nodes without edges, the paper's baseline.

    Args:
        settings: settings of network, covariance and fit.
        make_rule: makes the acquisition rule.

    Raises:
        ValueError: if `settings` name a module.
    """
    if settings.network != "paper":
        raise ValueError(
            f"Expected no `network` for an NN baseline. Got {settings.network!r}. The `gnn-*` agents take one."
        )
    return NeuralAgent(settings, PaperArchitecture(reads_edges=False), make_rule)
