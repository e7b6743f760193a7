from .agent import MoleculeAgent as MoleculeAgent
from .agent import molecule as molecule
from .network import MolecularNetwork as MolecularNetwork
from .parts import weights_of as weights_of
from .rater import Rater as Rater
from .rater import Rating as Rating
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
    "Rater",
    "Rating",
    "Scales",
    "Traits",
    "compute_traits",
    "molecule",
    "weights_of",
]
