"""Settings of the agents for molecules."""

from __future__ import annotations

from dataclasses import dataclass

from agents.contract.settings import check_fields


@dataclass(frozen=True, kw_only=True)
class MoleculeSettings:
    """Settings of a Gaussian process on fingerprints, properties and the tangent features of a trained network."""

    pairs_weight: float = 0.2
    """Weight of the Tanimoto kernel of atom pairs. Only the ratios of the four weights matter; 0 leaves a part out."""
    morgan_weight: float = 0.15
    """Weight of the Tanimoto kernel of atom neighbourhoods (Morgan)."""
    descriptor_weight: float = 0.15
    """Weight of the Gaussian kernel of properties such as mass, polar surface and rotatable bonds."""
    tangent_weight: float = 0.17
    """Weight of the kernel of the network's tangent features; 0: no network is trained."""
    networks: int = 1
    """Number of networks, each with its own initial weights; their tangent kernels are averaged."""
    width: int = 56
    """Units of each layer of the network; 56 units make some 26,000 parameters."""
    depth: int = 3
    """Rounds of messages between atoms."""
    steps: int = 600
    """Steps of each training, which starts from scratch."""
    batch_size: int = 32
    """Molecules in a step."""
    learning_rate: float = 0.003
    """Largest learning rate of a training; the rate rises and falls once."""
    weight_decay: float = 0.001
    """Weight decay of AdamW."""
    refit_growth: float = 0.1
    """Train again when the number of molecules measured has grown by this share; 0: after every update. The Gaussian
    process uses every result immediately in either case."""
    exploration_scale: float = 0.5
    """nu, multiplies sigma."""
    short_list: int = 1000
    """Number of molecules to choose among with their joint covariance: those of largest mean + 2 sigma."""
    noise_variance: float | None = None
    """Noise variance of the measurements, in their squared units; None: by marginal likelihood."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.pairs_weight + self.morgan_weight + self.descriptor_weight + self.tangent_weight == 0:
            raise ValueError("Expected at least one of the four weights of the kernel to be positive. Got zeros.")
        for name in ("learning_rate", "noise_variance"):
            if getattr(self, name) == 0:
                raise ValueError(f"Expected `{name}` to be positive. Got 0.")
        if self.learning_rate > 1e30:  # AdamW computes in float32
            raise ValueError(f"Expected `learning_rate` to be at most 1e30. Got {self.learning_rate}.")
