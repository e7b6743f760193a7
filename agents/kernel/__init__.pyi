from .agent import KernelAgent as KernelAgent
from .gaussian_process import GaussianProcess as GaussianProcess
from .kernels import Encode as Encode
from .kernels import KernelGraphs as KernelGraphs
from .kernels import encode_network as encode_network
from .models import gntk as gntk
from .models import wl as wl
from .settings import KernelSettings as KernelSettings
from .settings import ProcessSettings as ProcessSettings
from .settings import SubtreeSettings as SubtreeSettings

__all__ = [
    "Encode",
    "GaussianProcess",
    "KernelAgent",
    "KernelGraphs",
    "KernelSettings",
    "ProcessSettings",
    "SubtreeSettings",
    "encode_network",
    "gntk",
    "wl",
]
