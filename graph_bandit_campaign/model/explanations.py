"""Explain predictions as sums, and find measured neighbours. No torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents.contract import Agent, ModelAgent
from agents.molecule import MoleculeAgent, mask_atoms
from graph_bandit_campaign.pool.block import molecule_of
from graph_bandit_campaign.state import CampaignState

MOST_RESULTS = 2  # number of results that are named
LEAST = 0.005  # a smaller one is written as 0.00


@dataclass(frozen=True)
class Explanation:
    """The prediction of a graph as a sum of terms.

    The sum is a score, in standard deviations. The prediction without any results has score 0, and larger is better,
    even if small values are good. Scores are not values: twice the score need not be twice as far from the middle.
    """

    parts: Mapping[str, float]
    """Contribution of each part of the model to the score, by the features that it compares, largest first."""
    contributions: Mapping[str, float]
    """Terms of the score, by the id of the graph with the results, largest first. Results of other assays are named by
    id (or by SMILES outside the pool) and by the name of the assay in brackets."""
    by_rank: bool
    """True if scores refer to the ranks of the results, False if they refer to the values."""

    @property
    def score(self) -> float:
        """Return the sum of the parts, which equals the sum of the contributions."""
        return sum(self.parts.values())

    def main_contributions(self) -> dict[str, float]:
        """Return the largest contributions, except those below a tenth of the largest."""
        least = max(LEAST, 0.1 * max(map(abs, self.contributions.values()), default=0.0))
        return {name: each for name, each in list(self.contributions.items())[:MOST_RESULTS] if abs(each) >= least}

    def sentence(self) -> str:
        """Format all parts and the largest contributions as text."""
        text = ", ".join(f"{name} {value:+.2f}" for name, value in self.parts.items() if abs(value) >= LEAST)
        results = ", ".join(f"{name} {each:+.2f}" for name, each in self.main_contributions().items())
        return "; ".join([text] * bool(text) + [f"most from the results of {results}"] * bool(results))


def explain_graphs(
    agent: Agent, state: CampaignState, ids: Sequence[str], indices: Sequence[int], smiles: Sequence[str] = ()
) -> dict[str, Explanation]:
    """Return the explanations of the predictions for some graphs, by id.

    The dict is empty if the agent's model has no explanations, or all results so far are equal or bounds.

    Args:
        agent: trained on rewards: the values, or their negatives if small values are good.
        state: state of the campaign.
        ids: names of all graphs.
        indices: indices of the graphs to explain.
        smiles: SMILES of all graphs, if they are molecules. They identify the graphs of sources, which are otherwise
            identified by index.
    """
    if not isinstance(agent, ModelAgent) or state.yardstick() is None:
        return {}
    explanation, id_of = agent.explain(indices), dict(zip(smiles or map(str, range(len(ids))), ids, strict=True))
    seen = [ids[k] for k in explanation.seen.tolist()]
    seen += [f"{id_of.get(text, text)} ({source})" for source, text in explanation.others]
    explanations = {}
    for column, k in enumerate(indices):
        parts = {name: float(terms[column]) for name, terms in explanation.parts.items()}
        contributions = dict(zip(seen, np.asarray(explanation.contributions[:, column]).tolist(), strict=True))
        explanations[ids[k]] = Explanation(_largest_first(parts), _largest_first(contributions), explanation.by_rank)
    return explanations


def score_atoms(agent: Agent, smiles: str, columns: NDArray[np.float64] | None = None) -> tuple[float, ...]:
    """Return the contribution of each atom of a molecule to its score: the decrease of the score without the atom.

        w_a = s(x) - s(x without a),  s the posterior mean        [atomic weights, Riniker & Landrum 2013]

    Without an atom, features that contain it are not counted. The contributions do not add up to the score, since the
    model is not linear in the counts. Numbers of the whole molecule, such as its weight, are left out.

    Args:
        agent: trained on rewards.
        smiles: canonical SMILES of the molecule, in the order of the atoms.
        columns: `(c,)`. Values of its columns, or None.

    Returns:
        In standard deviations, as `Explanation`. Empty if the agent does not compare molecules by counts.
    """
    if not isinstance(agent, MoleculeAgent):
        return ()
    rater = agent.rater()
    descriptors = mask_atoms(smiles, rater.descriptors.names, rater.descriptors.stereo)
    own = None if columns is None else np.repeat(columns[None], len(descriptors), axis=0)
    mean = rater(descriptors, own, [""] * len(descriptors)).mean
    return tuple((mean[0] - mean[1:]).tolist())


def _largest_first(terms: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(terms.items(), key=lambda pair: -abs(pair[1])))


NEIGHBOURS = 3  # of each suggestion


@dataclass(frozen=True)
class Neighbour:
    """A measured molecule that is similar to another."""

    id: str
    """Id of the measured molecule."""
    similarity: float
    """Tanimoto similarity of atom-pair counts, from 0 to 1."""
    value: float
    """Mean of its measured values, or of its bounds if it has only bounds."""


def nearest_measured(
    ids: Sequence[str], values: Mapping[str, float], smiles_of: Mapping[str, str], count: int = NEIGHBOURS
) -> dict[str, list[Neighbour]]:
    """Find the measured molecules most similar to each of some molecules, most similar first.

    Args:
        ids: ids of the molecules to explain.
        values: values of the measured molecules, by id.
        smiles_of: SMILES of all of them, by id.
        count: number of neighbours to find for each.
    """
    from rdkit.Chem.rdFingerprintGenerator import GetAtomPairGenerator
    from rdkit.DataStructs import BulkTanimotoSimilarity

    generator = GetAtomPairGenerator(fpSize=4096)
    prints = {key: generator.GetCountFingerprint(molecule_of(smiles_of[key])) for key in (*ids, *values)}
    measured = list(values)
    neighbours = {}
    for key in ids:
        similarities = np.array(BulkTanimotoSimilarity(prints[key], [prints[other] for other in measured]), np.float64)
        nearest = np.argsort(-similarities, kind="stable")[:count]
        neighbours[key] = [Neighbour(measured[k], float(similarities[k]), values[measured[k]]) for k in nearest]
    return neighbours
