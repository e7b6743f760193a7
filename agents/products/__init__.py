"""Products and combinations of building blocks: an additive process over slots, and lists of promising products."""

from agents.products.lists import MOST, BlockBeliefs
from agents.products.process import BlockKernel, ProductProcess, Scores, Weights, find_best

__all__ = ["MOST", "BlockBeliefs", "BlockKernel", "ProductProcess", "Scores", "Weights", "find_best"]
