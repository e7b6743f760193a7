"""Tell what the prediction of a graph is the sum of, and what is measured nearby. No torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents.contract import Agent, ModelAgent
from agents.molecule import MoleculeAgent, mask_atoms
from graph_bandit_campaign.pool.block import molecule_of
from graph_bandit_campaign.state import CampaignState

MOST_RESULTS = 2  # that are named
LEAST = 0.005  # a smaller one is written as 0.00


@dataclass(frozen=True)
class Explanation:
    """What the prediction of a graph is the sum of.

    It is a score, in standard deviations: 0 is what is predicted without any result, and a larger score is better, also
    if small values are wanted. Scores are not values: twice the score need not be twice as far from the middle.
    """

    parts: Mapping[str, float]
    """What each part of the model adds to the score, by what it compares, the largest first."""
    contributions: Mapping[str, float]
    """Summands of the score, by the id of the graph whose results they come from, the largest first. Those of other
    assays are named by id, or by SMILES outside the pool, and by the name of the assay in brackets."""
    by_rank: bool
    """True if scores are of the ranks of the results, False if they are of their values."""

    @property
    def score(self) -> float:
        """Return the sum of the parts, which is that of the contributions, too."""
        return sum(self.parts.values())

    def main_contributions(self) -> dict[str, float]:
        """Return the largest contributions, without those below a tenth of the largest."""
        least = max(LEAST, 0.1 * max(map(abs, self.contributions.values()), default=0.0))
        return {name: each for name, each in list(self.contributions.items())[:MOST_RESULTS] if abs(each) >= least}

    def sentence(self) -> str:
        """Write all parts and the largest contributions as text."""
        text = ", ".join(f"{name} {value:+.2f}" for name, value in self.parts.items() if abs(value) >= LEAST)
        results = ", ".join(f"{name} {each:+.2f}" for name, each in self.main_contributions().items())
        return "; ".join([text] * bool(text) + [f"most from the results of {results}"] * bool(results))


def explain_graphs(
    agent: Agent, state: CampaignState, ids: Sequence[str], indices: Sequence[int], smiles: Sequence[str] = ()
) -> dict[str, Explanation]:
    """Return the explanation for the prediction of each of some graphs, by its id.

    There is none if the agent's model cannot say, or all results so far are equal or bounds.

    Args:
        agent: trained on rewards, which are the values or, if small ones are wanted, their negatives.
        state: state of the campaign.
        ids: names of all graphs.
        indices: indices of the graphs to explain.
        smiles: SMILES of all graphs, if they are molecules, by which those of sources are known; other graphs of
            sources are known by their indices.
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
    """Return what each atom of a molecule adds to its score: how much smaller the score is without it.

        w_a = s(x) - s(x without a),  s the posterior mean        [atomic weights, Riniker & Landrum 2013]

    Without an atom, the features are not counted that it is part of. Since the model is not linear in their counts,
    the atoms do not add up to the score; and numbers of the whole molecule, such as its weight, are not ascribed.

    Args:
        agent: trained on rewards.
        smiles: canonical SMILES of the molecule, in whose order the atoms are.
        columns: `(c,)`. Its columns; None: there are none.

    Returns:
        In standard deviations, as `Explanation`; empty if the agent does not compare molecules by counts.
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
    """Mean of its measured values; of its bounds, if nothing else is known."""


def nearest_measured(
    ids: Sequence[str], values: Mapping[str, float], smiles_of: Mapping[str, str], count: int = NEIGHBOURS
) -> dict[str, list[Neighbour]]:
    """Find the measured molecules most similar to each of some molecules, most similar first.

    Args:
        ids: ids of the molecules to explain.
        values: values of the measured molecules, by id.
        smiles_of: SMILES of all of them, by id.
        count: how many neighbours to find for each.
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
