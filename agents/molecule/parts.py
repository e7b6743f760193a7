"""Parts of the kernel on molecules, and the settings with the prior weight of each part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.contract.settings import Warp
from agents.descriptors import DESCRIPTORS, FINGERPRINTS, NUMBERS, Descriptors, Ranks, Scales, compute_descriptors
from agents.descriptors.molecules import Molecules
from agents.molecule.fingerprints import Fingerprint
from agents.process.description import Description
from agents.process.kernels import Kernels
from agents.process.parts.measured import LINEAR, Measured
from agents.process.parts.part import Part, Reading
from agents.process.settings import MixtureSettings

if TYPE_CHECKING:
    from torch_geometric.data import Data

OWN_COLUMNS = "own columns"
TREND = 0.4  # share of the linear kernel of properties, which learns trends of logP or mass from few results
FEW = 0.5  # share of the molecules below which kernels are recomputed, because lists of counts are compared fast
LABELS = {name: name for name in DESCRIPTORS}
LABELS |= {"atom_pairs": "atom pairs", "ecfp": "ECFP", "fcfp": "FCFP", "rdkit": "descriptors"}

WEIGHTS = ("pairs", "ecfp", "torsions", "fcfp", "properties", "rdkit", "columns", "encoder")
"""Names of the weights: those of the descriptors, in the order of `agents.descriptors.DESCRIPTORS`, then those of
columns and an encoder."""


@dataclass(frozen=True, kw_only=True)
class MoleculeSettings(MixtureSettings):
    """Settings of a Gaussian process on structural descriptors of molecules.

    The weights are prior weights, which the results change. Only their ratios matter. A weight of 0 removes a part.
    """

    pairs_weight: float = 0.2
    """Weight of the Tanimoto kernel of atom pairs. 0 removes the part. Results change the weights."""
    ecfp_weight: float = 0.15
    """Weight of the Tanimoto kernel of ECFP: atom environments of up to three bonds."""
    torsions_weight: float = 0.1
    """Weight of the Tanimoto kernel of paths of four atoms."""
    fcfp_weight: float = 0.1
    """Weight of the Tanimoto kernel of FCFP: environments of donors, acceptors, acids, bases and other atom classes."""
    properties_weight: float = 0.3
    """Weight of kernels of thirteen properties such as mass, polar surface and logP."""
    rdkit_weight: float = 0.25
    """Weight of kernels of 78 descriptors: counts of atoms, bonds and rings, and surfaces by charge and logP."""
    columns_weight: float = 0.25
    """Weight of kernels of additional numeric columns, if available."""
    encoder_weight: float = 0.6
    """Weight of kernels of a pretrained encoder, if available."""
    encoder: str = ""
    """Pretrained encoder to compute: "minimol" (extra `encoders`), or one from another package. Empty: none is
    computed. The molecules may also provide the numbers of an encoder."""
    stereo: bool = False
    """Distinguish stereoisomers by fingerprints. If False, those of equal properties have the same prediction."""
    refit_growth: float = 0.1
    """Relearn the weights when the number of measurements has grown by this share. 0: after every update. The Gaussian
    process uses every result immediately in either case."""
    warp: Warp = "normal_scores"
    """Targets of the fit: normal scores of the ranks of rewards ("normal_scores"), or rewards as they are ("none")."""
    exploration_scale: float = 1.0
    """nu, multiplies sigma."""
    parts: ClassVar[tuple[str, ...]] = WEIGHTS


@dataclass(frozen=True, eq=False)
class MoleculeDescription(Description):
    """Molecules, their descriptors, and the parts of the kernel."""

    molecules: Molecules
    """The molecules."""
    descriptors: Descriptors
    """Their descriptors with positive weight."""
    settings: MoleculeSettings
    """Settings with the weights."""

    @staticmethod
    def of_molecules(molecules: Molecules, settings: MoleculeSettings, before: object = None) -> MoleculeDescription:
        """Compute missing descriptors, and make the parts of the kernel.

        Args:
            molecules: the molecules.
            settings: settings with the weights.
            before: an earlier description by these settings, returned for the same molecules, or any other object.

        Raises:
            ImportError: if RDKit, or a package required by an encoder, is not installed.
            ValueError: if RDKit cannot read a SMILES, the molecules provide descriptors of other molecules or
                fingerprints, an encoder is unknown, or no part is left.
        """
        if isinstance(before, MoleculeDescription) and before.molecules.is_like(molecules):
            return before
        descriptors = molecules.descriptors or Descriptors(molecules.num_graphs, {}, {}, settings.stereo)
        used = [name for name in weights_of(settings, descriptors) if name not in descriptors.left_out]
        if missing := [name for name in used if name not in descriptors.names]:
            descriptors = descriptors.join(compute_descriptors(molecules.smiles, missing, settings.stereo))
        descriptors = descriptors.only(used)
        parts = make_parts(settings, descriptors, molecules.columns, molecules.scales, molecules.column_names)
        return MoleculeDescription(*parts, molecules, descriptors, settings)

    @property
    def names(self) -> Sequence[str]:
        """Return the SMILES, which break ties between equal molecules."""
        return self.molecules.smiles

    @property
    def shares(self) -> None:
        """Return None: the total of the weights has no separate prior."""

    def exchange(self, kept: Tensor, graphs: Sequence[Data]) -> MoleculeDescription:
        """Refuse other molecules, because a round shows graphs without the SMILES that describe them."""
        raise ValueError("Expected the molecules of `reset` in each observation. Got other graphs.")

    def join(
        self, others: Sequence[Sequence[str]], before: Description | None = None
    ) -> tuple[MoleculeDescription, list[Tensor]]:
        """Return these molecules followed by distinct others, and the positions of each list.

        All are compared on the scales of these molecules. Only these have the user's numbers.

        Args:
            others: lists of canonical SMILES.
            before: an earlier result, returned if it is of the same molecules. None: these molecules.

        Raises:
            ValueError: if RDKit cannot read a SMILES.
        """
        own, texts = self.molecules, [*map(tuple, others)]
        place = dict(zip(reversed(own.smiles), reversed(range(len(own.smiles))), strict=True))
        new = [*dict.fromkeys(text for text in chain.from_iterable(texts) if text not in place)]
        place |= {text: k for k, text in enumerate(new, start=len(own.smiles))}
        where, smiles = [torch.tensor([place[text] for text in some]) for some in texts], (*own.smiles, *new)
        same = before if isinstance(before, MoleculeDescription) else self
        if same.molecules.source is own.source and same.molecules.smiles == smiles:
            return same, where
        more = compute_descriptors(new, self.descriptors.names, self.descriptors.stereo, self.descriptors.left_out)
        descriptors = Descriptors.stack([self.descriptors, more])
        columns = own.columns
        if columns is not None:
            columns = np.concatenate([columns, np.full((len(new), columns.shape[1]), np.nan)])
        scales = own.scales or Scales.of(self.descriptors, own.columns)
        parts = make_parts(self.settings, descriptors, columns, scales, own.column_names)
        joined = replace(own, smiles=smiles, columns=columns, descriptors=descriptors, scales=scales)
        return MoleculeDescription(*parts, joined, descriptors, self.settings), where

    def known(self) -> list[Tensor]:
        """Return a digest of the SMILES and of the user's columns."""
        return [self.molecules.digest]


