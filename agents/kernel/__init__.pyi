from .agent import KernelAgent as KernelAgent
from .agent import LinearAgent as LinearAgent
from .agent import Read as Read
from .agent import SubtreeAgent as SubtreeAgent
from .agent import gntk as gntk
from .agent import linear as linear
from .agent import read_network as read_network
from .agent import wl as wl
from .settings import KernelSettings as KernelSettings
from .settings import OneKernelSettings as OneKernelSettings
from .settings import SubtreeSettings as SubtreeSettings

__all__ = [
    "KernelAgent",
    "KernelSettings",
    "LinearAgent",
    "OneKernelSettings",
    "Read",
    "SubtreeAgent",
    "SubtreeSettings",
    "gntk",
    "linear",
    "read_network",
    "wl",
]
