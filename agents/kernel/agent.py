"""The kernel agent: an exact Gaussian process on the graph set, which the paper could not run."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from agents.beliefs.acquisition import AcquisitionRule, Belief
from agents.beliefs.batch import choose_batch
from agents.beliefs.history import History
from agents.beliefs.insight import Insight, check_chosen, make_insight
from agents.beliefs.likelihood import PRIOR_NOISE, Hyperparameters, MarginalLikelihood
from agents.contract.inputs import check_reset, derive_streams, masked_argmax, read_feedback, read_graphs, read_mask
from agents.contract.protocol import Prediction
from agents.contract.state import check_identity, make_identity
from agents.kernel.gaussian_process import GaussianProcess
from agents.kernel.settings import KernelSettings
from gntk import (
    AggregatedGraphs,
    GraphMLP,
    aggregate_neighbours,
    effective_dimension,
    empirical_kernel,
    infinite_width_kernel,
    information_gain,
    one_thread,
)

STATE = (
    *("kernel", "root", "mean", "noise_variance", "output_scale", "targets"),
    *("next_fit", "history", "rule", "generator"),
)


class KernelAgent:
    """Keep the posterior of all mean rewards; play by its mean and covariance.

    Memory is O(K^2). A round costs O(K^2); at rounds 1, 2, 4, ... scale and noise are fitted anew and the posterior is
    built from counts and means, O(K^3).

    Args:
        settings: of kernel and likelihood.
        acquisition: makes the rule that turns belief into play.
        kernel: None, or a K x K array, if `settings.kernel` is "custom".

    Raises:
        ValueError: if a kernel is given and not asked for, or asked for and not given, or is no kernel.
    """

    def __init__(
        self, settings: KernelSettings, acquisition: Callable[[], AcquisitionRule], kernel: ArrayLike | None = None
    ) -> None:
        if (kernel is not None) != (settings.kernel == "custom"):
            raise ValueError('Expected `kernel_matrix` together with `kernel="custom"`. Got one without the other.')
        self.settings, self.acquisition = settings, acquisition
        self._given = None if kernel is None else _check_kernel(kernel)
        self.posterior: GaussianProcess
        self._chosen: tuple[Belief, Tensor] | None = None  # belief and index of the last choice

    @one_thread()
    def reset(self, observation: Any, seed: int = 0, graph_set: Any = None) -> None:
        """Compute the kernel of the graphs once, and start with nothing observed."""
        network_seed, self.generator = derive_streams(seed)
        own_count = self.settings.node_count == "own"
        self._graphs = aggregate_neighbours(read_graphs(observation, graph_set), own_count=own_count)
        self.kernel = self._build_kernel(self._graphs, network_seed)
        self._prior_scale = _scale_of_unit_rewards(self.kernel)
        self.history, self.rule = History(len(self.kernel)), self.acquisition()
        self.location, self.unit = 0.0, 1.0
        self.next_fit, self._chosen = 1, None
        self._rebuild(
            Hyperparameters(
                self.settings.output_scale or self._prior_scale, self.settings.noise_variance or PRIOR_NOISE
            )
        )

    @one_thread()
    def select_action(self, observation: Any, action_mask: ArrayLike | None = None) -> int:
        """Play the graph that the rule ranks highest."""
        check_reset(self, "kernel")
        mask = read_mask(action_mask, len(self.kernel))
        belief = self.belief()
        index = self.rule(belief, mask, self.generator)
        self._chosen = belief, index
        return masked_argmax(index, mask, self.generator)

    @one_thread()
    def select_batch(
        self, observation: Any, count: int, action_mask: ArrayLike | None = None, pending: Sequence[int] = ()
    ) -> list[int]:
        """Choose different graphs, one after the other."""
        check_reset(self, "kernel")
        mask = read_mask(action_mask, len(self.kernel))
        imagined = copy.deepcopy(self.posterior)

        def hallucinate(action: int) -> Belief:
            imagined.add(action, imagined.mean[action].item())
            return self.belief(imagined)

        return choose_batch(self.rule, self.belief(), mask, count, self.generator, hallucinate, pending)

    def predict(self) -> Prediction:
        """Return mean and standard deviation of each graph's reward."""
        check_reset(self, "kernel")
        posterior, unit = self.posterior, self.unit
        mean, std = self.location + unit * posterior.mean, unit * posterior.variance.sqrt()
        return Prediction(mean.numpy(), std.numpy(), unit * posterior.noise_variance**0.5)

    @one_thread()
    def update(self, observation: Any, action: ArrayLike, reward: ArrayLike) -> None:
        """Condition on what was observed; at doubling rounds, fit scale and noise first."""
        check_reset(self, "kernel")
        actions, rewards = read_feedback(action, reward, len(self.kernel))
        self.history.add(actions, rewards)
        self._chosen = None
        if len(self.history) >= self.next_fit:
            self._fit()
            return
        for one, value in zip(actions.tolist(), rewards.tolist(), strict=True):
            self.posterior.add(one, (value - self.location) / self.unit)

    def belief(self, posterior: GaussianProcess | None = None) -> Belief:
        """Return mean and nu times standard deviation of each graph, in the units of the targets."""
        scale, posterior = self.settings.exploration_scale, posterior or self.posterior
        return Belief(posterior.mean.clone(), scale * posterior.variance.sqrt(), root=lambda: scale * posterior.root)

    @one_thread()
    def insight(self) -> Insight:
        """Return what the last choice rested on, the noise variance as ridge; between `select_action` and `update`."""
        belief, index = check_chosen(self._chosen)
        noise, counts = self.posterior.noise_variance, self.history.counts
        kernel = self.output_scale * self.kernel
        root = counts.double().sqrt()
        return make_insight(
            belief,
            index,
            self.rule,
            self.location,
            self.unit,
            variance=self.posterior.variance / noise,
            log_determinant=2 * information_gain(root.unsqueeze(1) * kernel * root, noise),
            effective_dimension=effective_dimension(kernel, max(1, len(self.history)), noise),
        )

    def state_dict(self) -> dict[str, Any]:
        """Return kernel, posterior, history, and the states of rule and generator."""
        return {
            "identity": self._identity(),
            "kernel": self.kernel.clone(),
            "root": self.posterior.root.clone(),
            "mean": self.posterior.mean.clone(),
            "noise_variance": self.posterior.noise_variance,
            "output_scale": self.output_scale,
            "targets": [self.location, self.unit],
            "next_fit": self.next_fit,
            "history": self.history.state_dict(),
            "rule": self.rule.state_dict(),
            "generator": self.generator.get_state(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state` was taken; `reset` on the same graphs must come first.

        Raises:
            ValueError: if the state is of other settings or graphs; nothing is changed then.
        """
        check_identity(state, self._identity(), STATE)
        self.kernel = state["kernel"].clone()
        self._prior_scale = _scale_of_unit_rewards(self.kernel)
        self.posterior.root, self.posterior.mean = state["root"].clone(), state["mean"].clone()
        self.posterior.noise_variance, self.output_scale = state["noise_variance"], state["output_scale"]
        self.location, self.unit = state["targets"]
        self.next_fit, self._chosen = state["next_fit"], None
        self.history.load_state_dict(state["history"])
        self.rule.load_state_dict(state["rule"])
        self.generator.set_state(state["generator"])

    def _identity(self) -> dict[str, Any]:
        check_reset(self, "kernel")
        # An empirical kernel depends on the seed; the state brings it along.
        return make_identity(self.settings, [self._graphs.nodes, self._graphs.offsets, self._graphs.divisors])

    def _build_kernel(self, graphs: AggregatedGraphs, seed: int) -> Tensor:
        if self._given is not None:
            if len(self._given) != len(graphs):
                raise ValueError(f"Expected a kernel of {len(graphs)} graphs. Got {len(self._given)}.")
            return self._given
        if self.settings.kernel == "infinite":
            return infinite_width_kernel(graphs, self.settings.depth)
        model = GraphMLP(graphs.feature_dim, self.settings.width, self.settings.depth, seed=seed)
        return empirical_kernel(model, graphs)

    def _fit(self) -> None:
        if self.settings.standardize:
            self.location, self.unit = self.history.location_and_scale()
        seen = self.history.counts > 0
        likelihood = MarginalLikelihood(self.kernel[seen][:, seen], self.history, self.location, self.unit)
        noise = self.settings.noise_variance
        known = None if noise is None else noise / self.unit**2
        self._rebuild(likelihood.fit(self.settings.output_scale, known, self._prior_scale))
        self.next_fit = 1 << len(self.history).bit_length()  # the next power of two

    def _rebuild(self, hyperparameters: Hyperparameters) -> None:
        targets = (self.history.means - self.location) / self.unit
        self.output_scale = hyperparameters.scale
        self.posterior = GaussianProcess(
            hyperparameters.scale * self.kernel, hyperparameters.noise, self.history.counts, targets
        )


def _scale_of_unit_rewards(kernel: Tensor) -> float:
    """Return the s at which rewards drawn from N(0, s K) have variance 1 over the set, on average."""
    centred = kernel.diagonal().mean() - kernel.mean()
    typical = centred if centred > 1e-12 else kernel.diagonal().mean()
    return 1.0 / float(typical) if typical > 1e-12 else 1.0


def _check_kernel(kernel: ArrayLike) -> Tensor:
    array = np.asarray(kernel, np.float64)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not np.isfinite(array).all():
        raise ValueError(f"Expected a finite kernel of shape `(K, K)`. Got shape `{array.shape}`.")
    if not np.allclose(array, array.T) or np.linalg.eigvalsh(array)[0] < -1e-8 * np.abs(array).max():
        raise ValueError("Expected a kernel that is symmetric and positive semi-definite. Got one that is not.")
    return torch.from_numpy((array + array.T) / 2)
