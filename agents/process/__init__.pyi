from .agent import ProcessAgent as ProcessAgent
from .graphs import GraphProcessAgent as GraphProcessAgent
from .graphs import gp as gp
from .mixture import Mixture as Mixture
from .parts import Part as Part
from .parts import Reading as Reading
from .settings import GraphProcessSettings as GraphProcessSettings
from .settings import MixtureSettings as MixtureSettings

__all__ = [
    "GraphProcessAgent",
    "GraphProcessSettings",
    "Mixture",
    "MixtureSettings",
    "Part",
    "ProcessAgent",
    "Reading",
    "gp",
]
