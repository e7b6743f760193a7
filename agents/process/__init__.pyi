from .agent import ProcessAgent as ProcessAgent
from .description import GraphDescription as GraphDescription
from .graphs import GraphAgent as GraphAgent
from .graphs import GraphProcessAgent as GraphProcessAgent
from .graphs import gp as gp
from .parts import Description as Description
from .parts import Part as Part
from .parts import Reading as Reading
from .settings import ChangingSettings as ChangingSettings
from .settings import GraphProcessSettings as GraphProcessSettings
from .settings import MixtureSettings as MixtureSettings

__all__ = [
    "ChangingSettings",
    "Description",
    "GraphAgent",
    "GraphDescription",
    "GraphProcessAgent",
    "GraphProcessSettings",
    "MixtureSettings",
    "Part",
    "ProcessAgent",
    "Reading",
    "gp",
]
