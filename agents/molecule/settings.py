"""Settings of the agents for molecules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from agents.contract.settings import Warp
from agents.process.settings import MixtureSettings

WEIGHTS = ("pairs", "morgan", "torsions", "roles", "properties", "descriptors", "columns")
"""Names of the weights: those of the traits, in the order of `agents.traits.TRAITS`, and that of columns."""


@dataclass(frozen=True, kw_only=True)
class MoleculeSettings(MixtureSettings):
    """Settings of a Gaussian process on what can be computed from the structure of molecules.

    The weights are those before any result; the results change them. Only their ratios matter, and 0 leaves a part out.
    """

    pairs_weight: float = 0.2
    """Weight of the Tanimoto kernel of atom pairs; 0 leaves a part out. Results change the weights."""
    morgan_weight: float = 0.15
    """Weight of the Tanimoto kernel of atom neighbourhoods (Morgan)."""
    torsions_weight: float = 0.1
    """Weight of the Tanimoto kernel of paths of four atoms."""
    roles_weight: float = 0.1
    """Weight of the Tanimoto kernel of neighbourhoods of what atoms do: donor, acceptor, acid, base (FCFP)."""
    properties_weight: float = 0.2
    """Weight of kernels of twelve properties such as mass, polar surface and rotatable bonds."""
    descriptors_weight: float = 0.25
    """Weight of kernels of 78 descriptors: counts of atoms, bonds and rings, and surfaces by charge and logP."""
    columns_weight: float = 0.25
    """Weight of kernels of the columns that the molecules bring along, if they have some."""
    stereo: bool = False
    """Whether fingerprints tell stereoisomers apart; if not, those of equal properties have one prediction."""
    refit_growth: float = 0.1
    """Learn the weights again when the number of measurements has grown by this share; 0: after every update. The
    Gaussian process uses every result immediately in either case."""
    warp: Warp = "normal_scores"
    """Targets of the fit: rewards by rank, as if they were normal ("normal_scores"), or as they are ("none")."""
    exploration_scale: float = 1.0
    """nu, multiplies sigma."""
    parts: ClassVar[tuple[str, ...]] = WEIGHTS
