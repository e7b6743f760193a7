from .agent import KernelAgent as KernelAgent
from .agent import Read as Read
from .models import LinearAgent as LinearAgent
from .models import SubtreeAgent as SubtreeAgent
from .models import gntk as gntk
from .models import linear as linear
from .models import read_network as read_network
from .models import wl as wl
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
