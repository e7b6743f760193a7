"""Train an agent on graphs or molecules, and apply its rater to others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from agents.beliefs import Greedy
from agents.contract import read_settings
from agents.descriptors import Counts
from agents.molecule import MoleculeAgent, MoleculeSettings, Rater, compute_descriptors, molecule
from agents.process import GraphProcessAgent, GraphProcessSettings, GraphRater, gp
from graph_bandit_bridges.scikit_learn.graphs import Graphs
from graph_bandit_env import MoleculeSet

Floats = NDArray[np.float64]
Warp = Literal["none", "normal_scores"]
AnyRater: TypeAlias = Rater | GraphRater
OF_MOLECULES = tuple(name for name in MoleculeSettings.parts if name not in ("columns", "encoder"))
"""Parts of the molecule kernel. User columns are excluded, as scikit-learn does not pass them."""


@dataclass(frozen=True, kw_only=True)
class ProcessOptions:
    """Options for the settings of both agents, for graphs and for molecules."""

    weights: Mapping[str, float] | None = None
    """Prior weight of each part by name. If None, the defaults of the agents."""
    depth: int = 2
    """L of the GNTK."""
    bins: int = 4
    """Number of bins of each node feature. Subtrees compare non-integer features by bin."""
    stereo: bool = False
    """If True, fingerprints distinguish stereoisomers."""
    warp: Warp = "none"
    """Transformation of the targets."""
    weight_spread: float = 1.0
    """Prior standard deviation of the logarithm of each weight."""
    noise_variance: float | None = None
    """Noise variance of a value. If None, it is estimated by marginal likelihood."""

    def weights_of(self, molecules: bool) -> dict[str, float]:
        """Return the settings of weights: the given ones, and 0 for the others.

        Raises:
            ValueError: if a name is not the name of a part.
        """
        if self.weights is None:
            return {}
        names = OF_MOLECULES if molecules else GraphProcessSettings.parts
        unknown = [name for name in self.weights if name not in names]
        if unknown:
            kind = "molecules" if molecules else "graphs"
            raise ValueError(f"Expected weights of {', '.join(names)}, the parts of {kind}. Got `{unknown[0]}`.")
        left_out = {f"{name}_weight": 0.0 for name in (*names, *(["columns"] if molecules else []))}
        return left_out | {f"{name}_weight": weight for name, weight in self.weights.items()}


def teach(options: ProcessOptions, graphs: Graphs, values: Floats | None = None) -> MoleculeAgent | GraphProcessAgent:
    """Return an agent trained on `values` of n graphs, `(n,)`, or untrained if `values` is None.

    Raises:
        ValueError: if an option is not valid, or a value is too large.
        DivergedError: if the weights could not be fitted.
    """
    agent: MoleculeAgent | GraphProcessAgent
    shared = {name: getattr(options, name) for name in ("warp", "weight_spread", "noise_variance")}
    shared |= options.weights_of(graphs.form.molecules)
    if graphs.form.molecules:
        agent = molecule(read_settings(MoleculeSettings, {**shared, "stereo": options.stereo}), Greedy)
    else:
        own = {"depth": options.depth, "bins": options.bins}
        agent = gp(read_settings(GraphProcessSettings, {**shared, **own}), Greedy)
    agent.reset(None, graph_set=graphs.distinct)
    if values is not None:
        agent.update(None, graphs.index, values)
    return agent


def compare(rater: AnyRater, first: Graphs, second: Graphs) -> Floats:
    """Compute the kernel between n graphs and m others, `(n, m)`."""
    kernel = rater.kernel(inputs_of(rater, first), inputs_of(rater, second))
    return np.asarray(kernel[np.ix_(first.index, second.index)], np.float64)


def measure(rater: AnyRater, graphs: Graphs, bits: int) -> dict[str, Floats]:
    """Compute the features of the distinct graphs among n graphs, by part of the kernel.

    Args:
        rater: computes the parts.
        graphs: n graphs.
        bits: number of columns of each kind of counts.
    """
    descriptors = inputs_of(rater, graphs)
    if isinstance(rater, GraphRater):
        return rater.measure(descriptors, bits)
    counted = {name: _fold(counts, bits) for name, counts in descriptors.counts.items()}
    return counted | {name: np.asarray(numbers, np.float64) for name, numbers in descriptors.numbers.items()}


def _fold(counts: Counts, bits: int) -> Floats:
    """Fold counts to fewer bins, `(K, bits)`."""
    folded = np.zeros((len(counts), bits))
    rows = np.repeat(np.arange(len(counts)), np.diff(counts.offsets))
    np.add.at(folded, (rows, counts.bins % bits), counts.counts)
    return folded


def inputs_of(rater: AnyRater, graphs: Graphs) -> Any:
    """Return the distinct graphs as inputs of a rater: descriptors of molecules, or PyG graphs."""
    if isinstance(rater, GraphRater):
        return graphs.distinct.to_pyg()
    smiles = cast(MoleculeSet, graphs.distinct).smiles
    return compute_descriptors(smiles, rater.descriptors.names, rater.descriptors.stereo, rater.descriptors.left_out)
