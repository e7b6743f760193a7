"""Tell whether a better graph is still to be found, and how much the graphs under way promise. No torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents.contract import Agent, GainForecaster
from graph_bandit_campaign.pages.numbers import percent
from graph_bandit_campaign.state import CampaignState

MOST, DRAWS = 500, 2000  # graphs in a joint draw: the most promising ones; and draws
UNLIKELY = 0.05  # a batch that beats the best with a smaller probability is said to be hardly worth it


@dataclass(frozen=True)
class Outlook:
    """What is still to be found, by joint draws of the true values."""

    better: float
    """Probability that a graph without a result has a better value than the best that was measured."""
    batch: float
    """Probability that one of the pending graphs does."""
    gain: float
    """By how much the best of the pending graphs is expected to beat the best so far, 0 where it does not; in the units
    of the measurements. A guess, unless values are about normal."""
    count: int
    """How many graphs are pending."""

    def sentence(self, target: str) -> str:
        """Say it in a sentence, and whether the batch is hardly worth it."""
        text = f"With a probability of {percent(self.better)}, a better {target} is still to be found."
        if not self.count:
            return text
        those = f"One of the {self.count} molecules under way" if self.count > 1 else "The molecule under way"
        text = f"{text} {those} has one with {percent(self.batch)}."
        return f"{text} Another batch is hardly worth it." if self.batch < UNLIKELY else text


def look_ahead(agent: Agent, state: CampaignState, pending: Sequence[int], left: NDArray[np.int64]) -> Outlook | None:
    """Return what is still to be found; None if the agent's model cannot say, or all results so far are equal.

    Joint draws of the true values are compared with the best value measured. They are of the pending graphs and of the
    500 others that beat the best with the largest probability.

    Args:
        agent: trained on rewards, which are the values or, if small ones are wanted, their negatives.
        state: state of the campaign.
        pending: indices of the pending graphs.
        left: indices of all graphs that can still be suggested.
    """
    best = state.yardstick()
    if not isinstance(agent, GainForecaster) or best is None:
        return None
    best *= 1.0 if state.maximize else -1.0
    order = np.argsort(-agent.predict().probability_above(best)[left], kind="stable")
    index = [*pending, *left[order[:MOST]].tolist()]
    if not index:
        return Outlook(0.0, 0.0, 0.0, 0)
    seed = np.random.SeedSequence([state.seed, len(state.measured), DRAWS])
    gains = agent.draw_gains(index, best, DRAWS, int(seed.generate_state(1)[0]))
    of_batch = gains[:, : len(pending)].max(axis=1, initial=0)
    return Outlook(
        float((gains.max(axis=1) > 0).mean()), float((of_batch > 0).mean()), float(of_batch.mean()), len(pending)
    )
