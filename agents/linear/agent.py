"""The linear agent: Bayesian linear regression on features of graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from agents.beliefs.agent import BatchBeliefAgent
from agents.beliefs.belief import Belief, Imagine
from agents.beliefs.insight import Insight, make_insight
from agents.beliefs.rewards import PRIOR_NOISE, Standardised, check_rule, make_history, next_fit, predict
from agents.beliefs.rules.rule import AcquisitionRule
from agents.contract.protocol import Prediction, State
from agents.linear.features import describe
from agents.linear.records import make_record
from agents.linear.regression import Sums, likelihood, posterior, prior
from agents.linear.settings import LinearSettings
from gntk import effective_dimension, information_gain, one_thread


class LinearAgent(BatchBeliefAgent[LinearSettings]):
    """Believe that mean rewards are linear in a few features of the graphs; play by the posterior of the weights.

    Features are scaled to mean 0 and standard deviation 1 over the graphs of `reset`, and those of other graphs alike.
    A round costs O(p^2 K + p^3) for p features, whatever was played, and O(p^2 W) more with a window of W rewards.
    Nothing is forgotten because graphs change.

    Args:
        settings: settings of the regression.
        make_rule: makes the acquisition rule.
    """

    def __init__(self, settings: LinearSettings, make_rule: Callable[[], AcquisitionRule]) -> None:
        super().__init__(settings, make_rule)
        check_rule(make_rule(), settings.forget)

    def begin(self, graphs: Batch, seed: int) -> None:
        """Describe the graphs, and start with nothing observed."""
        super().begin(graphs, seed)
        self.history = make_history(graphs.num_graphs, self.settings.forget)
        described = describe(graphs)
        self._middle, spread = described.mean(0), described.std(0, correction=0)
        self._spread = spread.where(spread > 1e-9 * (1 + described.abs().max(0).values), 1.0)
        self.features = self._scaled(described)
        self._prior_scale = _scale_of_unit_rewards(self.features)
        self.scale = self.settings.output_scale or self._prior_scale
        self.noise, self.next_fit = self.settings.noise_variance or PRIOR_NOISE, 1
        self.targets = Standardised()
        self.record = make_record(self.features.shape[1], self.settings.forget)
        self._condition()

    def meet(self, kept: Tensor, graphs: Sequence[Data]) -> None:
        """Describe the new graphs; the weights stay."""
        new = self._scaled(describe(Batch.from_data_list(list(graphs)))) if graphs else self.features[:0]
        self.features = torch.cat([self.features[kept], new])
        self.exchange(kept, len(graphs))

    def belief(self, sums: Sums | None = None) -> Belief:
        """Return posterior mean and nu times standard deviation of each graph of the round, in the targets' units."""
        weights = self.weights if sums is None else posterior(sums, self.scale, self.noise)
        features, nu = self._of_round(), self.settings.exploration_scale
        mean, spread = features @ weights.mean, nu * weights.variance(features).sqrt()
        return Belief(mean, spread, root=lambda: nu * features @ weights.root(), best=self.best_seen(mean))

    def learn(self, slots: Tensor, rewards: Tensor) -> None:
        """Add the rewards to the sums; at rounds 1, 2, 4, ... fit scale and noise first."""
        super().learn(slots, rewards)
        self.record.add(self.features[slots], rewards)
        self._condition()

    def imagine(self) -> Imagine:
        """Return a function that takes actions, and returns the belief if the rewards of all are their means."""
        sums, features = self._standardised(), self._of_round()

        def hallucinate(*actions: int) -> Belief:
            nonlocal sums
            for action in actions:
                row = features[[action]]
                sums = sums.add(row, row @ self.weights.mean)
            return self.belief(sums)

        return hallucinate

    def expect(self) -> Prediction:
        """Return posterior mean and standard deviation of each graph's mean reward."""
        features = self._of_round()
        return predict(self.targets, features @ self.weights.mean, self.weights.variance(features).sqrt(), self.noise)

    def expect_means(self) -> Tensor:
        """Return the posterior mean of each graph, in reward units."""
        return self.targets.to_rewards(self._of_round() @ self.weights.mean)

    @one_thread()
    def insight(self) -> Insight:
        """Return the belief behind the last choice, with the noise variance as ridge.

        Call it between `select_action` and `update`.
        """
        belief, index = self.ranked
        features, root = self._of_round(), (self.scale * prior(self.features.shape[1])).sqrt()
        return make_insight(
            belief,
            index,
            self.rule,
            self.targets,
            variance=self.weights.variance(features) / self.noise,
            log_determinant=2 * information_gain(torch.outer(root, root) * self.record.sums.gram, self.noise),
            effective_dimension=effective_dimension(
                (features * root) @ (features * root).T, max(1, self.record.sums.rounds), self.noise
            ),
        )

    def appearance(self) -> Tensor:
        """Return the features."""
        return self.features

    def known(self) -> list[Tensor]:
        """Return the features."""
        return [self.features]

    def state(self) -> State:
        """Return sums, targets, scale, noise and history."""
        fitted = {"scale": self.scale, "noise": self.noise, "next_fit": self.next_fit}
        targets = [self.targets.location, self.targets.unit]
        return {**super().state(), **self.record.state(), "targets": targets, **fitted}

    def restore(self, state: State) -> None:
        """Continue with sums, targets, scale, noise and history of a state."""
        super().restore(state)
        self.targets = Standardised(*state["targets"])
        self.scale, self.noise, self.next_fit = state["scale"], state["noise"], state["next_fit"]
        self.record.restore(state)
        self.weights = posterior(self._standardised(), self.scale, self.noise)

    def _condition(self) -> None:
        if self.record.told >= self.next_fit:
            self.targets = Standardised(*self.record.sums.location_and_unit())
            self.record.count_from(self.targets.location)
            known = self.settings.noise_variance
            noise = None if known is None else known / self.targets.unit**2
            fitted = likelihood(self._standardised()).fit(self.settings.output_scale, noise, self._prior_scale)
            self.scale, self.noise = fitted.scale, fitted.noise
            self.next_fit = next_fit(self.record.told, self.settings.forget)
        self.weights = posterior(self._standardised(), self.scale, self.noise)

    def _standardised(self) -> Sums:
        return self.record.sums.standardised(self.targets.location, self.targets.unit)

    def _of_round(self) -> Tensor:
        return self.features if self.offered is None else self.features[self.offered]

    def _scaled(self, described: Tensor) -> Tensor:
        scaled = (described - self._middle) / self._spread
        return torch.cat([scaled, torch.ones(len(scaled), 1, dtype=torch.float64)], dim=1)


def _scale_of_unit_rewards(features: Tensor) -> float:
    """Return the variance of a weight at which rewards have variance 1 over the set, on average."""
    typical = float(features[:, :-1].square().sum(1).mean())
    return 1.0 / typical if typical > 1e-12 else 1.0


def linear(settings: LinearSettings, make_rule: Callable[[], AcquisitionRule]) -> LinearAgent:
    """Bayesian linear regression on mean nodes and sizes of the graphs.

    Args:
        settings: settings of the regression.
        make_rule: makes the acquisition rule.
    """
    return LinearAgent(settings, make_rule)
