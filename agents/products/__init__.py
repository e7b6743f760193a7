"""Products of building blocks, and combinations: a process on sums over slots, and lists of what promises most."""

from agents.products.lists import MOST, BlockBeliefs
from agents.products.process import BlockKernel, ProductProcess, Scores, Weights, find_best

__all__ = ["MOST", "BlockBeliefs", "BlockKernel", "ProductProcess", "Scores", "Weights", "find_best"]
