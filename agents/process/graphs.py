"""Agents that play graphs of any kind by such a process, and the one that reads everything that a graph has."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from torch import Tensor

from agents.beliefs.agent import BatchBeliefAgent
from agents.beliefs.forgetting import least_informative, remember
from agents.beliefs.insight import Insight, make_insight
from agents.beliefs.rules.rule import AcquisitionRule
from agents.contract.abilities import ActionProbabilities
from agents.contract.graph_memory import GraphMemory
from agents.contract.protocol import GraphSetLike, MoleculeSetLike
from agents.contract.reading import DIRECTIONS, READABLE, with_both_directions
from agents.process.agent import ProcessAgent
from agents.process.description import GraphDescription, read_graphs
from agents.process.parts.part import Description
from agents.process.rater import GraphRater, digest_of
from agents.process.settings import PARTS, ChangingSettings, GraphProcessSettings
from agents.traits.molecules import Molecules
from gntk import effective_dimension, information_gain, one_thread

if TYPE_CHECKING:
    from torch_geometric.data import Batch, Data

P = TypeVar("P", bound=ChangingSettings)


class GraphAgent(ProcessAgent[P]):
    """Play graphs that may change from round to round; where they are few, the rule ranks all of them."""

    def meet(self, kept: Tensor, graphs: Sequence[Data]) -> None:
        """Go on with other graphs, on the scales of those of `reset`."""
        self.go_on(kept, graphs)

    def worth_keeping(self) -> Tensor:
        """Return the slots of the graphs with results, up to `memory` of them: those whose results tell most."""
        seen, kernel = self.posterior.seen.unique(), self.posterior.kernel
        noise = self.learnt.noise / self.history.counts[seen].double().clamp(min=1)
        return remember(seen, self.settings.memory, lambda n: least_informative(kernel.columns(seen, seen), noise, n))

    def choose(self, mask: Tensor) -> int:
        """Return the graph that the rule ranks highest; where there are many, that of the short list."""
        self._look_for_those_played(mask)
        return super().choose(mask) if self._are_many else BatchBeliefAgent.choose(self, mask)

    def choose_batch(self, mask: Tensor, count: int, pending: Sequence[int]) -> list[int]:
        """Return `count` different graphs, chosen one after the other; where there are many, from the short list."""
        self._look_for_those_played(mask)
        choose = super().choose_batch if self._are_many else partial(BatchBeliefAgent.choose_batch, self)
        return choose(mask, count, pending)

    def weigh_choices(self, mask: Tensor, draws: int) -> ActionProbabilities:
        """Return with which probability each graph would be played; where there are many, 0 outside the short list."""
        searches = self._searches
        self._look_for_those_played(mask)
        weigh = super().weigh_choices if self._are_many else partial(BatchBeliefAgent.weigh_choices, self)
        try:
            return weigh(mask, draws)
        finally:
            self._searches = searches

    @one_thread()
    def rater(self) -> GraphRater:
        """Return what rates graphs that the agent was not given, by all that it has learnt.

        Raises:
            RuntimeError: before the first `reset`.
            ValueError: if graphs are described by something else than what is read of them, as molecules are by their
                SMILES, or there are results of other quantities.
        """
        self.check_reset()
        if not isinstance(self.described, GraphDescription) or self.sources.told:
            raise ValueError(
                "Expected graphs that are compared by what is read of them, and results of one quantity. Got "
                f"{'sources' if self.sources.told else 'others'}. The `molecule-` agents make raters of molecules."
            )
        known = self._memory or GraphMemory.of(self._first)
        seen, positions = self.posterior.seen.unique(return_inverse=True)
        directed = with_both_directions(self._first.batch) is not self._first.batch
        kept = seen if len(seen) else seen.new_zeros(1)  # before any result, one graph stands for the scales of all
        described = self.described.exchange(kept, ())
        return GraphRater(
            described=described,
            digests=tuple(digest_of(known.graphs[slot]) for slot in kept.tolist()),
            empty=self._first.empty,
            directed=directed if DIRECTIONS in self.reads else None,
            weights=self.learnt.weights,
            posterior=self.posterior.within(described.mixture(self.learnt.weights), positions),
            targets=self.targets,
            noise=self.result_noise,
        )

    def _look_for_those_played(self, mask: Tensor) -> None:
        """Find out whether graphs that have results can be played again."""
        seen = self.seen
        self._searches = self.offered is None and len(seen) > 0 and not bool(mask[seen].any())

    @property
    def _are_many(self) -> bool:
        """Return whether graphs are chosen from a short list, as a rule cannot that remembers its candidates."""
        return len(self._every) > self.settings.short_list and not self._remembers

    @one_thread()
    def insight(self) -> Insight:
        """Return the belief behind the last choice, with the noise variance as ridge.

        Call it between `select_action` and `update`. The effective dimension is `nan` where there are many graphs.
        """
        belief, index = self.ranked
        noise, seen, kernel = self.learnt.noise, self.history.seen, self.posterior.kernel
        root, dimension = self.history.counts[seen].double().sqrt(), math.nan
        if not self._are_many:
            within = kernel.columns(self._every, self._every)
            dimension = effective_dimension((within + within.T) / 2, max(1, self.history.rounds), noise)
        return make_insight(
            belief,
            index,
            self.rule,
            self.targets,
            variance=self._mean_and_variance()[1] / noise,
            log_determinant=2 * information_gain(root.unsqueeze(1) * kernel.columns(seen, seen) * root, noise),
            effective_dimension=dimension,
        )


class GraphProcessAgent(GraphAgent[GraphProcessSettings]):
    """Play by a sum of kernels that read node features, edge features, directions and structure.

    Molecules are compared by what can be computed from their SMILES, as by the `molecule-` agents.
    """

    reads = frozenset(READABLE)
    algorithm = 3
    uses_columns = True

    def read(self, observation: object, graph_set: GraphSetLike | None) -> Batch | Molecules:
        """Return the graphs; molecules without making their graphs."""
        if isinstance(graph_set, MoleculeSetLike):
            return Molecules.of(graph_set)
        return super().read(observation, graph_set)

    def describe(self, graphs: Batch | Molecules) -> Description:
        """Read the graphs in all ways that apply.

        Raises:
            ValueError: if a setting is changed that says how graphs are read, and they are molecules.
        """
        if isinstance(graphs, Molecules):
            from agents.molecule import MoleculeSettings
            from agents.molecule.parts import MoleculeDescription

            self._refuse_settings_of_graphs()
            return MoleculeDescription.of(graphs, MoleculeSettings(), before=self._described)
        return GraphDescription.of(read_graphs(graphs, self.settings), graphs.num_graphs)

    def _refuse_settings_of_graphs(self) -> None:
        names = (*(f"{name}_weight" for name in PARTS), "depth", "bins")
        changed = [name for name in names if getattr(self.settings, name) != getattr(GraphProcessSettings, name)]
        if changed:
            raise ValueError(
                f"Expected `{changed[0]}` at its default on molecules, which are compared by what is computed from "
                "their SMILES. Leave it out, or choose a `molecule-` agent, whose settings weigh that."
            )


def gp(settings: GraphProcessSettings, make_rule: Callable[[], AcquisitionRule]) -> GraphProcessAgent:
    """An exact Gaussian process on all that can be read of a graph, with weights learnt from the rewards.

    Args:
        settings: settings of kernel, likelihood and choice.
        make_rule: makes the acquisition rule.
    """
    return GraphProcessAgent(settings, make_rule)
