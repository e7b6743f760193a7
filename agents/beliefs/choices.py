"""Compute the probability that a rule plays each graph, without playing: by quadrature, or from draws."""

from __future__ import annotations

import copy
import math

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import log_ndtr
from torch import Tensor

from agents.beliefs.belief import AcquisitionRule, Belief
from agents.contract.abilities import ActionProbabilities
from agents.contract.inputs import TIE

__all__ = ["choice_probabilities", "largest_of_draws", "probability_of_largest"]

Floats = NDArray[np.float64]

TAIL = 8.5  # standard deviations; normal numbers beyond have probability 1e-17 on either side and are ignored
STEP = 0.5  # length of a panel, in standard deviations of the narrowest number that varies there
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
AT_ONCE = 1 << 20  # entries of an array of nodes by numbers


def probability_of_largest(mean: Tensor, std: Tensor) -> Tensor:
    """Compute the probability that each of K independent normal numbers is the largest, by quadrature.

        P(k) = int N(x; m_k, s_k^2) prod_{j != k} Phi((x - m_j) / s_j) dx

    The rule is Gauss-Legendre in logarithms, so that products of many small factors do not underflow. Panels are as
    narrow as the narrowest number that varies there. Equal numbers without spread share their probability.

    Args:
        mean: `(K,)` float64, finite. m.
        std: `(K,)` float64, finite and at least 0. s.

    Returns:
        `(K,)` float64 with sum 1. Errors are below 1e-9.
    """
    means, stds = mean.numpy(), std.numpy()
    probabilities = np.zeros(len(means))
    fixed = stds <= TIE * max(np.abs(means).max(), stds.max())
    top = means[fixed].max() if fixed.any() else -np.inf
    lowest = max(top, (means - TAIL * stds).max())  # the largest number lies above it
    varying = ~fixed & (means + TAIL * stds > lowest)
    m, s = means[varying], stds[varying]
    if fixed.any():
        tied = fixed & (means >= top - TIE * np.abs(means[fixed]).max())
        probabilities[tied] = math.exp(log_ndtr((top - m) / s).sum()) / tied.sum()
    if varying.any():
        probabilities[varying] = _integrate(m, s, lowest)
    return torch.from_numpy(probabilities / probabilities.sum())


def _integrate(mean: Floats, std: Floats, lowest: float) -> Floats:
    """Integrate the density of each number times the probability that all others lie below, starting at `lowest`."""
    edges, last = [lowest], (mean + TAIL * std).max()
    while edges[-1] < last:
        beyond = np.abs(edges[-1] - mean) / TAIL  # a number constant here allows panels up to its variation
        edges.append(edges[-1] + STEP * max(np.maximum(std, beyond).min(), TIE * abs(edges[-1])))
    begins, lengths = np.array(edges[:-1]), np.diff(edges)
    places = (begins[:, None] + lengths[:, None] * (NODES + 1) / 2).ravel()
    weights = (lengths[:, None] * WEIGHTS / 2).ravel()
    total = np.zeros(len(mean))
    rows = max(1, AT_ONCE // len(mean))
    for k in range(0, len(places), rows):
        z = (places[k : k + rows, None] - mean) / std
        below = log_ndtr(z)
        density = -(z**2) / 2 - np.log(std) - math.log(2 * math.pi) / 2
        total += weights[k : k + rows] @ np.exp(below.sum(1, keepdims=True) - below + density)
    return total


def largest_of_draws(draws: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Estimate the probability that each number is the largest, from joint draws of all.

    Args:
        draws: `(M, K)` float64. Equal largest numbers share the draw, because ties are broken at random.
        mask: `(K,)` bool. The numbers to compare.

    Returns:
        The shares and their standard errors, `(K,)` float64 each. Errors are at least 1 / M, even if all draws agree,
            and 0 outside the mask.
    """
    draws = draws.masked_fill(~mask, -torch.inf)
    best = draws.max(1, keepdim=True).values
    sizes = torch.where(draws.isfinite(), draws.abs(), 0.0).max(1, keepdim=True).values
    tied = (draws >= torch.where(best.isfinite(), best - TIE * sizes, best)) & mask
    shares = tied.double() / tied.sum(1, keepdim=True)
    errors = (shares.std(0, correction=0) / math.sqrt(len(draws))).clamp(min=1 / len(draws))
    return shares.mean(0), errors * mask


def choice_probabilities(
    rule: AcquisitionRule, belief: Belief, mask: Tensor, generator: torch.Generator, draws: int
) -> ActionProbabilities:
    """Return the probability that a rule plays each graph. Neither the rule nor the generator is changed.

    A rule with a deterministic index plays the largest entry: with probability 1, or equally often among ties. A rule
    with a method `choice_probabilities` computes the result itself. For any other rule the index is drawn repeatedly.

    Args:
        rule: ranks the K graphs.
        belief: belief about the K graphs.
        mask: `(K,)` bool. Graphs on offer.
        generator: generator of the agent's randomness. Draws use a separate stream, seeded by its state.
        draws: M, the number of draws if draws are needed.

    Raises:
        ValueError: if `draws` is not an integer of at least 2.
    """
    if isinstance(draws, bool) or not isinstance(draws, int) or draws < 2:
        raise ValueError(f"Expected `draws` to be an integer of at least 2. Got {draws!r}.")
    stream, twin = torch.Generator(), torch.Generator()
    twin.set_state(generator.get_state())
    stream.manual_seed(int(torch.randint(2**62, (), generator=twin)))
    if (weigh := getattr(rule, "choice_probabilities", None)) is not None:
        values, errors = weigh(belief, mask, stream, draws)
    else:
        before = stream.get_state()
        index = copy.deepcopy(rule)(belief, mask, stream).unsqueeze(0)
        if is_random := not torch.equal(stream.get_state(), before):
            index = torch.stack([copy.deepcopy(rule)(belief, mask, stream) for _ in range(draws)])
        values, errors = largest_of_draws(index, mask)
        errors = errors if is_random else torch.zeros_like(errors)
    return ActionProbabilities(values.double().numpy(), errors.double().numpy())
