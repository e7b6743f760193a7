"""Compute a network and its tangent features fast: by compiled loops, by torch on any device, or for any PyG module.

`Network` is their common interface. `paper_network` chooses the fastest form of the paper's network.
"""

from gntk.compilation import compile_loop
from gntk.engines.base import Batches, Network, Weights, descend
from gntk.engines.compiled import CompiledNetwork
from gntk.engines.features import Features, HeldFeatures, features_at
from gntk.engines.module_network import ModuleNetwork, ModuleOrFactory
from gntk.engines.torch_network import TorchNetwork, paper_network, read_device

__all__ = [
    "Batches",
    "CompiledNetwork",
    "Features",
    "HeldFeatures",
    "ModuleNetwork",
    "ModuleOrFactory",
    "Network",
    "TorchNetwork",
    "Weights",
    "compile_loop",
    "descend",
    "features_at",
    "paper_network",
    "read_device",
]
