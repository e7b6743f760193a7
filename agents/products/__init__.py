"""Products of building blocks: a Gaussian process whose predictions are sums over slots, and the best of them."""

from agents.products.process import BlockKernel, ProductProcess, Scores, Weights
from agents.products.search import find_best

__all__ = ["BlockKernel", "ProductProcess", "Scores", "Weights", "find_best"]
