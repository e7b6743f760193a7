"""The agent for pools of molecules: choose what to measure next from few measurements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor
from torch_geometric.data import Batch

from agents.beliefs.agent import BatchBeliefAgent
from agents.beliefs.batches import check_count, choose_batch
from agents.beliefs.belief import Belief
from agents.beliefs.censoring import NO_PSEUDO_RESULTS, PseudoResults, match_bounds
from agents.beliefs.posterior import DualPosterior
from agents.beliefs.rewards import PRIOR_NOISE, Bounds, Hyperparameters, NormalScores, Targets, make_targets, predict
from agents.beliefs.rewards import worth_of_results as weigh_results
from agents.beliefs.rules.rule import AcquisitionRule
from agents.contract.inputs import read_feedback, read_graphs, read_sides
from agents.contract.protocol import DivergedError, Explanation, GraphSetLike, MoleculeSetLike, Prediction, State
from agents.molecule.explanation import explain_means
from agents.molecule.mixture import MOST_RESULTS, Mixture, MixtureLikelihood
from agents.molecule.parts import Description, make_parts
from agents.molecule.settings import MoleculeSettings
from gntk import one_thread, symmetric_root

MOST_BOUNDS = 1000  # evenly spaced ones stand for more of them: the cost grows as m^3
MATCHES = 3  # times that weights are learnt and bounds matched in turn
UNKNOWN = 1e300  # stands for a number that is not known where states are compared


class MoleculeAgent(BatchBeliefAgent[MoleculeSettings]):
    """Play by a Gaussian process whose kernel is a sum of parts, with weights learnt from the measurements.

        k = sum_p w_p k_p

    The parts are Tanimoto similarities of fingerprints, and Gaussian and linear kernels of properties, of descriptors
    and of columns of the user's own (`make_parts`). Weights and noise maximise the marginal likelihood
    (`MixtureLikelihood`). The posterior is exact in all results. No array of size K x K is kept for K molecules.

    A result of which only a bound is known is learnt as that (`update_bounds`): the part of the posterior that it cuts
    off is approximated by expectation propagation (`match_bounds`).

    Args:
        settings: settings of kernel, likelihood and choice.
        make_rule: makes the acquisition rule.

    Raises:
        ValueError: if the rule remembers graphs.
    """

    algorithm = 5  # until version 3 with fixed weights and a network; version 4 took columns as they are
    posterior: DualPosterior

    def __init__(self, settings: MoleculeSettings, make_rule: Callable[[], AcquisitionRule]) -> None:
        super().__init__(settings, make_rule)
        self._described: Description | None = None
        rule = make_rule()
        if rule.state_dict():
            raise ValueError(
                f"Expected a rule that remembers nothing, because the short list changes with each choice. Got "
                f"{type(rule).__name__}."
            )

    def blank(self) -> MoleculeAgent:
        """Return an agent with equal settings that was told nothing, and shares the description of the molecules."""
        agent = type(self)(self.settings, self._make_rule)
        agent._described = self._described
        return agent

    @property
    def uses_columns(self) -> bool:
        """Return whether columns of the user's own are a part of the kernel."""
        return self.settings.columns_weight > 0

    def read(self, observation: object, graph_set: GraphSetLike | None) -> Batch:
        """Return the molecules, with their SMILES.

        Raises:
            TypeError: if `graph_set` is not a set of molecules.
        """
        if not isinstance(graph_set, MoleculeSetLike):
            raise TypeError(
                f"Expected molecules: pass `graph_set=`, a MoleculeSet. Got {type(graph_set).__name__}. "
                "`graph_bandit_env.from_smiles_csv` makes one from a file."
            )
        graphs = read_graphs(None, graph_set)
        graphs.smiles, graphs.columns = tuple(graph_set.smiles), getattr(graph_set, "columns", None)
        return graphs

    def begin(self, graphs: Batch, seed: int) -> None:
        """Describe the molecules, unless they are those of the last time, and start with nothing measured."""
        super().begin(graphs, seed)
        self._every = torch.arange(graphs.num_graphs)
        columns = getattr(graphs, "columns", None)
        given = (graphs.x, graphs.edge_index, graphs.edge_attr)
        self._known = [tensor for tensor in given if tensor is not None]
        if columns is not None:
            self._known.append(torch.from_numpy(np.nan_to_num(columns, nan=UNKNOWN)))
        if self._described is None or not self._described.is_of(graphs.smiles, columns):
            self._described = Description(graphs.smiles, columns, make_parts(self.settings, graphs.smiles, columns))
        self._parts = self._described.parts
        self._weights, self._noise = [part.weight for part in self._parts], PRIOR_NOISE
        self._learnt_from = 0
        self.bounds = Bounds(graphs.num_graphs)
        self._condition()

    def belief(self) -> Belief:
        """Return posterior mean and nu times standard deviation of every molecule, in units of the targets."""
        return self._believe(self._every)[0]

    def imagine(self) -> Callable[[int], Belief]:
        """Return a function that takes molecules one by one, and returns the belief about all after measuring them."""
        return self._believe(self._every)[1]

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
        """Condition on the measurements; learn the weights again if there are enough new ones."""
        super().learn(actions, rewards)
        self._refresh()

    @one_thread()
    def update_bounds(self, observation: object, action: ArrayLike, value: ArrayLike, above: ArrayLike) -> None:
        """Learn from results of which only a bound is known; see `agents.contract.BoundsLearner`.

        Of several bounds of a molecule on one side the tightest counts.
        """
        self.look_at(observation)
        actions, values = read_feedback(action, value, self.num_graphs)
        self.bounds.add(actions, values, read_sides(above, len(actions)))
        self._ranked = None
        self._refresh()

    def best_seen(self, mean: Tensor) -> float | None:
        """Return the largest entry of `mean` `(K,)` among the molecules with a result or a bound."""
        seen = self.posterior.seen
        return mean[seen].max().item() if len(seen) else None

    def expect(self) -> Prediction:
        """Return the prediction of each molecule's value, and the noise of a measurement."""
        mean, variance = self._mean_and_variance()
        return predict(self.targets, mean, variance.sqrt(), self.posterior.hyperparameters.noise)

    @one_thread()
    def draw_gains(self, index: Sequence[int], value: float, count: int, seed: int) -> NDArray[np.float64]:
        """Return joint draws of by how much the values of some molecules exceed a value: `(count, n)`, else 0.

        Raises:
            ValueError: if an index is not one of a molecule.
            RuntimeError: before the first `reset`.
        """
        near, root = self._joint(index)
        generator = torch.Generator().manual_seed(seed)
        return self.targets.gains(value, self._mean_and_variance()[0][near], root, count, generator).numpy()

    @one_thread()
    def draw_rewards(self, index: Sequence[int], count: int, seed: int) -> NDArray[np.float64]:
        """Return joint draws of the values of some molecules: `(count, n)`.

        Raises:
            ValueError: if an index is not one of a molecule.
            RuntimeError: before the first `reset`.
        """
        near, root = self._joint(index)
        generator = torch.Generator().manual_seed(seed)
        normal = torch.randn(count, len(near), generator=generator, dtype=torch.float64)
        return self.targets.to_rewards(self._mean_and_variance()[0][near] + normal @ root.T).numpy()

    @one_thread()
    def worth_of_results(self, index: Sequence[int], named: Sequence[int], times: int = 1) -> NDArray[np.float64]:
        """Return what results of some molecules are worth, `(n,)`; see `agents.contract.ResultsWeigher`.

        Raises:
            ValueError: if an index is not one of a molecule, or `times` is smaller than 1.
            RuntimeError: before the first `reset`.
        """
        if times < 1:
            raise ValueError(f"Expected `times` of at least 1. Got {times}.")
        near = self._read_index([*index, *named])
        mean, covariance = self._mean_and_variance()[0][near], self.posterior.covariance(near)
        noise, old = self.posterior.hyperparameters.noise / times, list(range(len(index), len(near)))
        places = [torch.tensor([*old, k] if each not in named else old) for k, each in enumerate(index)]
        worth = [weigh_results(self.targets, mean, covariance, noise, k, place) for k, place in enumerate(places)]
        return np.array(worth)

    @one_thread()
    def explain(self, index: Sequence[int]) -> Explanation:
        """Return what the predictions of some molecules are sums of; see `agents.contract.Explainer`.

        Raises:
            ValueError: if an index is not one of a molecule.
            RuntimeError: before the first `reset`.
        """
        by_rank = isinstance(self.targets, NormalScores)
        return explain_means(self.posterior, self._parts, self._weights, self._read_index(index), by_rank)

    def shares(self) -> dict[str, float]:
        """Return the share of each part of the kernel in the prior variance, by what it compares; the shares add to 1.

        The prior variance is the mean over the molecules of what the values are expected to differ by before any
        result.
        """
        shares: dict[str, float] = {}
        for part, weight in zip(self._parts, self._weights, strict=True):
            shares[part.name] = shares.get(part.name, 0.0) + weight / sum(self._weights)
        return shares

    def known(self) -> list[Tensor]:
        """Return atoms and bonds, and the columns of the user's own."""
        return self._known

    def state(self) -> State:
        """Return weights, noise and history."""
        learnt = {"weights": list(self._weights), "noise": self._noise, "learnt_from": self._learnt_from}
        return {**super().state(), **learnt, "bounds": self.bounds.state_dict()}

    def restore(self, state: State) -> None:
        """Continue with weights, noise and history of a state."""
        super().restore(state)
        self._weights, self._noise = list(state["weights"]), state["noise"]
        self._learnt_from = state["learnt_from"]
        self.bounds.load_state_dict(state["bounds"])
        self._condition()

    def _read_index(self, index: Sequence[int]) -> Tensor:
        self.check_reset()
        if not all(0 <= each < self.num_graphs for each in index):
            raise ValueError(f"Expected indices from 0 to {self.num_graphs - 1}. Got {list(index)}.")
        return torch.tensor(index, dtype=torch.int64)

    def _joint(self, index: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Return molecules as a tensor, and a root of the joint covariance of their targets."""
        near = self._read_index(index)
        return near, symmetric_root(self.posterior.covariance(near))

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

    def _refresh(self) -> None:
        """Learn the weights again if there are enough new results or bounds, and condition on all of them."""
        means, told = self.history.means[self.history.seen], len(self.history) + len(self.bounds)
        differ = len(means) > 0 and (means - means[:1]).abs().gt(self.history.resolution).any()
        if differ and told >= (1 + self.settings.refit_growth) * self._learnt_from:
            self._fit()  # equal results tell nothing
            self._learnt_from = told
        self._condition()

    def _fit(self) -> None:
        """Learn the weights and the noise from all measurements."""
        targets = self._make_targets()
        kernels, medians = [part.kernel for part in self._parts], [part.weight for part in self._parts]
        spread, known = self.settings.weight_spread, self.settings.noise_variance
        noise = known and known / targets.unit**2
        try:
            pseudo = self._match(medians, noise or PRIOR_NOISE, targets, MOST_RESULTS)
            for remaining in reversed(range(MATCHES if len(self.bounds) else 1)):
                likelihood = MixtureLikelihood.of_history(kernels, medians, spread, self.history, targets, pseudo)
                self._weights, self._noise = likelihood.fit(noise)
                pseudo = self._match(self._weights, self._noise, targets, MOST_RESULTS) if remaining else pseudo
        except (torch.linalg.LinAlgError, ArithmeticError) as error:  # type: ignore[attr-defined]
            raise DivergedError(f"The weights could not be learnt from the measurements: {error}") from error

    def _condition(self) -> None:
        """Build the posterior given all measurements and bounds."""
        self.targets = self._make_targets()
        self._believed: tuple[Tensor, Tensor] | None = None
        try:
            pseudo = self._match(self._weights, self._noise, self.targets, MOST_BOUNDS)
            self.posterior = self._posterior(self._weights, self._noise, self.targets, pseudo)
        except (torch.linalg.LinAlgError, ArithmeticError) as error:  # type: ignore[attr-defined]
            raise DivergedError(f"The posterior given the measurements could not be computed: {error}") from error

    def _make_targets(self) -> Targets:
        return make_targets(self.history, standardize=True, warp=self.settings.warp, bounds=self.bounds)

    def _match(self, weights: Sequence[float], noise: float, targets: Targets, most: int) -> PseudoResults:
        """Return the pseudo results that stand for the bounds, at most `most` of them, evenly spaced in the set."""
        if not len(self.bounds):
            return NO_PSEUDO_RESULTS
        return match_bounds(self._posterior(weights, noise, targets, NO_PSEUDO_RESULTS), self.bounds, targets, most)

    def _posterior(
        self, weights: Sequence[float], noise: float, targets: Targets, pseudo: PseudoResults
    ) -> DualPosterior:
        """Return the posterior given all measurements and pseudo results."""
        seen = self.history.counts.nonzero().squeeze(1)
        counts = torch.cat([self.history.counts[seen].double(), noise / pseudo.noises])
        values = torch.cat([targets.of(self.history.means[seen]), pseudo.values])
        kernel = Mixture([part.kernel for part in self._parts], weights)
        return DualPosterior(kernel, Hyperparameters(1.0, noise), torch.cat([seen, pseudo.graphs]), counts, values)

    def _mean_and_variance(self) -> tuple[Tensor, Tensor]:
        """Return posterior mean and variance of every molecule, computed once for each posterior."""
        self._believed = self._believed or self.posterior.mean_and_variance(self._every)
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
    """A Gaussian process on fingerprints, properties and descriptors, with weights learnt from the results.

    Args:
        settings: settings of kernel, likelihood and choice.
        make_rule: makes the acquisition rule.
    """
    return MoleculeAgent(settings, make_rule)
