"""Settings of the agents for molecules."""

from __future__ import annotations

from dataclasses import dataclass

from agents.contract.settings import check_fields


@dataclass(frozen=True, kw_only=True)
class MoleculeSettings:
    """Settings of a Gaussian process on fingerprints, properties and the tangent features of a trained network."""

    pairs_weight: float = 0.2
    """Weight of the Tanimoto kernel of atom pairs. The four weights matter by their ratios; 0 leaves a part out."""
    morgan_weight: float = 0.15
    """Weight of the Tanimoto kernel of atoms with their neighbourhoods."""
    descriptor_weight: float = 0.15
    """Weight of the Gaussian kernel of properties such as mass, polar surface and rotatable bonds."""
    tangent_weight: float = 0.17
    """Weight of the kernel of the network's tangent features; 0: nothing is trained."""
    networks: int = 1
    """Networks whose tangent kernels are averaged, each trained from initial weights of its own."""
    width: int = 56
    """Units of each layer of the network; 56 are some 26,000 parameters."""
    depth: int = 3
    """Rounds of messages between atoms."""
    steps: int = 600
    """Steps of each training, which begins from scratch."""
    batch_size: int = 32
    """Molecules of a step."""
    learning_rate: float = 0.003
    """Largest learning rate of a training; it rises and falls once."""
    weight_decay: float = 0.001
    """Of AdamW."""
    refit_growth: float = 0.1
    """Train anew when the molecules measured have grown by this share since the last training; 0: after every update.
    The Gaussian process takes in every result at once in any case."""
    exploration_scale: float = 0.5
    """nu, multiplies sigma."""
    short_list: int = 1000
    """Molecules among which a choice is made with their joint covariance: those of largest mean + 2 sigma."""
    noise_variance: float | None = None
    """Of the measurements, in their squared units; None: by marginal likelihood."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.pairs_weight + self.morgan_weight + self.descriptor_weight + self.tangent_weight == 0:
            raise ValueError("Expected one of the four weights of the kernel to be positive. Got zeros.")
        for name in ("learning_rate", "noise_variance"):
            if getattr(self, name) == 0:
                raise ValueError(f"Expected `{name}` to be positive. Got 0.")
