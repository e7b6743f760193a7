"""Tell whether the pool holds a better graph, when to stop, and what is worth measuring twice. No torch."""

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

MOST, DRAWS = 500, 2000  # graphs in a joint draw: the most promising ones; and draws
STOP = 0.15  # below this probability that the pool holds a better graph, the rule says stop


@dataclass(frozen=True)
class Outlook:
    """How likely better graphs are, by joint draws of the true values."""

    better: float
    """Probability that a graph without a result has a better value than the best that was measured."""
    batch: float
    """Probability that one of the pending graphs does."""
    gain: float
    """How much better than the best so far the best pending graph is expected to be, counting 0 where it is not, in the
    units of the measurements. A guess, unless values are about normal."""
    count: int
    """How many graphs are pending."""
    again: Repeat | None = None
    """The graph that is best measured twice; None: there is none, or the agent cannot say."""
    hits: float | None = None
    """If the goal is a class, how many hits are expected among all graphs without a result. `better` is then the
    probability that one of these is a hit, `batch` that one of the pending ones is, and `gain` how many hits are
    expected among the pending ones."""
    left: int = 0
    """How many graphs have no result and can be measured."""

    @property
    def stop(self) -> bool:
        """Return whether the rule says stop: `better` is below 15 %."""
        return self.better < STOP

    def sentence(self, target: str) -> str:
        """Say it in sentences, with what the rule to stop says."""
        limit, share = percent(STOP), percent(min(max(self.better, 1 / DRAWS), 1 - 1 / DRAWS))  # draws are never sure
        advice = f"That is below {limit}: stop." if self.stop else f"Stop when this falls below {limit}."
        held, verb, sentences = f"a better {target}", "has", list[str]()
        if self.hits is not None:
            held, verb = "a hit", "is"
            sentences.append(f"About {self.hits:.1f} hits are expected among the {self.left:,} without a result.")
        sentences.append(f"The pool still holds {held} with a probability of {share}. {advice}")
        if self.count:
            batch = percent(self.batch)
            sentences.append(f"One of the {self.count} pending ones {verb} {held} with a probability of {batch}.")
        return " ".join([*sentences, *([self.again.sentence(target)] if self.again else [])])


def look_ahead(
    agent: Agent, state: CampaignState, ids: Sequence[str], index_of: Mapping[str, int], left: NDArray[np.int64]
) -> Outlook | None:
    """Return how likely better graphs are; None if the agent's model cannot say, or all results so far are equal.

    The true values of the pending graphs, and of the 500 others that most probably beat the best, are drawn jointly
    and compared with the best value measured. Of a class, latent values f are drawn, and a result counts:

        P(there is a hit) = 1 - E prod_j Phi((level - f_j) / noise_std)

    Args:
        agent: trained on rewards, which are the values or, if small ones are wanted, their negatives.
        state: state of the campaign.
        ids: ids of all graphs.
        index_of: index of each graph, by its id; pending graphs without one are left out.
        left: indices of all graphs that can still be suggested.
    """
    best = state.yardstick()
    if not isinstance(agent, ModelAgent) or best is None:
        return None
    best *= 1.0 if state.maximize else -1.0
    pending = [index_of[identifier] for identifier in state.pending if identifier in index_of]
    again = None if state.is_class else find_repeat(agent, state, index_of, pending)
    prediction = agent.predict()
    chances = prediction.probability_above(best)
    promising = short_list(chances[left], [ids[k] for k in left], MOST, state.seed)
    index = [*pending, *left[promising].tolist()]
    hits = float(chances[[*pending, *left]].sum()) if state.is_class else None
    if not index:
        return Outlook(0.0, 0.0, 0.0, 0, again, hits)
    seed = int(np.random.SeedSequence([state.seed, len(state.measured), DRAWS]).generate_state(1)[0])
    if state.is_class:
        latent, noise_std = agent.draw_rewards(index, DRAWS, seed), max(prediction.noise_std, LEAST_STD)
        misses, gain = ndtr((best - latent) / noise_std), chances[pending].sum()
    else:
        gains = agent.draw_gains(index, best, DRAWS, seed)
        misses, gain = gains <= 0, gains[:, : len(pending)].max(axis=1, initial=0).mean()
    some, batch = (float((1 - part.prod(axis=1)).mean()) for part in (misses, misses[:, : len(pending)]))
    return Outlook(some, batch, float(gain), len(pending), again, hits, len(pending) + len(left))


NAMED = 10  # measured graphs that can be named best: those with the largest predictions
WEIGHED = 20  # pending graphs of which the second measurement is weighed
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
        more = "" if self.first is None else f", and a first measurement {self.first:.2g} on average"
        return f"{self.id} is worth measuring twice: that is expected to gain {self.worth:.2g} in {target}{more}."


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
    if not isinstance(agent, ModelAgent) or len(results) < 2:
        return None
    measured = np.array([index_of[identifier] for identifier in results])
    named = measured[np.argsort(-agent.predict().mean[measured], kind="stable")[:NAMED]].tolist()
    weighed = list(pending)[:WEIGHED]
    once = agent.worth_of_results(weighed, named)
    twice = agent.worth_of_results(weighed, named, times=2) - once
    worths, candidates = np.concatenate([agent.worth_of_results(named, named), twice]), [*named, *weighed]
    best, first = int(worths.argmax()), float(once.mean()) if weighed else None
    if worths[best] <= max(LEAST * float(np.std(list(results.values()))), first or 0.0):
        return None
    id_of = {index: identifier for identifier, index in index_of.items()}
    return Repeat(id_of[candidates[best]], float(worths[best]), first)
