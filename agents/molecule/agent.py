"""The agent for pools of molecules: what to measure next, given what few measurements have shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from agents.beliefs.acquisition import AcquisitionRule, Belief
from agents.beliefs.batch import check_count, choose_batch
from agents.beliefs.history import History
from agents.beliefs.likelihood import PRIOR_NOISE, Hyperparameters, MarginalLikelihood
from agents.contract.inputs import check_reset, derive_streams, read_feedback, read_graphs, read_mask
from agents.contract.protocol import DivergedError, Prediction
from agents.contract.state import check_identity, make_identity
from agents.molecule.fixed_parts import fixed_parts
from agents.molecule.kernel import SumKernel, TangentKernel
from agents.molecule.network import MolecularNetwork
from agents.molecule.packed import PackedGraphs
from agents.molecule.posterior import DualPosterior
from agents.molecule.settings import MoleculeSettings
from agents.molecule.training import train
from gntk import one_thread

SMALLEST_NOISE = 1e-6  # of the prior variance: tangent products are summed in float32
STATE = ("networks", "seeds", "trained_on", "history", "rule", "generator")
Weights = dict[str, Tensor]


class MoleculeAgent:
    """Train networks on what was measured; play by a Gaussian process on what is known of the molecules.

        k = w_1 T_pairs + w_2 T_morgan + w_3 k_descriptors + (w_4 / n) sum_i <psi_i, psi_i> / c_i

    with T the Tanimoto similarity of counts, psi_i the tangent features of network i after its training, and weights
    that add up to 1. Scale and noise are those of largest marginal likelihood; all results are conditioned on exactly.
    Memory does not grow with the number of molecules times that of features.

    Args:
        settings: of kernel, training and choice.
        acquisition: makes the rule that turns belief into play.
    """

    def __init__(self, settings: MoleculeSettings, acquisition: Callable[[], AcquisitionRule]) -> None:
        self.settings, self.acquisition = settings, acquisition
        self.posterior: DualPosterior

    @one_thread()
    def reset(self, observation: Any, seed: int = 0, graph_set: Any = None) -> None:
        """Read the molecules once, and start with nothing measured.

        Raises:
            TypeError: if `graph_set` is no set of molecules.
            ValueError: if its atoms are categories, which the network cannot take.
        """
        if not hasattr(graph_set, "smiles"):
            raise TypeError(
                "Expected molecules: pass `graph_set=`, a MoleculeSet as `graph_bandit_env.from_smiles_csv` makes one. "
                f"Got {type(graph_set).__name__}."
            )
        if getattr(graph_set, "features", "one_hot") != "one_hot":
            raise ValueError(f'Expected molecules with features="one_hot". Got {graph_set.features!r}.')
        network_seed, generator = derive_streams(seed)
        self._fixed_parts = fixed_parts(self.settings, graph_set.smiles)
        self._graphs = PackedGraphs(read_graphs(None, graph_set))
        seeds = np.random.SeedSequence(network_seed).generate_state(self.settings.networks, np.uint64)
        self._seeds = [int(seed >> 1) for seed in seeds]
        self.generator, self.rule, self.history = generator, self.acquisition(), History(len(self._graphs))
        self._take_networks([self._new_network(member).state_dict() for member in range(self.settings.networks)], 0)
        self._condition()

    @one_thread()
    def select_action(self, observation: Any, action_mask: ArrayLike | None = None) -> int:
        """Play the molecule that the rule ranks highest."""
        return self.select_batch(observation, 1, action_mask)[0]

    @one_thread()
    def select_batch(
        self, observation: Any, count: int, action_mask: ArrayLike | None = None, pending: Sequence[int] = ()
    ) -> list[int]:
        """Choose different molecules, one after the other, on the short list."""
        check_reset(self, "posterior")
        mask = read_mask(action_mask, len(self._graphs))
        mask[list(pending)] = False
        check_count(count, mask)
        near = torch.cat([self._short_list(mask, count), torch.tensor(pending, dtype=torch.int64)])
        mean, variance = (every[near] for every in self._mean_and_variance())
        nu, posterior = self.settings.exploration_scale, self.posterior
        covariance = cache(lambda: posterior.covariance(near))
        root = cache(lambda: nu * _root(covariance()))
        noise = posterior.hyperparameters.noise

        def hallucinate(action: int) -> Belief:
            """Condition on one more measurement of the mean itself, in place; a rank-one change."""
            left = covariance()
            column = left[action].clone()
            left.sub_(torch.outer(column, column) / (column[action] + noise))
            return Belief(mean, nu * left.diagonal().clamp(min=0).sqrt(), root)

        belief = Belief(mean, nu * variance.sqrt(), root)
        places = range(len(near) - len(pending), len(near))
        chosen = choose_batch(
            self.rule, belief, torch.ones(len(near), dtype=torch.bool), count, self.generator, hallucinate, places
        )
        return [int(near[place]) for place in chosen]

    @one_thread()
    def update(self, observation: Any, action: ArrayLike, reward: ArrayLike) -> None:
        """Condition on what was measured; train the networks anew where there is enough of it."""
        check_reset(self, "posterior")
        actions, rewards = read_feedback(action, reward, len(self._graphs))
        self.history.add(actions, rewards)
        if len(self.history.seen) >= (1 + self.settings.refit_growth) * self._trained_on:
            self._train()
        self._condition()

    @one_thread()
    def predict(self) -> Prediction:
        """Return mean and standard deviation of each molecule's value, and the noise of a measurement."""
        check_reset(self, "posterior")
        location, unit = self.history.location_and_scale()
        mean, variance = self._mean_and_variance()
        noise_std = unit * self.posterior.hyperparameters.noise**0.5
        return Prediction((location + unit * mean).numpy(), (unit * variance.sqrt()).numpy(), noise_std)

    def state_dict(self) -> dict[str, Any]:
        """Return the networks' weights, history, hyperparameters, and the states of rule and generator."""
        identity = self._identity()
        return {
            "identity": identity,
            "networks": [{name: value.clone() for name, value in n.state_dict().items()} for n in self._networks],
            "seeds": list(self._seeds),
            "trained_on": self._trained_on,
            "history": self.history.state_dict(),
            "rule": self.rule.state_dict(),
            "generator": self.generator.get_state(),
        }

    @one_thread()
    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state` was taken; `reset` on the same molecules must come first.

        Raises:
            ValueError: if the state is of other settings or molecules; nothing is changed then.
        """
        check_identity(state, self._identity(), STATE)
        self._seeds = list(state["seeds"])
        self.history.load_state_dict(state["history"])
        self.rule.load_state_dict(state["rule"])
        self.generator.set_state(state["generator"])
        self._take_networks(state["networks"], state["trained_on"])
        self._condition()

    def _identity(self) -> dict[str, Any]:
        check_reset(self, "posterior")
        return make_identity(self.settings, [self._graphs.x, self._graphs.edge_index, self._graphs.edge_attr])

    def _new_network(self, member: int) -> MolecularNetwork:
        columns = self._graphs.x.shape[1], self._graphs.edge_attr.shape[1]
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(self._seeds[member])
            return MolecularNetwork(*columns, self.settings.width, self.settings.depth, self._typical_size)

    @property
    def _typical_size(self) -> float:
        return self._graphs.nodes.double().mean().item()

    def _train(self) -> None:
        """Train each network from its initial weights on the standardised means of what was measured."""
        seen = self.history.seen
        location, unit = self.history.location_and_scale()
        targets = ((self.history.means[seen] - location) / unit).float()
        trained = []
        for member in range(self.settings.networks if self.settings.tangent_weight > 0 else 0):
            network = self._new_network(member)
            train(network, self._graphs, seen, targets, self.settings, self.generator)
            trained.append(network.state_dict())
        self._take_networks(trained, len(seen))

    def _take_networks(self, weights: list[Weights], trained_on: int) -> None:
        """Build the kernel from networks with these weights."""
        self._networks = [self._new_network(member) for member in range(len(weights))]
        for network, its_weights in zip(self._networks, weights, strict=True):
            network.load_state_dict(its_weights)
        self._trained_on = trained_on
        parts = list(self._fixed_parts)
        weight = self.settings.tangent_weight
        if weight > 0 and (trained_on > 0 or not parts):  # an untrained network only tells how large a molecule is
            parts += [(weight / len(weights), TangentKernel(network, self._graphs)) for network in self._networks]
        total = sum(weight for weight, _ in parts)
        self._kernel = SumKernel([(weight / total, part) for weight, part in parts])

    def _condition(self) -> None:
        """Fit scale and noise, and build the posterior, from all that was measured."""
        seen = self.history.counts.nonzero().squeeze(1)
        location, unit = self.history.location_and_scale()
        known = self.settings.noise_variance and self.settings.noise_variance / unit**2
        hyperparameters = Hyperparameters(1.0, known or PRIOR_NOISE)
        if len(seen):
            within = self._kernel.columns(seen, seen)[0]
            likelihood = MarginalLikelihood((within + within.T) / 2, self.history, location, unit)
            fitted = likelihood.fit(None, known, prior_scale=1.0)
            floor = 0.0 if known else SMALLEST_NOISE * fitted.scale * within.diagonal().mean().item()
            hyperparameters = Hyperparameters(fitted.scale, max(fitted.noise, floor))
        targets = (self.history.means[seen] - location) / unit
        self._believed: tuple[Tensor, Tensor] | None = None
        try:
            self.posterior = DualPosterior(self._kernel, hyperparameters, seen, self.history.counts[seen], targets)
        except torch.linalg.LinAlgError as error:  # type: ignore[attr-defined]
            raise DivergedError(f"The covariance of the measurements has no Cholesky factor: {error}") from error

    def _mean_and_variance(self) -> tuple[Tensor, Tensor]:
        """Return what is believed of every molecule; once for each posterior."""
        self._believed = self._believed or self.posterior.mean_and_variance(torch.arange(len(self._graphs)))
        return self._believed

    def _short_list(self, mask: Tensor, count: int) -> Tensor:
        """Return the molecules on offer of largest mean + 2 sigma, ties at random, in the order of the set."""
        offered = mask.nonzero().squeeze(1)
        offered = offered[torch.randperm(len(offered), generator=self.generator)]
        mean, variance = self._mean_and_variance()
        size = min(len(offered), max(self.settings.short_list, count))
        kept = (mean + 2 * variance.sqrt())[offered].topk(size).indices
        return offered[kept].sort().values


def _root(covariance: Tensor) -> Tensor:
    values, vectors = torch.linalg.eigh(covariance)
    root: Tensor = vectors * values.clamp(min=0).sqrt()
    return root
