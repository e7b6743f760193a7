"""Estimate the probability that the pool holds a better graph, and advise when to stop. No torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from agents.beliefs import short_list
from agents.contract import Agent, ModelAgent
from graph_bandit_campaign.constraints.goals.utility import LEAST_STD
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.text import percent

MOST, DRAWS = 500, 2000  # number of most promising graphs in a joint draw; number of draws
STOP = 0.15  # stop below this probability that the pool holds a better graph


@dataclass(frozen=True)
class StoppingAdvice:
    """Probabilities of better graphs, from joint draws of the true values."""

    better: float
    """Probability that a graph without a result has a better value than the best measured value."""
    batch: float
    """Probability that a pending graph has a better value."""
    count: int
    """Number of pending graphs."""
    hits: float | None = None
    """Expected number of hits among all graphs without a result, if the goal is a class. `better` is then the
    probability that one of them is a hit, and `batch` the probability that a pending graph is a hit."""
    left: int = 0
    """Number of graphs that have no result and can be measured."""

    @property
    def stop(self) -> bool:
        """Return True if the rule advises to stop: `better` is below 15 %."""
        return self.better < STOP

    def sentence(self, target: str) -> str:
        """Return the probabilities and the advice in sentences."""
        limit, (share, batch) = percent(STOP), map(_spell, (self.better, self.batch))
        advice = f"That is below {limit}: stop." if self.stop else f"Stop when it falls below {limit}."
        held, better, sentences = f"a better {target}", "better", list[str]()
        if self.hits is not None:
            held = better = "a hit"
            sentences.append(f"Expected hits among the {self.left:,} candidates without a result: {self.hits:.1f}.")
        sentences.append(f"Probability that the pool still holds {held}: {share}. {advice}")
        if self.count:
            pending = "the pending suggestion" if self.count == 1 else f"one of the {self.count} pending suggestions"
            sentences.append(f"Probability that {pending} is {better}: {batch}.")
        return " ".join(sentences)


def _spell(probability: float) -> str:
    """Return a probability as text: a finite number of draws never shows 0 or 1."""
    return percent(min(max(probability, 1 / DRAWS), 1 - 1 / DRAWS))


def look_ahead(
    agent: Agent, state: CampaignState, ids: Sequence[str], index_of: Mapping[str, int], left: NDArray[np.int64]
) -> StoppingAdvice | None:
    """Return the probabilities of better graphs, or None if the agent has no model or all results so far are equal.

    The true values of the pending graphs, and of the 500 other graphs most likely to beat the best, are drawn jointly
    and compared with the best measured value. For a class, latent values f are drawn, and a result counts:

        P(there is a hit) = 1 - E prod_j Phi((level - f_j) / noise_std)

    Args:
        agent: trained on rewards: the values, or their negatives if small values are good.
        state: state of the campaign.
        ids: ids of all graphs.
        index_of: index of each graph, by its id. Pending graphs without an index are left out.
        left: indices of all graphs that can still be suggested.
    """
    best = state.yardstick()
    if not isinstance(agent, ModelAgent) or best is None:
        return None
    best *= 1.0 if state.maximize else -1.0
    pending = [index_of[identifier] for identifier in state.pending if identifier in index_of]
    prediction = agent.predict()
    chances = prediction.probability_above(best)
    promising = short_list(chances[left], [ids[k] for k in left], MOST, state.seed)
    index = [*pending, *left[promising].tolist()]
    hits = float(chances[[*pending, *left]].sum()) if state.is_class else None
    if not index:
        return StoppingAdvice(0.0, 0.0, 0, hits)
    seed = int(np.random.SeedSequence([state.seed, len(state.measured), DRAWS]).generate_state(1)[0])
    if state.is_class:
        latent, noise_std = agent.draw_rewards(index, DRAWS, seed), max(prediction.noise_std, LEAST_STD)
        misses = ndtr((best - latent) / noise_std)
    else:
        misses = agent.draw_gains(index, best, DRAWS, seed) <= 0
    some, batch = (float((1 - part.prod(axis=1)).mean()) for part in (misses, misses[:, : len(pending)]))
    return StoppingAdvice(some, batch, len(pending), hits, len(pending) + len(left))
