"""The posterior of a Gaussian process, from scratch."""

import numpy as np


def from_scratch(kernel, noise, actions, rewards):
    """Posterior mean and covariance by one solve with the t x t matrix of all observations.

    The noise variance is a number, or one for each observation.
    """
    cross = kernel[:, actions]
    gain = np.linalg.solve(kernel[np.ix_(actions, actions)] + noise * np.eye(len(actions)), cross.T).T
    return gain @ rewards, kernel - gain @ cross.T
