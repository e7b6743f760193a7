"""The exact Gaussian process as a model: with the kernel of a network, a given one, or that of subtrees."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from numpy.typing import ArrayLike

from agents.beliefs.rules.rule import AcquisitionRule
from agents.contract.reading import DIRECTIONS, EDGE_FEATURES, NODE_FEATURES
from agents.kernel.agent import KernelAgent
from agents.kernel.kernels import check_kernel, encode_given, encode_network
from agents.kernel.settings import KernelSettings, SubtreeSettings
from agents.kernel.subtrees import SubtreeGraphs, encode_subtrees


def gntk(
    settings: KernelSettings, make_rule: Callable[[], AcquisitionRule], *, kernel_matrix: ArrayLike | None = None
) -> KernelAgent[KernelSettings]:
    """The exact posterior of a Gaussian process on the graphs, with the kernel of a graph network.

    Args:
        settings: settings of kernel and likelihood.
        make_rule: makes the acquisition rule.
        kernel_matrix: `(K, K)`, read as float64, if `settings.kernel` is "custom"; else None.

    Raises:
        ValueError: if a kernel is given without `kernel="custom"` or missing with it; or as `check_kernel`.
    """
    if (kernel_matrix is not None) != (settings.kernel == "custom"):
        raise ValueError('Expected `kernel_matrix` together with `kernel="custom"`. Got one without the other.')
    if kernel_matrix is None:
        return KernelAgent(settings, make_rule, partial(encode_network, settings))
    return GivenKernelAgent(settings, make_rule, partial(encode_given, settings, check_kernel(kernel_matrix)))


class GivenKernelAgent(KernelAgent[KernelSettings]):
    """Play by a given kernel, which may tell anything of the graphs."""

    reads = frozenset({NODE_FEATURES, EDGE_FEATURES, DIRECTIONS})


class SubtreeAgent(KernelAgent[SubtreeSettings]):
    """Play by the kernel of subtrees."""

    reads = frozenset({NODE_FEATURES, EDGE_FEATURES})
    algorithm = 4  # versions 1 to 3, those of `KernelAgent`, took an edge a to a node b for an edge b to a node a

    def reads_here(self) -> frozenset[str]:
        """Return what it reads of these graphs: features of edges only if they are integers."""
        labelled = isinstance(self._graphs, SubtreeGraphs) and self._graphs.labelling.reads_edges
        return self.reads if labelled else self.reads - {EDGE_FEATURES}


def wl(settings: SubtreeSettings, make_rule: Callable[[], AcquisitionRule]) -> SubtreeAgent:
    """The exact posterior of a Gaussian process, with the kernel of Weisfeiler-Lehman subtrees.

    Args:
        settings: settings of kernel and likelihood.
        make_rule: makes the acquisition rule.
    """
    return SubtreeAgent(settings, make_rule, partial(encode_subtrees, settings))
