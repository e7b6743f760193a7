from .agent import KernelAgent as KernelAgent
from .gaussian_process import GaussianProcess as GaussianProcess
from .models import gntk as gntk
from .models import wl as wl
from .settings import KernelSettings as KernelSettings
from .settings import SubtreeSettings as SubtreeSettings

__all__ = [
    "GaussianProcess",
    "KernelAgent",
    "KernelSettings",
    "SubtreeSettings",
    "gntk",
    "wl",
]
