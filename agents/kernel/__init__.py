"""Agents with an exact Gaussian process on a finite graph set."""

from agents.kernel.agent import KernelAgent, gntk, linear
from agents.kernel.settings import KernelSettings, LinearSettings, OneKernelSettings, SubtreeSettings

__all__ = ["KernelAgent", "KernelSettings", "LinearSettings", "OneKernelSettings", "SubtreeSettings", "gntk", "linear"]
