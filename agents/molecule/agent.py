"""The agent for pools of molecules: recommend the next measurements from few results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from torch import Tensor

from agents.beliefs.rules import AcquisitionRule
from agents.contract.protocol import GraphSetLike, MoleculeSetLike
from agents.contract.reading import SMILES
from agents.descriptors import Scales
from agents.descriptors.molecules import Molecules
from agents.molecule.parts import MoleculeDescription, MoleculeSettings
from agents.molecule.rater import Rater, mix
from agents.process.agent import ProcessAgent
from agents.process.links import LinkedKernel
from gntk import one_thread


class MoleculeAgent(ProcessAgent[MoleculeSettings]):
    """Play by a Gaussian process on structural descriptors of molecules.

    The parts of the kernel are Tanimoto similarities of fingerprints, and Gaussian and linear kernels of properties,
    descriptors and the user's columns (`make_parts`).

    Args:
        settings: settings of kernel, likelihood and choice.
        make_rule: makes the acquisition rule.
    """

    reads = frozenset({SMILES})
    algorithm = 9

    @property
    def uses_columns(self) -> bool:
        """Return True if the user's columns are a part of the kernel."""
        return self.settings.columns_weight > 0

    def read(self, observation: object, graph_set: GraphSetLike | None) -> Molecules:
        """Return the molecules, without making their graphs.

        Raises:
            TypeError: if `graph_set` is not a set of molecules.
            ValueError: if `graph_set` provides descriptors of other molecules.
        """
        if not isinstance(graph_set, MoleculeSetLike):
            raise TypeError(
                f"Expected molecules: pass `graph_set=`, a MoleculeSet. Got {type(graph_set).__name__}. "
                "`graph_bandit_env.from_smiles_csv` makes one from a file."
            )
        return Molecules.of(graph_set)

    def describe(self, graphs: Molecules) -> MoleculeDescription:
        """Describe the molecules, or return the previous description of the same molecules."""
        return MoleculeDescription.of_molecules(graphs, self.settings, before=self._described)

    def choose_awaiting(self, mask: Tensor, count: int, awaiting: Sequence[int]) -> list[int]:
        """Treat awaited molecules as pending. If too few others are left, repeat those awaited longest."""
        pending, offered = list(dict.fromkeys(awaiting)), int(mask.sum())
        while pending and offered - int(mask[pending].sum()) < count:
            del pending[0]
        return self.choose_batch(mask, count, pending)

    @one_thread()
    def rater(self) -> Rater:
        """Return a rater for other molecules of the same pool, with the current posterior.

        Raises:
            RuntimeError: before the first `reset`.
        """
        self.check_reset()
        described = cast(MoleculeDescription, self.results.described)
        links, numbers = self.learnt.links, self.posterior.seen
        molecules, count = described.molecules, described.count
        seen, positions = (numbers % count).unique(return_inverse=True)
        descriptors = described.descriptors.take(seen.numpy())
        columns = None if molecules.columns is None else molecules.columns[seen.numpy()]
        scales = molecules.scales or Scales.of(described.descriptors, molecules.columns)
        mixture = mix(self.settings, descriptors, columns, scales, self.learnt.weights)
        kernel = LinkedKernel(mixture, len(seen), links) if links else mixture
        return Rater(
            settings=self.settings,
            descriptors=descriptors,
            columns=columns,
            scales=scales,
            weights=self.learnt.weights,
            posterior=self.posterior.within(kernel, numbers // count * len(seen) + positions),
            links=links,
            smiles=tuple(molecules.smiles[k] for k in seen.tolist()),
            targets=self.targets,
            noise=self.result_noise,
            seed=self._seed,
        )


def molecule(settings: MoleculeSettings, make_rule: Callable[[], AcquisitionRule]) -> MoleculeAgent:
    """A Gaussian process on fingerprints, properties and descriptors, with weights learned from the results.

    Args:
        settings: settings of kernel, likelihood and choice.
        make_rule: makes the acquisition rule.
    """
    return MoleculeAgent(settings, make_rule)
