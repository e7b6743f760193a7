"""The agent for pools of molecules: choose what to measure next from few measurements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Batch

from agents.beliefs.agent import BatchBeliefAgent
from agents.beliefs.batches import check_count, choose_batch
from agents.beliefs.belief import Belief
from agents.beliefs.rewards import PRIOR_NOISE, Hyperparameters, MarginalLikelihood, Standardised
from agents.beliefs.rules.rule import AcquisitionRule
from agents.contract.inputs import read_graphs
from agents.contract.protocol import DivergedError, GraphSetLike, MoleculeSetLike, Prediction, State
from agents.molecule.fixed_parts import fixed_parts
from agents.molecule.kernel import SumKernel, TangentKernel
from agents.molecule.network import MolecularNetwork
from agents.molecule.packed import PackedGraphs
from agents.molecule.posterior import DualPosterior
from agents.molecule.settings import MoleculeSettings
from agents.molecule.training import train
from gntk import symmetric_root

SMALLEST_NOISE = 1e-6  # relative to the prior variance, because tangent products are summed in float32
Weights = dict[str, Tensor]


class MoleculeAgent(BatchBeliefAgent[MoleculeSettings]):
    """Train networks on the measurements; play by a Gaussian process on fingerprints, properties and their features.

        k = w_1 T_pairs + w_2 T_morgan + w_3 k_descriptors + (w_4 / n) sum_i <psi_i, psi_i> / c_i

    T is the Tanimoto similarity of counts, psi_i are the tangent features of network i after its training, and the
    weights add up to 1. Scale and noise maximise the marginal likelihood. The posterior is exact in all results. No
    array of size molecules x features is kept for a large pool.

    Args:
        settings: settings of kernel, training and choice.
        make_rule: makes the acquisition rule.

    Raises:
        ValueError: if the rule remembers graphs.
    """

    posterior: DualPosterior

    def __init__(self, settings: MoleculeSettings, make_rule: Callable[[], AcquisitionRule]) -> None:
        super().__init__(settings, make_rule)
        rule = make_rule()
        if rule.state_dict():
            raise ValueError(
                f"Expected a rule that remembers nothing, because the short list changes with each choice. Got "
                f"{type(rule).__name__}."
            )

    def read(self, observation: object, graph_set: GraphSetLike | None) -> Batch:
        """Return the molecules, with their SMILES.

        Raises:
            TypeError: if `graph_set` is not a set of molecules.
            ValueError: if its atoms are categories instead of one-hot features.
        """
        if not isinstance(graph_set, MoleculeSetLike):
            raise TypeError(
                f"Expected molecules: pass `graph_set=`, a MoleculeSet. Got {type(graph_set).__name__}. "
                "`graph_bandit_env.from_smiles_csv` makes one from a file."
            )
        features = getattr(graph_set, "features", "one_hot")
        if features != "one_hot":
            raise ValueError(f'Expected molecules with features="one_hot". Got {features!r}.')
        graphs = read_graphs(None, graph_set)
        graphs.smiles = tuple(graph_set.smiles)
        return graphs

    def begin(self, graphs: Batch, seed: int) -> None:
        """Describe the molecules once, and start with nothing measured."""
        super().begin(graphs, seed)
        self._fixed_parts = fixed_parts(self.settings, graphs.smiles)
        self._graphs = PackedGraphs(graphs)
        seeds = np.random.SeedSequence(seed).generate_state(self.settings.networks, np.uint64)
        self._seeds = [int(seed >> 1) for seed in seeds]
        self._take_networks([self._new_network(member).state_dict() for member in self._members], 0)
        self._condition()

    def belief(self) -> Belief:
        """Return posterior mean and nu times standard deviation of every molecule, in units of the targets."""
        return self._believe(torch.arange(len(self._graphs)))[0]

    def imagine(self) -> Callable[[int], Belief]:
        """Return a function that takes molecules one by one, and returns the belief about all after measuring them."""
        return self._believe(torch.arange(len(self._graphs)))[1]

    def choose(self, mask: Tensor) -> int:
        """Return the molecule of the short list that the rule ranks highest."""
        return self.choose_batch(mask, 1, ())[0]

    def choose_batch(self, mask: Tensor, count: int, pending: Sequence[int]) -> list[int]:
        """Return `count` different molecules of the short list, chosen one after the other."""
        mask[list(pending)] = False
        check_count(count, mask)
        near = torch.cat([self._short_list(mask, count), torch.tensor(pending, dtype=torch.int64)])
        belief, imagine = self._believe(near)
        every, under_way = torch.ones(len(near), dtype=torch.bool), range(len(near) - len(pending), len(near))
        chosen = choose_batch(self.rule, belief, every, count, self.generator, imagine, under_way)
        return [int(near[position]) for position in chosen]

    def learn(self, actions: Tensor, rewards: Tensor) -> None:
        """Condition on the measurements; train the networks again if there are enough new ones."""
        super().learn(actions, rewards)
        if len(self.history.seen) >= (1 + self.settings.refit_growth) * self._trained_on:
            self._train()
        self._condition()

    def expect(self) -> Prediction:
        """Return posterior mean and standard deviation of each molecule's value, and the noise of a measurement."""
        _, unit = self.history.location_and_scale()
        _, variance = self._mean_and_variance()
        noise_std = unit * self.posterior.hyperparameters.noise**0.5
        return Prediction(self.expect_means().numpy(), (unit * variance.sqrt()).numpy(), noise_std)

    def expect_means(self) -> Tensor:
        """Return the posterior mean of each molecule, in reward units."""
        location, unit = self.history.location_and_scale()
        return location + unit * self._mean_and_variance()[0]

    def known(self) -> list[Tensor]:
        """Return atoms and bonds."""
        return [self._graphs.x, self._graphs.edge_index, self._graphs.edge_attr]

    def state(self) -> State:
        """Return the networks' weights and seeds, and the history."""
        weights = [network.state_dict() for network in self._networks]
        return {
            **super().state(),
            "networks": [{name: value.clone() for name, value in member.items()} for member in weights],
            "seeds": list(self._seeds),
            "trained_on": self._trained_on,
        }

    def restore(self, state: State) -> None:
        """Continue with networks and history of a state."""
        super().restore(state)
        self._seeds = list(state["seeds"])
        self._take_networks(state["networks"], state["trained_on"])
        self._condition()

    def _believe(self, index: Tensor) -> tuple[Belief, Callable[[int], Belief]]:
        """Return the belief about the molecules `index` `(n,)`, and the function of `imagine` for these alone."""
        means, variances = self._mean_and_variance()
        mean, nu, posterior = means[index], self.settings.exploration_scale, self.posterior
        covariance = cache(lambda: posterior.covariance(index))
        root = cache(lambda: nu * symmetric_root(covariance()))
        best, noise = self.best_seen(means), posterior.hyperparameters.noise

        def imagine(action: int) -> Belief:
            """Condition on one more measurement that equals the mean, by a rank-one change in place."""
            left = covariance()
            column = left[action].clone()
            left.sub_(torch.outer(column, column) / (column[action] + noise))
            return Belief(mean, nu * left.diagonal().clamp(min=0).sqrt(), root, best)

        return Belief(mean, nu * variances[index].sqrt(), root, best), imagine

    def _new_network(self, member: int) -> MolecularNetwork:
        columns = self._graphs.x.shape[1], self._graphs.edge_attr.shape[1]
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(self._seeds[member])
            return MolecularNetwork(*columns, self.settings.width, self.settings.depth, self._typical_size)

    @property
    def _members(self) -> range:
        return range(self.settings.networks if self.settings.tangent_weight > 0 else 0)

    @property
    def _typical_size(self) -> float:
        return self._graphs.nodes.double().mean().item()

    def _train(self) -> None:
        """Train each network from its initial weights on the standardised mean measurements."""
        seen = self.history.seen
        location, unit = self.history.location_and_scale()
        targets = ((self.history.means[seen] - location) / unit).float()
        trained = []
        for member in self._members:
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
        if weight > 0 and (trained_on > 0 or not parts):  # an untrained network knows only the size of a molecule
            parts += [(weight / len(weights), TangentKernel(network, self._graphs)) for network in self._networks]
        total = sum(weight for weight, _ in parts)
        self._kernel = SumKernel([(weight / total, part) for weight, part in parts])

    def _condition(self) -> None:
        """Fit scale and noise to all measurements, and build the posterior."""
        seen = self.history.counts.nonzero().squeeze(1)
        location, unit = self.history.location_and_scale()
        known = self.settings.noise_variance and self.settings.noise_variance / unit**2
        hyperparameters = Hyperparameters(1.0, known or PRIOR_NOISE)
        if len(seen):
            within = self._kernel.columns(seen, seen)[0]
            likelihood = MarginalLikelihood((within + within.T) / 2, self.history, Standardised(location, unit))
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
        """Return posterior mean and variance of every molecule, computed once for each posterior."""
        self._believed = self._believed or self.posterior.mean_and_variance(torch.arange(len(self._graphs)))
        return self._believed

    def _short_list(self, mask: Tensor, count: int) -> Tensor:
        """Return the molecules on offer with the largest mean + 2 sigma, in the order of the set; ties at random."""
        offered = mask.nonzero().squeeze(1)
        offered = offered[torch.randperm(len(offered), generator=self.generator)]
        mean, variance = self._mean_and_variance()
        size = min(len(offered), max(self.settings.short_list, count))
        kept = (mean + 2 * variance.sqrt())[offered].topk(size).indices
        return offered[kept].sort().values


def molecule(settings: MoleculeSettings, make_rule: Callable[[], AcquisitionRule]) -> MoleculeAgent:
    """A Gaussian process on fingerprints, properties and the tangent features of a trained network.

    Args:
        settings: settings of kernel, training and choice.
        make_rule: makes the acquisition rule.
    """
    return MoleculeAgent(settings, make_rule)
