"""The agent for pools of molecules: choose what to measure next from few measurements."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from agents.beliefs.batches import check_count, choose_batch
from agents.beliefs.belief import Belief, Imagine
from agents.beliefs.censoring import NO_PSEUDO_RESULTS, PseudoResults, match_bounds
from agents.beliefs.posterior import DualPosterior
from agents.beliefs.rewards import (
    PRIOR_NOISE,
    Bounds,
    Hyperparameters,
    NoisyResults,
    Targets,
    make_targets,
    variances_of,
)
from agents.beliefs.rules.priced import PRICE_WEIGHT, Priced, log_ratios, price_weight
from agents.beliefs.rules.rule import AcquisitionRule
from agents.beliefs.short_list import short_list
from agents.contract.abilities import Fits
from agents.contract.inputs import read_feedback, read_mask, read_noises, read_pending, read_sides
from agents.contract.protocol import DivergedError, GraphSetLike, MoleculeSetLike, State
from agents.contract.reading import SMILES
from agents.molecule.forecaster import MoleculeForecaster
from agents.molecule.mixture import MOST_RESULTS, Mixture, MixtureLikelihood
from agents.molecule.parts import Description, weights_of
from agents.molecule.rater import Rater, mix
from agents.molecule.settings import MoleculeSettings
from agents.molecule.traits import Molecules, Scales
from gntk import one_thread

MOST_BOUNDS = 1000  # evenly spaced ones stand for more of them: the cost grows as m^3
MATCHES = 3  # times that weights are learnt and bounds matched in turn


class MoleculeAgent(MoleculeForecaster):
    """Play by a Gaussian process whose kernel is a sum of parts, with weights learnt from the measurements.

        k = sum_p w_p k_p

    The parts are Tanimoto similarities of fingerprints, and Gaussian and linear kernels of properties, of descriptors
    and of columns of the user's own (`make_parts`). Weights and noise maximise the marginal likelihood
    (`MixtureLikelihood`). The posterior is exact in all results. No array of size K x K is kept for K molecules.

    A result of which only a bound is known is learnt as that (`update_bounds`): the part of the posterior that it cuts
    off is approximated by expectation propagation (`match_bounds`).

    A result whose measuring noise is known (`update_noisy`) has that noise variance and, in addition, the one that is
    learnt: what the structures leave unexplained. Any other result has the learnt one alone.

    Args:
        settings: settings of kernel, likelihood and choice.
        make_rule: makes the acquisition rule.

    Raises:
        ValueError: if the rule remembers graphs.
    """

    reads = frozenset({SMILES})
    algorithm = 6  # until version 3 with fixed weights and a network; 4 took columns as they are; 5 had float64 numbers

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

    @property
    def described(self) -> Description:
        """Return the molecules and what describes them.

        Raises:
            RuntimeError: before the first `reset`.
        """
        if self._described is None:
            raise RuntimeError("Expected `reset` first. Got an agent without molecules.")
        return self._described

    def read(self, observation: object, graph_set: GraphSetLike | None) -> Molecules:
        """Return the molecules, without making their graphs.

        Raises:
            TypeError: if `graph_set` is not a set of molecules.
            ValueError: if it brings traits of other molecules.
        """
        if not isinstance(graph_set, MoleculeSetLike):
            raise TypeError(
                f"Expected molecules: pass `graph_set=`, a MoleculeSet. Got {type(graph_set).__name__}. "
                "`graph_bandit_env.from_smiles_csv` makes one from a file."
            )
        return Molecules.of(graph_set)

    def begin(self, graphs: Molecules, seed: int) -> None:
        """Describe the molecules, unless they are those of the last time, and start with nothing measured."""
        super().begin(graphs, seed)
        self._every, self._seed = torch.arange(graphs.num_graphs), seed
        if self._described is None or not self._described.molecules.is_like(graphs):
            self._described = Description.of(graphs, self.settings)
        self._parts = self._described.parts
        self._weights, self._noise = [part.weight for part in self._parts], PRIOR_NOISE
        self._learnt_from = 0
        self.bounds, self.noisy = Bounds(graphs.num_graphs), NoisyResults(graphs.num_graphs)
        self._condition()

    def belief(self) -> Belief:
        """Return posterior mean and nu times standard deviation of every molecule, in units of the targets."""
        return self._believe(self._every)[0]

    def imagine(self) -> Imagine:
        """Return a function that takes molecules, and returns the belief about all after measuring them."""
        return self._believe(self._every)[1]

    def choose(self, mask: Tensor) -> int:
        """Return the molecule of the short list that the rule ranks highest."""
        return self.choose_batch(mask, 1, ())[0]

    def choose_batch(self, mask: Tensor, count: int, pending: Sequence[int]) -> list[int]:
        """Return `count` different molecules of the short list, chosen one after the other."""
        return self._choose(mask, count, pending, torch.zeros(self.num_graphs, dtype=torch.float64))

    def choose_awaiting(self, mask: Tensor, count: int, awaiting: Sequence[int]) -> list[int]:
        """Return other molecules than those awaited, as if these were pending; the longest awaited, if they are few."""
        pending, offered = list(dict.fromkeys(awaiting)), int(mask.sum())
        while pending and offered - int(mask[pending].sum()) < count:
            del pending[0]
        return self.choose_batch(mask, count, pending)

    @one_thread()
    def select_priced(
        self,
        observation: object,
        count: int,
        prices: ArrayLike,
        action_mask: ArrayLike | None = None,
        pending: Sequence[int] = (),
        fits: Fits | None = None,
    ) -> list[int]:
        """Return several molecules, of which each is worth its price; see `agents.contract.PriceMinder`.

            index'(G) = index(G) - w log(p(G) / min p)

        The weight w is that of the rule: 0.5 where the index is in standard deviations, and 1 for log EI.
        """
        self.look_at(observation)
        mask = read_mask(action_mask, self.num_graphs)
        waiting = read_pending(pending, self.num_graphs)
        mask[waiting] = False
        ratios = log_ratios(torch.from_numpy(np.array(prices, np.float64)), mask)
        return self._choose(mask, count, waiting, ratios, fits)

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

    @one_thread()
    def update_noisy(self, observation: object, action: ArrayLike, reward: ArrayLike, noise: ArrayLike) -> None:
        """Learn from results whose measuring noise is known; see `agents.contract.NoiseLearner`.

        Several results of a molecule count as one: their mean, weighted by precision.
        """
        self.look_at(observation)
        actions, rewards = read_feedback(action, reward, self.num_graphs)
        self.noisy.add(actions, rewards, read_noises(noise, len(actions)))
        self._ranked = None
        self._refresh()

    def known(self) -> list[Tensor]:
        """Return a digest of the SMILES, and of the columns of the user's own."""
        return [self.described.molecules.digest()]

    def state(self) -> State:
        """Return weights, noise and history."""
        learnt = {"weights": list(self._weights), "noise": self._noise, "learnt_from": self._learnt_from}
        learnt["seed"] = self._seed
        return {**super().state(), **learnt, "bounds": self.bounds.state_dict(), "noisy": self.noisy.state_dict()}

    def restore(self, state: State) -> None:
        """Continue with weights, noise and history of a state."""
        super().restore(state)
        self._weights, self._noise = list(state["weights"]), state["noise"]
        self._learnt_from, self._seed = state["learnt_from"], state["seed"]
        self.bounds.load_state_dict(state["bounds"])
        self.noisy.load_state_dict(state["noisy"])
        self._condition()

    @one_thread()
    def rater(self) -> Rater:
        """Return what rates molecules of the same pool that the agent was not given, by all that it has learnt.

        Raises:
            RuntimeError: before the first `reset`.
        """
        self.check_reset()
        described, molecules = self.described, self.described.molecules
        seen, place = self.posterior.seen.unique(return_inverse=True)
        used = [name for name in weights_of(self.settings) if name in described.traits.names]
        traits = described.traits.only(used).take(seen.numpy())
        columns = None if molecules.columns is None else molecules.columns[seen.numpy()]
        scales = molecules.scales or Scales.of(described.traits, molecules.columns)
        mixture = mix(self.settings, traits, columns, scales, self._weights)
        return Rater(
            settings=self.settings,
            traits=traits,
            columns=columns,
            scales=scales,
            weights=tuple(self._weights),
            posterior=self.posterior.within(mixture, place),
            targets=self.targets,
            noise=self.result_noise,
            seed=self._seed,
        )

    def _choose(
        self, mask: Tensor, count: int, pending: Sequence[int], ratios: Tensor, fits: Fits | None = None
    ) -> list[int]:
        """Choose molecules one after the other, given the logarithms of the ratios of their prices."""
        mask[list(pending)] = False
        check_count(count, mask)
        likely = self._short_list(mask, count, PRICE_WEIGHT * ratios)
        near = torch.cat([likely, torch.tensor(pending, dtype=torch.int64)])
        rule = Priced(self.rule, price_weight(self.rule) * ratios[near])
        belief, imagine = self._believe(near)
        every, under_way = torch.ones(len(near), dtype=torch.bool), range(len(near) - len(pending), len(near))

        def still(chosen: Sequence[int]) -> Tensor:
            return torch.from_numpy(fits(near[list(chosen)].tolist()))[near] if fits else every

        chosen = choose_batch(rule, belief, every, count, self.generator, imagine, under_way, still)
        return [int(near[position]) for position in chosen]

    def _refresh(self) -> None:
        """Learn the weights again if there are enough new results or bounds, and condition on all of them."""
        known, told = self.noisy.join(self.history), len(self.history) + len(self.bounds) + len(self.noisy)
        means = known.means[known.seen]
        differ = len(means) > 0 and (means - means[:1]).abs().gt(known.resolution).any()
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
                likelihood = MixtureLikelihood.of_history(
                    kernels, medians, spread, self.history, targets, pseudo, self._merge(targets)
                )
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
            self.result_noise = self._noise + self.noisy.typical(len(self.history), self.targets)
        except (torch.linalg.LinAlgError, ArithmeticError) as error:  # type: ignore[attr-defined]
            raise DivergedError(f"The posterior given the measurements could not be computed: {error}") from error

    def _make_targets(self) -> Targets:
        return make_targets(
            self.noisy.join(self.history), standardize=True, warp=self.settings.warp, bounds=self.bounds
        )

    def _merge(self, targets: Targets) -> PseudoResults:
        """Return the results whose measuring noise is known, one for each molecule, in units of the targets."""
        merged = self.noisy.merge()
        return PseudoResults(merged.graphs, targets.of(merged.values), variances_of(merged.deviations, targets))

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
        noisy = self._merge(targets)
        counts = torch.cat([self.history.counts[seen].double(), noise / (noise + noisy.noises), noise / pseudo.noises])
        values = torch.cat([targets.of(self.history.means[seen]), noisy.values, pseudo.values])
        graphs = torch.cat([seen, noisy.graphs, pseudo.graphs])
        kernel = Mixture([part.kernel for part in self._parts], weights)
        return DualPosterior(kernel, Hyperparameters(1.0, noise), graphs, counts, values)

    def _short_list(self, mask: Tensor, count: int, handicap: Tensor) -> Tensor:
        """Return the molecules on offer with the largest mean + 2 sigma - handicap, in the order of the set."""
        mean, variance = self._mean_and_variance()
        upper = (mean + 2 * variance.sqrt() - handicap).masked_fill(~mask, -torch.inf)
        size = min(int(mask.sum()), max(self.settings.short_list, count))
        return torch.from_numpy(short_list(upper.numpy(), self.described.molecules.smiles, size, self._seed))


def molecule(settings: MoleculeSettings, make_rule: Callable[[], AcquisitionRule]) -> MoleculeAgent:
    """A Gaussian process on fingerprints, properties and descriptors, with weights learnt from the results.

    Args:
        settings: settings of kernel, likelihood and choice.
        make_rule: makes the acquisition rule.
    """
    return MoleculeAgent(settings, make_rule)
