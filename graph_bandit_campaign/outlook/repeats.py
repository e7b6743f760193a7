"""Find the molecule whose second measurement would help most to name the best one. No torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agents.contract import Agent, ResultsWeigher
from graph_bandit_campaign.pages.numbers import short
from graph_bandit_campaign.state import CampaignState

NAMED = 10  # measured graphs that can be named best: those with the largest predictions
MOST = 20  # pending graphs of which the second measurement is weighed
LEAST = 0.01  # of the standard deviation of the results; a second measurement that is worth less is not told


@dataclass(frozen=True)
class Repeat:
    """A graph whose second measurement helps more to name the best one than the first of another graph would."""

    id: str
    """Id of the graph, which is measured or pending."""
    worth: float
    """By how much the second measurement is expected to improve the true value of the graph that is named best."""
    first: float | None
    """The same for the first measurement of a pending graph, on average; None: none is pending."""

    def sentence(self, target: str) -> str:
        """Say what the second measurement is worth."""
        text = (
            f"{self.id} is worth measuring twice: that is expected to improve the {target} of the molecule named best "
        )
        text += f"by {short(self.worth)}"
        return f"{text}." if self.first is None else f"{text}, a first measurement by {short(self.first)} on average."


def find_repeat(
    agent: Agent, state: CampaignState, index_of: Mapping[str, int], pending: Sequence[int]
) -> Repeat | None:
    """Return the graph that is best measured twice; None if the agent cannot say, or it is worth little.

    It is worth little if it improves the value of the graph named best by less than 0.01 standard deviations of the
    results, or by less than the first measurement of a pending graph does on average. Weighed are the ten measured
    graphs with the largest predictions, and the first twenty that are pending.

    Args:
        agent: trained on the results.
        state: state of the campaign.
        index_of: index of each graph, by its id.
        pending: indices of the pending graphs.
    """
    results = state.means(exact=True)
    if not isinstance(agent, ResultsWeigher) or len(results) < 2:
        return None
    measured = np.array([index_of[identifier] for identifier in results])
    named = measured[np.argsort(-agent.predict().mean[measured], kind="stable")[:NAMED]].tolist()
    weighed = list(pending)[:MOST]
    once = agent.worth_of_results(weighed, named)
    twice = agent.worth_of_results(weighed, named, times=2) - once
    worths, candidates = np.concatenate([agent.worth_of_results(named, named), twice]), [*named, *weighed]
    best, first = int(worths.argmax()), float(once.mean()) if weighed else None
    if worths[best] <= max(LEAST * float(np.std(list(results.values()))), first or 0.0):
        return None
    id_of = {index: identifier for identifier, index in index_of.items()}
    return Repeat(id_of[candidates[best]], float(worths[best]), first)
