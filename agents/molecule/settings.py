"""Settings of the agents for molecules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from agents.contract.settings import Warp, check_fields

WEIGHTS = ("pairs", "morgan", "torsions", "roles", "properties", "descriptors", "columns")


@dataclass(frozen=True, kw_only=True)
class MoleculeSettings:
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
    weight_spread: float = 1.0
    """Standard deviation of the logarithm of each weight before any result; a small one keeps the weights."""
    refit_growth: float = 0.1
    """Learn the weights again when the number of measurements has grown by this share; 0: after every update. The
    Gaussian process uses every result immediately in either case."""
    warp: Warp = "normal_scores"
    """Targets of the fit: rewards by rank, as if they were normal ("normal_scores"), or as they are ("none")."""
    exploration_scale: float = 1.0
    """nu, multiplies sigma."""
    short_list: int = 1000
    """Number of molecules to choose among with their joint covariance: those of largest mean + 2 sigma."""
    noise_variance: float | None = None
    """Noise variance of the measurements, in their squared units; None: by marginal likelihood."""

    retired: ClassVar[dict[str, str]] = dict.fromkeys(
        ("tangent_weight", "networks", "width", "depth", "steps", "batch_size", "learning_rate", "weight_decay"),
        "The molecule- agents have had no network since version 4 of their algorithm. Leave it out.",
    ) | {"descriptor_weight": "It is called `properties_weight` now."}

    def __post_init__(self) -> None:
        check_fields(self)
        if not any(getattr(self, f"{name}_weight") for name in WEIGHTS):
            raise ValueError("Expected at least one of the weights of the kernel to be positive. Got zeros.")
        for name in ("noise_variance", "weight_spread"):
            if getattr(self, name) == 0:
                raise ValueError(f"Expected `{name}` to be positive. Got 0.")
        if self.warp != "none" and self.noise_variance is not None:
            raise ValueError(
                "Expected `noise_variance` to be None with `warp`, because normal scores have no unit. Got "
                f'{self.noise_variance}. Give `warp="none"`, too.'
            )
