from .agent import MoleculeAgent as MoleculeAgent
from .agent import molecule as molecule
from .network import MolecularNetwork as MolecularNetwork
from .settings import MoleculeSettings as MoleculeSettings
from .traits import TRAITS as TRAITS
from .traits import Moments as Moments
from .traits import Ranks as Ranks
from .traits import Scales as Scales
from .traits import Traits as Traits
from .traits import compute_traits as compute_traits

__all__ = [
    "TRAITS",
    "MolecularNetwork",
    "MoleculeAgent",
    "MoleculeSettings",
    "Moments",
    "Ranks",
    "Scales",
    "Traits",
    "compute_traits",
    "molecule",
]