def weights_of(settings: MoleculeSettings, brought: Descriptors | None = None) -> dict[str, float]:
    """Return the positive weights of descriptors and encoders by name, of the settings and of provided encoders.

    Args:
        settings: settings with the weights.
        brought: descriptors provided with the molecules, or None.
    """
    weights = {name: getattr(settings, f"{word}_weight") for name, word in zip(DESCRIPTORS, WEIGHTS, strict=False)}
    encoders = dict.fromkeys((*filter(None, [settings.encoder]), *(brought.encoders if brought else ())))
    weights |= {name: settings.encoder_weight / len(encoders) for name in encoders}
    return {name: weight for name, weight in weights.items() if weight > 0}


def make_parts(
    settings: MoleculeSettings,
    descriptors: Descriptors,
    columns: NDArray[np.float64] | None = None,
    scales: Scales | None = None,
    column_names: Sequence[str] = (),
    keeps: bool = True,
) -> tuple[Kernels, list[Part]]:
    """Return the parts of positive weight and their kernels.

    The weights of `settings` belong to the compared features. Parts of one name share it. All weights add up to 1.
    Excluded descriptors have no part.

    Args:
        settings: settings with the weights.
        descriptors: descriptors of K molecules.
        columns: `(K, c)`, the user's numbers, with NaN for unknown ones, or None.
        scales: scales of the pool that contains the molecules. None: they are the whole pool.
        column_names: names of the columns. A single column gives its name to its parts, unless the name is taken.
        keeps: cache the columns of the kernels.

    Raises:
        ValueError: if fingerprints do not match `settings.stereo`, the scales belong to other columns, or no part is
            left.
    """
    wanted = {
        name: weight for name, weight in weights_of(settings, descriptors).items() if name not in descriptors.left_out
    }
    scales = scales or Scales.of(descriptors, columns)
    prints = [name for name in FINGERPRINTS if name in wanted]
    if prints and descriptors.stereo != settings.stereo:
        raise ValueError(
            f"Expected fingerprints with the setting stereo={settings.stereo}. Got stereo={descriptors.stereo}. "
            f"Change the setting, or prepare the pool with `{'--stereo' if settings.stereo else '--no-stereo'}` again."
        )
    ways: list[tuple[float, Reading]] = [
        (wanted[name], Fingerprint(LABELS[name], descriptors.counts[name])) for name in prints
    ]
    for name in (name for name in (*NUMBERS, *descriptors.encoders) if name in wanted):
        linear, label = TREND if name == "properties" else LINEAR, LABELS.get(name, name)
        ways.append((wanted[name], Measured(label, descriptors.numbers[name], scales.moments[name].scale(), linear)))
    if columns is not None and settings.columns_weight > 0:
        ranks = scales.ranks or Ranks.of(columns)
        alone = column_names[0] if len(column_names) == 1 else OWN_COLUMNS
        label = OWN_COLUMNS if alone in LABELS.values() else alone
        ways.append((settings.columns_weight, Measured(label, ranks.scores(columns), ranks.moments.scale())))
    ways = [(weight, reading) for weight, reading in ways if reading.shares]
    if not ways:
        raise ValueError("Expected something to compare molecules by. Got weights of 0, or numbers that all share.")
    total = sum(weight for weight, _ in ways)
    kernels = Kernels([reading for _, reading in ways], len(descriptors), keeps=keeps, few=FEW)
    return kernels, [Part(each.name, weight * share / total) for weight, each in ways for share in each.shares]
