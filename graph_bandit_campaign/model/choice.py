"""Choose a batch with any agent, within a budget and caps on groups."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from agents.contract import Agent, BatchAgent, ModelAgent
from graph_bandit_campaign.checks import TooFewLeftError
from graph_bandit_campaign.constraints.batch.batch import BatchConstraints
from graph_bandit_campaign.model.goals_choice import GoalsChooser
from graph_bandit_campaign.state import CampaignState, Suggestion


def choose_batch(
    agent: Agent | GoalsChooser,
    count: int,
    mask: NDArray[np.bool_],
    pending: Sequence[int] = (),
    constraints: BatchConstraints | None = None,
    kept: Sequence[int] = (),
) -> list[int]:
    """Choose a batch within a budget and within caps on the number of graphs of each group.

    The agent chooses a batch. Its choices are kept up to the first one that does not fit, or is too expensive for the
    remaining budget. All such graphs are then excluded, and the agent chooses the rest, with the kept graphs pending. A
    `ModelAgent` considers the constraints during its choice, so it seldom has to choose twice.

    Args:
        agent: a trained agent, or a chooser for several goals. If prices differ, and do not count for the budget only,
            it must be a `ModelAgent` or a chooser for several goals. An agent that is not a `BatchAgent` chooses graphs
            one by one.
        count: maximum number of graphs to choose.
        mask: `(K,)` bool. Graphs that can be chosen.
        pending: graphs that are being measured. They are not chosen, and do not count in the budget or the caps.
        constraints: prices, budget and caps, or None.
        kept: graphs that must be in the batch, allowed by `mask`. They come first.

    Returns:
        The graphs in the order of choice: `count` of them, or fewer if the budget does not allow more.

    Raises:
        TooFewLeftError: a ValueError, if too few graphs are left, the caps allow too few, or the budget allows none.
        ValueError: if prices differ and the agent does not weigh them, or the kept graphs do not fit.
    """
    constraints = constraints or BatchConstraints()
    left = np.array(mask, np.bool_)
    left[list(pending)] = False
    check_batch(count, left, constraints)
    prices, groups = constraints.costs(len(left)), constraints.group_numbers(len(left))
    weighed = np.ones(len(left)) if constraints.budget_only else prices
    left &= ~np.isnan(prices)
    if not isinstance(agent, GoalsChooser | ModelAgent) and len(np.unique(weighed[left])) > 1:
        text = f"Expected an agent that weighs prices, since they differ. {type(agent).__name__} does not."
        raise ValueError(f"{text} Choose a `gp-` or `molecule-` agent, or let prices count for a budget alone.")
    chosen: list[int] = []

    def fits(more: Sequence[int] = ()) -> NDArray[np.bool_]:
        """Return a mask of the graphs that could join the chosen ones and some more, `(K,)`, excluding these."""
        batch = [*chosen, *more]
        numbers, sizes = np.unique(groups[batch], return_counts=True)
        room: NDArray[np.bool_] = prices <= constraints.money - prices[batch].sum()
        room &= ~np.isin(groups, numbers[sizes >= (constraints.max_per_group or len(left))])
        room[batch] = False
        return room

    def ask(wanted: int) -> list[int]:
        """Let the agent choose at most this many further graphs, or one if it cannot choose several."""
        waiting, is_free = [*pending, *chosen], constraints.prices is None and constraints.groups is None
        if isinstance(agent, GoalsChooser):
            differ = len(np.unique(weighed[left])) > 1
            return agent.choose(wanted, left, waiting, *((weighed, fits) if differ else ()))
        if isinstance(agent, ModelAgent) and not is_free:
            return agent.select_priced(None, wanted, weighed, left, waiting, fits)
        if isinstance(agent, BatchAgent):
            return agent.select_batch(None, wanted, left, waiting)
        return [agent.select_action(None, left)]

    for graph in kept:
        if len(chosen) == count or not fits()[graph]:
            text = f"Expected a batch with places for {len(kept)} candidates that are pinned or kept."
            raise ValueError(f"{text} It has {count}, within its budget and caps. Lift some, or ask for more.")
        chosen.append(graph)
        left[graph] = False
    while len(chosen) < count:
        left &= fits()
        wanted = min(count - len(chosen), int(left.sum()))
        if not wanted:
            break
        for graph in ask(wanted):
            if not fits()[graph]:
                break
            chosen.append(graph)
            left[graph] = False
    return chosen


def check_batch(count: int, mask: NDArray[np.bool_], constraints: BatchConstraints) -> None:
    """Raise an error if prices, budget or caps do not allow a batch.

    Args:
        count: maximum number of graphs to choose.
        mask: `(K,)` bool. Graphs that can be chosen.
        constraints: prices, budget and caps.

    Raises:
        ValueError: as in `choose_batch`, which also rejects agents.
    """
    allowed = most_allowed(mask, constraints)
    if allowed < count:
        text = (
            f"Expected at most {allowed} candidates: the remaining candidates, prices, budget and caps allow no "
            f"more. Got {count}."
        )
        raise TooFewLeftError(text, allowed)


def most_allowed(mask: NDArray[np.bool_], constraints: BatchConstraints) -> int:
    """Return the maximum size of a batch from the graphs in `mask`, or 0 if the budget allows no graph.

    Args:
        mask: `(K,)` bool. Graphs that can be chosen.
        constraints: prices, budget and caps. A budget that pays for one graph is assumed to pay for all.
    """
    prices = constraints.costs(len(mask))
    left = mask & ~np.isnan(prices)
    if not (prices[left] <= constraints.money).any():
        return 0
    _, sizes = np.unique(constraints.group_numbers(len(mask))[left], return_counts=True)
    return int(np.minimum(sizes, constraints.max_per_group or len(mask)).sum())


def check_kept(ids: Sequence[str], index_of: Mapping[str, int], mask: NDArray[np.bool_]) -> list[int]:
    """Return the indices of pinned graphs.

    Args:
        ids: their ids.
        index_of: index of each graph of the pool, by its id.
        mask: `(K,)` bool. Graphs that can be chosen.

    Raises:
        ValueError: if a graph cannot be chosen.
    """
    bad = next((key for key in ids if key not in index_of or not mask[index_of[key]]), None)
    if bad is not None:
        problem = "does not meet the limits, or has a result" if bad in index_of else "is not in the pool"
        raise ValueError(f"The pinned candidate `{bad}` {problem}. Remove the pin.")
    return [index_of[key] for key in ids]


def split_round(state: CampaignState) -> tuple[list[str], tuple[Suggestion, ...], int]:
    """Return the last round: pending ids, suggestions with a result, and the number of vetoed suggestions.

    Raises:
        ValueError: if no suggestion is vetoed.
    """
    last, ended = state.rounds[-1] if state.rounds else (), {*state.settled(), *state.failed}
    done = tuple(suggestion for suggestion in last if suggestion.id in ended)
    gone = sum(suggestion.id in state.vetoes.keys() - ended for suggestion in last)
    if not gone:
        raise ValueError("Expected a vetoed suggestion in the last round, to choose another in its place. Got none.")
    return [suggestion.id for suggestion in last if suggestion.id in state.pending], done, gone


def spare_likely(
    count: int,
    mask: NDArray[np.bool_],
    likely: NDArray[np.bool_],
    probability: NDArray[np.float64],
    constraints: BatchConstraints,
) -> NDArray[np.bool_]:
    """Return a mask without graphs that are likely to fail, except for as many as the batch needs.

    Args:
        count: maximum number of graphs to choose.
        mask: `(K,)` bool. Graphs that can be chosen, accepted by `check_batch`.
        likely: `(K,)` bool. Graphs that are likely to fail.
        probability: `(K,)`. Probability of failure. The graphs with the lowest probability are restored first.
        constraints: prices, budget and caps.
    """
    others = np.flatnonzero(mask & likely)
    others = others[np.argsort(probability[others], kind="stable")]

    def spared(back: int) -> NDArray[np.bool_]:
        kept = mask & ~likely
        kept[others[:back]] = True
        return kept

    every = range(len(others) + 1)
    return spared(bisect_left(every, True, key=lambda back: most_allowed(spared(back), constraints) >= count))
