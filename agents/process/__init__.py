"""The exact Gaussian process whose kernel is a sum of parts: its parts, their weights, its posterior, and its agent."""

from agents.process.agent import ProcessAgent
from agents.process.graphs import GraphProcessAgent, gp
from agents.process.parts import Reading
from agents.process.rater import GraphRater
from agents.process.rating import JointRating, Rating
from agents.process.settings import GraphProcessSettings

__all__ = [
    "GraphProcessAgent",
    "GraphProcessSettings",
    "GraphRater",
    "JointRating",
    "ProcessAgent",
    "Rating",
    "Reading",
    "gp",
]
