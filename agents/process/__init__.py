"""The exact Gaussian process whose kernel is a sum of parts: parts, weights, posterior, and agents."""

from agents.process.agent import ProcessAgent
from agents.process.families import GraphProcessAgent, KernelAgent, gntk, gp, linear, wl
from agents.process.parts import GraphReading, Reading
from agents.process.rater import GraphRater, JointRating, Rating
from agents.process.settings import (
    GraphProcessSettings,
    KernelSettings,
    LinearSettings,
    OneKernelSettings,
    SubtreeSettings,
)

__all__ = [
    "GraphProcessAgent",
    "GraphProcessSettings",
    "GraphRater",
    "GraphReading",
    "JointRating",
    "KernelAgent",
    "KernelSettings",
    "LinearSettings",
    "OneKernelSettings",
    "ProcessAgent",
    "Rating",
    "Reading",
    "SubtreeSettings",
    "gntk",
    "gp",
    "linear",
    "wl",
]
