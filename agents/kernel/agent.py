"""The kernel agent: an exact Gaussian process on the graphs."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from agents.beliefs.agent import BatchBeliefAgent
from agents.beliefs.belief import Belief, Imagine
from agents.beliefs.forgetting import least_informative, remember
from agents.beliefs.insight import Insight, make_insight
from agents.beliefs.rewards import (
    PRIOR_NOISE,
    History,
    Hyperparameters,
    MarginalLikelihood,
    Standardised,
    Targets,
    check_rule,
    make_history,
    make_targets,
    next_fit,
    predict,
)
from agents.beliefs.rules.rule import AcquisitionRule
from agents.contract.protocol import DivergedError, Prediction, State
from agents.kernel.kernels import Encode
from agents.kernel.priors import ColumnPrior, Prior, Process, WholePrior
from agents.kernel.settings import ProcessSettings
from gntk import effective_dimension, information_gain, one_thread

BYTES = 56  # times K^2, of the kernel, its root, that of the posterior, and what is needed to compute it

P = TypeVar("P", bound=ProcessSettings)


class KernelAgent(BatchBeliefAgent[P]):
    """Keep the posterior of all mean rewards; play by its mean and covariance.

    Memory is O(K^2); with more than `most_graphs`, O(t K). At rounds 1, 2, 4, ... scale and noise are fitted again and
    the posterior is rebuilt from counts and means. A rule without joint draws needs means and variances alone: while t
    is small, a round costs O(t K), and the posterior O(q^2 K) with q graphs played (`ColumnProcess`). Else the kernel
    is decomposed once, a round costs O(K^2), and the posterior O(K^3) (`GaussianProcess`). A round with other graphs
    than the one before costs O(q^3 + q^2 K), and their kernel with the new ones. If rewards are forgotten, each round
    makes the posterior from the prior and what is remembered of q graphs, in O(q K^2) at most, and scale and noise are
    fitted more often (`next_fit`).

    Args:
        settings: settings of kernel and likelihood.
        make_rule: makes the acquisition rule.
        encode: encodes the graphs of `reset` for the kernel.
    """

    algorithm = (
        3  # of graphs with equal kernels another one may be chosen than by version 2; version 1 used another root
    )

    def __init__(self, settings: P, make_rule: Callable[[], AcquisitionRule], encode: Encode) -> None:
        super().__init__(settings, make_rule)
        check_rule(make_rule(), settings.forget)
        self._encode = encode
        self._draws_jointly: bool = getattr(make_rule(), "draws_jointly", False)
        self.prior: Prior
        self.posterior: Process

    def check_size(self, num_graphs: int) -> None:
        """Refuse more graphs than `most_graphs` where the whole kernel is needed."""
        if not self.settings.has_columns or self._draws_jointly:
            self.check_changing_size(num_graphs)

    def check_changing_size(self, num_graphs: int) -> None:
        """Refuse more graphs than `most_graphs`."""
        most = self.settings.most_graphs
        if num_graphs > most:
            raise ValueError(
                f"Expected at most {most:,} graphs. Got {num_graphs:,}: an exact Gaussian process on them takes "
                f"{BYTES * num_graphs**2 / 1e9:,.1f} GB, and time that grows as K^3. Use `gntk-ucb` or `gntk-ei` on "
                "graphs that stay, `gnn-ucb` or `lin-ucb`, which grow as K, or raise `most_graphs`."
            )

    def begin(self, graphs: Batch, seed: int) -> None:
        """Compute the kernel of the graphs once, and start with nothing observed."""
        super().begin(graphs, seed)
        self.history = make_history(graphs.num_graphs, self.settings.forget)
        self._graphs = self._encode(graphs, seed)
        whole = graphs.num_graphs <= self.settings.most_graphs
        self.prior = self._whole(self._graphs.rows()) if whole else ColumnPrior(self._graphs)
        self._prior_scale = _scale_of_unit_rewards(self.prior.sample())
        self.targets: Targets = Standardised()
        self.next_fit = 1
        scale, noise = self.settings.output_scale, self.settings.noise_variance
        self._rebuild(Hyperparameters(scale or self._prior_scale, noise or PRIOR_NOISE))

    def meet(self, kept: Tensor, graphs: Sequence[Data]) -> None:
        """Go on with other graphs: extend the kernel by the new ones, and condition on all rewards that stay."""
        if isinstance(self.prior, ColumnPrior):
            raise ValueError(
                f"Expected the graphs of `reset` in each observation, since they are more than `most_graphs`, "
                f"{self.settings.most_graphs:,}. Got other graphs. Raise `most_graphs`."
            )
        exchanged = self._graphs.exchange(kept, graphs)
        rows = exchanged.rows(torch.arange(len(kept), len(kept) + len(graphs)))
        old = torch.cat([self.prior.among(kept), rows[:, : len(kept)].T], dim=1)
        prior, history = self._whole(torch.cat([old, rows])), copy.deepcopy(self.history)
        history.exchange(kept, len(graphs))
        targets = self._targets_of(history) if self._warps else self.targets
        posterior = self._condition(prior, history, targets, self.fitted)  # may fail: nothing has changed so far
        self._graphs, self.prior, self.targets, self.posterior = exchanged, prior, targets, posterior
        if len(kept) < len(self.history.seen):
            self.next_fit = 0  # the rewards that are left may have another scale
        self.exchange(kept, len(graphs))

    def worth_keeping(self) -> Tensor:
        """Return the slots of the graphs played, up to `memory` of them: those whose rewards tell most."""
        seen = self.history.seen
        noise = self.posterior.noise_variance / self.history.counts[seen].double()
        covariance = self.output_scale * self.prior.among(seen)
        return remember(seen, self.settings.memory, lambda n: least_informative(covariance, noise, n))

    def belief(self, posterior: Process | None = None) -> Belief:
        """Return posterior mean and nu times standard deviation of each graph of the round, in the targets' units."""
        scale, posterior = self.settings.exploration_scale, posterior or self.posterior
        mean, spread = posterior.mean.clone(), scale * posterior.variance.sqrt()
        return Belief(mean, spread, root=lambda: scale * posterior.root, best=self.best_seen(mean))

    def learn(self, slots: Tensor, rewards: Tensor) -> None:
        """Condition on the rewards; at rounds 1, 2, 4, ... fit scale and noise first."""
        super().learn(slots, rewards)
        if self.history.told >= self.next_fit:
            self._fit()
            return
        if self._warps:
            self.targets = self._targets_of(self.history)
        # One more reward is not all that is new where those before count less, or have other targets.
        if self.settings.forget is not None or (self._warps and self.offered is not None):
            self.posterior = self._condition(self.prior, self.history, self.targets, self.fitted)
            return
        for place, target in zip(self._places(slots), self.targets.of(rewards.double()).tolist(), strict=True):
            self.posterior.add(place, target)
        if self._warps:
            self.posterior.retarget(self.history.counts.double(), self.targets.of(self.history.means))

    def imagine(self) -> Imagine:
        """Return a function that takes actions, and returns the belief if the rewards of all are their means."""
        imagined = self.posterior.copy()

        def hallucinate(*actions: int) -> Belief:
            for action in actions:
                imagined.add(action, imagined.mean[action].item())
            return self.belief(imagined)

        return hallucinate

    def expect(self) -> Prediction:
        """Return posterior mean and standard deviation of each graph's mean reward."""
        posterior = self.posterior
        return predict(self.targets, posterior.mean, posterior.variance.sqrt(), posterior.noise_variance)

    def expect_means(self) -> Tensor:
        """Return the posterior mean of each graph, in reward units."""
        return super().expect_means() if self._warps else self.targets.to_rewards(self.posterior.mean)

    @one_thread()
    def insight(self) -> Insight:
        """Return the belief behind the last choice, with the noise variance as ridge.

        Call it between `select_action` and `update`. The effective dimension is `nan` without the whole kernel.
        """
        belief, index = self.ranked
        noise, seen = self.posterior.noise_variance, self.history.seen
        root = self.history.counts[seen].double().sqrt()
        dimension = math.nan
        if isinstance(self.prior, WholePrior):
            kernel = self.prior.kernel if self.offered is None else self.prior.among(self.offered)
            rounds = max(1, self.history.rounds)
            dimension = effective_dimension(self.output_scale * kernel, rounds, noise)
        return make_insight(
            belief,
            index,
            self.rule,
            self.targets,
            variance=self.posterior.variance / noise,
            log_determinant=2
            * information_gain(root.unsqueeze(1) * (self.output_scale * self.prior.among(seen)) * root, noise),
            effective_dimension=dimension,
        )

    @property
    def fitted(self) -> Hyperparameters:
        """Return scale and noise of the last fit."""
        return Hyperparameters(self.output_scale, self.posterior.noise_variance)

    def appearance(self) -> Tensor | None:
        """Return the kernel, if it is whole: graphs with equal rows look equal."""
        return self.prior.kernel if isinstance(self.prior, WholePrior) else None

    def known(self) -> list[Tensor]:
        """Return what identifies the graphs to the kernel."""
        return self._graphs.known()

    def state(self) -> State:
        """Return kernel, posterior and history, and what the kernel of other graphs depends on."""
        graphs = self._graphs.state()
        begun: State = {"graphs": graphs} if graphs else {}
        if self.offered is not None:
            begun["prior_scale"] = self._prior_scale  # that of the graphs of `reset`
        # Normal scores follow from the history.
        standard = self.targets if isinstance(self.targets, Standardised) else Standardised()
        return {
            **super().state(),
            **begun,
            **self.prior.state(self.posterior),
            "noise_variance": self.posterior.noise_variance,
            "output_scale": self.output_scale,
            "targets": [standard.location, standard.unit],
            "next_fit": self.next_fit,
        }

    def restore(self, state: State) -> None:
        """Continue with kernel, posterior and history of a state."""
        super().restore(state)
        self._graphs = self._graphs.restored(state.get("graphs", {}))
        self.prior = self._whole(state["kernel"].clone()) if "kernel" in state else ColumnPrior(self._graphs)
        self._prior_scale = state.get("prior_scale") or _scale_of_unit_rewards(self.prior.sample())
        self.posterior = self.prior.restore(state, state["noise_variance"])
        self.output_scale = state["output_scale"]
        self.targets = self._targets_of(self.history) if self._warps else Standardised(*state["targets"])
        self.next_fit = state["next_fit"]

    def _fit(self) -> None:
        self.targets = self._targets_of(self.history)
        seen = self.history.counts.nonzero().squeeze(1)
        likelihood = MarginalLikelihood(self.prior.among(seen), self.history, self.targets)
        noise = self.settings.noise_variance
        known = None if noise is None else noise / self.targets.unit**2
        self._rebuild(likelihood.fit(self.settings.output_scale, known, self._prior_scale))
        self.next_fit = next_fit(self.history.told, self.settings.forget)

    def _places(self, slots: Tensor) -> list[int]:
        """Return where graphs stand among those of the round, of which the posterior is."""
        if self.offered is None:
            return slots.tolist()
        place = {slot: k for k, slot in enumerate(self.offered.tolist())}
        return [place[slot] for slot in slots.tolist()]

    def _whole(self, kernel: Tensor) -> WholePrior:
        often = self.settings.forget is not None
        return WholePrior(kernel, self.offered, often=often, draws_jointly=self._draws_jointly)

    def _rebuild(self, fitted: Hyperparameters) -> None:
        self.posterior = self._condition(self.prior, self.history, self.targets, fitted)
        self.output_scale = fitted.scale

    @property
    def _warps(self) -> bool:
        return self.settings.warp != "none"

    def _targets_of(self, history: History) -> Targets:
        return make_targets(history, self.settings.standardize, self.settings.warp)

    def _condition(self, prior: Prior, history: History, targets: Targets, fitted: Hyperparameters) -> Process:
        try:
            return prior.condition(fitted, history.counts, targets.of(history.means))
        except torch.linalg.LinAlgError as error:  # type: ignore[attr-defined]
            raise DivergedError(f"The posterior cannot be computed: {error}. Raise `noise_variance`.") from error


def _scale_of_unit_rewards(kernel: Tensor) -> float:
    """Return the s at which rewards drawn from N(0, s K) have variance 1 over the set, on average."""
    centred = kernel.diagonal().mean() - kernel.mean()
    typical = centred if centred > 1e-12 else kernel.diagonal().mean()
    return 1.0 / float(typical) if typical > 1e-12 else 1.0
