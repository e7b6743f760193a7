"""The posterior of a Gaussian process, from scratch."""

import numpy as np
import torch

from agents.beliefs.rewards import PartialResults


def from_scratch(kernel, noise, actions, rewards):
    """Posterior mean and covariance by one solve with the t x t matrix of all observations.

    The noise variance is a number, or one for each observation.
    """
    cross = kernel[:, actions]
    gain = np.linalg.solve(kernel[np.ix_(actions, actions)] + noise * np.eye(len(actions)), cross.T).T
    return gain @ rewards, kernel - gain @ cross.T


EXACT = ("molecule-", "gp-", "gntk-", "wl-", "lin-", "squarecb")
"""How the names of agents with an exact Gaussian process begin."""


class MatrixKernel:
    """A kernel that is given as a whole, `(K, K)` float64."""

    def __init__(self, matrix):
        self.matrix = torch.as_tensor(matrix, dtype=torch.float64)

    def columns(self, rows, index):
        return self.matrix[rows][:, index]

    def diagonal(self, index):
        return self.matrix.diagonal()[index]


def bounded(num_graphs, rows):
    """A table of bounds: graph, value, and whether the result lies above it."""
    partial = PartialResults(num_graphs)
    graphs, values, above = zip(*rows, strict=True)
    sides = 2 * torch.tensor(above).long() - 1
    partial.add(torch.tensor(graphs), torch.tensor(values).double(), sides, torch.zeros(len(rows)).double())
    return partial
