from .agent import KernelAgent as KernelAgent
from .gaussian_process import GaussianProcess as GaussianProcess
from .models import gntk as gntk
from .settings import KernelSettings as KernelSettings

__all__ = [
    "GaussianProcess",
    "KernelAgent",
    "KernelSettings",
    "gntk",
]
