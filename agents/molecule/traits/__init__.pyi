from .counts import BINS as BINS
from .counts import Counts as Counts
from .counts import Kind as Kind
from .molecules import Molecules as Molecules
from .scales import FARTHEST as FARTHEST
from .scales import Moments as Moments
from .scales import Ranks as Ranks
from .scales import Scale as Scale
from .scales import Scales as Scales
from .traits import FINGERPRINTS as FINGERPRINTS
from .traits import NUMBERS as NUMBERS
from .traits import TRAITS as TRAITS
from .traits import Traits as Traits
from .traits import compute_traits as compute_traits
from .traits import read_molecules as read_molecules

__all__ = [
    "BINS",
    "FARTHEST",
    "FINGERPRINTS",
    "NUMBERS",
    "TRAITS",
    "Counts",
    "Kind",
    "Molecules",
    "Moments",
    "Ranks",
    "Scale",
    "Scales",
    "Traits",
    "compute_traits",
    "read_molecules",
]
