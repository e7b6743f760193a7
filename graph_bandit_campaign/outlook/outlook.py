"""Tell whether a better graph is still to be found, and how much the graphs under way promise. No torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents.beliefs import short_list
from agents.contract import Agent, GainForecaster
from graph_bandit_campaign.outlook.repeats import Repeat, find_repeat
from graph_bandit_campaign.pages.numbers import percent
from graph_bandit_campaign.state import CampaignState

MOST, DRAWS = 500, 2000  # graphs in a joint draw: the most promising ones; and draws
STOP = 0.15  # below this probability that a better graph is still to be found, the rule says stop


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
    again: Repeat | None = None
    """The graph that is best measured twice; None: there is none, or the agent cannot say."""

    @property
    def stop(self) -> bool:
        """Return whether the rule says stop: `better` is below 15 %."""
        return self.better < STOP

    def sentence(self, target: str) -> str:
        """Say it in sentences, with what the rule to stop says."""
        limit = percent(STOP)
        sentences = [
            f"With a probability of {percent(self.better)}, a better {target} is still to be found.",
            f"That is below {limit}, so the rule says stop." if self.stop else f"The rule says stop below {limit}.",
        ]
        if self.count:
            those = f"one of the {self.count} under way" if self.count > 1 else "the one under way"
            sentences.append(f"With a probability of {percent(self.batch)}, {those} has a better {target}.")
        if self.again is not None:
            sentences.append(self.again.sentence(target))
        return " ".join(sentences)


def look_ahead(
    agent: Agent, state: CampaignState, ids: Sequence[str], index_of: Mapping[str, int], left: NDArray[np.int64]
) -> Outlook | None:
    """Return what is still to be found; None if the agent's model cannot say, or all results so far are equal.

    Joint draws of the true values are compared with the best value measured. They are of the pending graphs and of the
    500 others that beat the best with the largest probability.

    Args:
        agent: trained on rewards, which are the values or, if small ones are wanted, their negatives.
        state: state of the campaign.
        ids: ids of all graphs.
        index_of: index of each graph, by its id; pending graphs without one are left out.
        left: indices of all graphs that can still be suggested.
    """
    best = state.yardstick()
    if not isinstance(agent, GainForecaster) or best is None:
        return None
    best *= 1.0 if state.maximize else -1.0
    pending = [index_of[identifier] for identifier in state.pending if identifier in index_of]
    again = find_repeat(agent, state, index_of, pending)
    chances = agent.predict().probability_above(best)[left]
    promising = short_list(chances, [ids[k] for k in left], MOST, state.seed)
    index = [*pending, *left[promising].tolist()]
    if not index:
        return Outlook(0.0, 0.0, 0.0, 0, again)
    seed = np.random.SeedSequence([state.seed, len(state.measured), DRAWS])
    gains = agent.draw_gains(index, best, DRAWS, int(seed.generate_state(1)[0]))
    of_batch = gains[:, : len(pending)].max(axis=1, initial=0)
    return Outlook(
        better=float((gains.max(axis=1) > 0).mean()),
        batch=float((of_batch > 0).mean()),
        gain=float(of_batch.mean()),
        count=len(pending),
        again=again,
    )
