"""Let any agent choose a batch within a budget and within caps on groups."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from agents.contract import Agent, BatchAgent, ModelAgent
from graph_bandit_campaign.checks import TooFewLeftError
from graph_bandit_campaign.constraints.batch.batch import BatchConstraints
from graph_bandit_campaign.model.goals_choice import GoalsChooser
from graph_bandit_campaign.state import CampaignState, Suggestion

ROUNDING = 1e-9  # share of the budget by which sums of decimal prices may miss it


def choose_batch(
    agent: Agent | GoalsChooser,
    count: int,
    mask: NDArray[np.bool_],
    pending: Sequence[int] = (),
    constraints: BatchConstraints | None = None,
    kept: Sequence[int] = (),
) -> list[int]:
    """Choose a batch that a budget pays for and that holds at most so many graphs of one group.

    The agent chooses a batch; its choices are kept up to the first that the batch has no place for, or that is too dear
    for what is left of the budget. All such graphs are then ruled out, and the agent is asked for the rest, with what
    was kept as pending. A `ModelAgent` is told while it chooses what still fits, so it is seldom asked twice.

    Args:
        agent: trained, or what chooses for several goals. If prices differ, and do not count for the budget alone, it
            must be a `ModelAgent` or choose for several goals. One that is not a `BatchAgent` chooses one graph after
            the other.
        count: most graphs to choose.
        mask: `(K,)` bool. Graphs that can be chosen.
        pending: graphs that are being measured; they are not chosen. They count neither in the budget nor in the caps.
        constraints: prices, budget and caps; None: there are none.
        kept: graphs that are in the batch in any case, and allowed by `mask`; they come first.

    Returns:
        The graphs in the order of choice: `count` of them, or fewer if no other can be paid for.

    Raises:
        TooFewLeftError: a ValueError, if too few graphs are left, the caps allow too few, or the budget pays for none.
        ValueError: if prices differ and the agent does not weigh them, or the batch has no place for what is kept.
    """
    constraints = constraints or BatchConstraints()
    left = np.array(mask, np.bool_)
    left[list(pending)] = False
    check_batch(count, left, constraints)
    left &= constraints.known(len(left))
    space = _Space(constraints, len(left))
    if not isinstance(agent, GoalsChooser | ModelAgent) and len(np.unique(space.weighed[left])) > 1:
        raise ValueError(
            f"Expected an agent that weighs prices, since prices differ. {type(agent).__name__} does not. Choose one "
            "of the `gp-` or `molecule-` agents, let prices count for a budget alone, or leave them out."
        )
    chosen: list[int] = []
    for graph in kept:
        if len(chosen) == count or not space.fits(chosen)[graph]:
            raise ValueError(
                f"Expected a batch with places for {len(kept)} candidates that are pinned or kept. It has {count}, "
                "within its budget and caps. Lift some, or ask for more."
            )
        chosen.append(graph)
        left[graph] = False
    while len(chosen) < count:
        left &= space.fits(chosen)
        wanted = min(count - len(chosen), int(left.sum()))
        if not wanted:
            break
        for graph in _ask(agent, wanted, left, pending, chosen, space):
            if not space.fits(chosen)[graph]:
                break
            chosen.append(graph)
            left[graph] = False
    if len(chosen) < (count if constraints.budget is None else 1):
        raise TooFewLeftError(
            f"Expected a pool from which {count} candidates can be chosen, within the budget and with at most "
            f"{constraints.at_most or 'any number'} of each group. {len(chosen)} can. Ask for fewer, or "
            "allow more.",
            len(chosen),
        )
    return chosen


def check_batch(count: int, mask: NDArray[np.bool_], constraints: BatchConstraints) -> None:
    """Refuse a batch that prices, budget or caps cannot give.

    Args:
        count: most graphs to choose.
        mask: `(K,)` bool. Graphs that can be chosen.
        constraints: prices, budget and caps.

    Raises:
        ValueError: as `choose_batch`, which also refuses agents.
    """
    prices, groups = constraints.costs(len(mask)), constraints.group_numbers(len(mask))
    left = mask & constraints.known(len(mask))
    if int(left.sum()) < count:
        with_price = "" if prices is None else " with a known price"
        text = f"Expected no more candidates than are left{with_price}, {left.sum()}. Got {count}."
        raise TooFewLeftError(text, int(left.sum()))
    allowed = most_allowed(left, groups, constraints.at_most)
    if allowed < count:
        raise TooFewLeftError(
            f"Expected groups from which {count} candidates can be chosen, at most {constraints.at_most} of each. "
            f"Those that are left allow {allowed}. Ask for {allowed}, or allow more of each group.",
            allowed,
        )
    if prices is not None and not (prices[left] <= _money(constraints)).any():
        raise TooFewLeftError(
            f"Expected a budget that pays for a candidate. The cheapest of {left.sum()} costs {prices[left].min():g}, "
            f"and the budget is {constraints.budget:g}.",
            0,
        )


def check_kept(ids: Sequence[str], index_of: Mapping[str, int], mask: NDArray[np.bool_]) -> list[int]:
    """Return the indices of graphs that are pinned.

    Args:
        ids: their ids.
        index_of: index of each graph of the pool, by its id.
        mask: `(K,)` bool. Graphs that can be chosen.

    Raises:
        ValueError: if one cannot be chosen.
    """
    bad = next((key for key in ids if key not in index_of or not mask[index_of[key]]), None)
    if bad is not None:
        why = "does not meet the limits, or has a result" if bad in index_of else "is not in the pool"
        raise ValueError(f"Expected pinned candidates that can be chosen. `{bad}` {why}. Lift the pin.")
    return [index_of[key] for key in ids]


def split_round(state: CampaignState) -> tuple[list[str], tuple[Suggestion, ...], int]:
    """Return the last round: ids that are pending, suggestions that have a result, and how many others are vetoed.

    Raises:
        ValueError: if none is vetoed.
    """
    last, ended = state.rounds[-1] if state.rounds else (), {*state.settled(), *state.failed}
    done = tuple(suggestion for suggestion in last if suggestion.id in ended)
    gone = sum(suggestion.id in state.vetoes.keys() - ended for suggestion in last)
    if not gone:
        raise ValueError("Expected a vetoed suggestion in the last round, to choose another in its place. Got none.")
    return [suggestion.id for suggestion in last if suggestion.id in state.pending], done, gone


def is_possible(count: int, mask: NDArray[np.bool_], constraints: BatchConstraints) -> bool:
    """Return whether `check_batch` accepts a batch."""
    try:
        check_batch(count, mask, constraints)
    except ValueError:
        return False
    return True


def spare_likely(
    count: int,
    mask: NDArray[np.bool_],
    likely: NDArray[np.bool_],
    probability: NDArray[np.float64],
    constraints: BatchConstraints,
) -> NDArray[np.bool_]:
    """Return a mask without graphs that are likely to fail; with as few of them as the batch needs.

    Args:
        count: most graphs to choose.
        mask: `(K,)` bool. Graphs that can be chosen; `check_batch` accepts them.
        likely: `(K,)` bool. Those that are likely to fail.
        probability: `(K,)`. How likely each is to fail: of the likely ones, the least likely come back first.
        constraints: prices, budget and caps.
    """
    others = np.flatnonzero(mask & likely)
    others = others[np.argsort(probability[others], kind="stable")]

    def spared(back: int) -> NDArray[np.bool_]:
        kept = mask & ~likely
        kept[others[:back]] = True
        return kept

    every = range(len(others) + 1)
    return spared(bisect_left(every, True, key=lambda back: is_possible(count, spared(back), constraints)))


def _money(constraints: BatchConstraints) -> float:
    return math.inf if constraints.budget is None else constraints.budget * (1 + ROUNDING)


def most_allowed(mask: NDArray[np.bool_], groups: NDArray[np.int64] | None, at_most: int | None) -> int:
    """Return how many of the graphs that `mask` allows a batch may hold with at most so many of one group.

    Args:
        mask: `(K,)` bool. Graphs that can be chosen.
        groups: `(K,)` group of each; None: there are no caps.
        at_most: how many of one group the batch may hold; None: any number.
    """
    if groups is None or at_most is None:
        return int(mask.sum())
    _, sizes = np.unique(groups[mask], return_counts=True)
    return int(np.minimum(sizes, at_most).sum())


class _Space:
    """What a batch has space for: money, and places in groups."""

    def __init__(self, constraints: BatchConstraints, size: int) -> None:
        costs, groups = constraints.costs(size), constraints.group_numbers(size)
        self.prices = np.ones(size) if costs is None else costs
        self.weighed = np.ones(size) if constraints.budget_only else self.prices
        self.groups = np.arange(size) if groups is None else groups
        self.money = _money(constraints)
        self.at_most = constraints.at_most or size
        self.is_free = costs is None and groups is None

    def fits(self, chosen: Sequence[int]) -> NDArray[np.bool_]:
        """Return which graphs could join those chosen, `(K,)`, if they were not among them."""
        affordable: NDArray[np.bool_] = self.prices <= self.money - self.prices[list(chosen)].sum()
        return affordable & self.has_room(chosen)

    def has_room(self, chosen: Sequence[int]) -> NDArray[np.bool_]:
        """Return which graphs could join those chosen for any money, `(K,)`; those chosen could not."""
        numbers, sizes = np.unique(self.groups[list(chosen)], return_counts=True)
        room: NDArray[np.bool_] = ~np.isin(self.groups, numbers[sizes >= self.at_most])
        room[list(chosen)] = False
        return room


def _ask(
    agent: Agent | GoalsChooser,
    count: int,
    mask: NDArray[np.bool_],
    pending: Sequence[int],
    chosen: Sequence[int],
    space: _Space,
) -> list[int]:
    """Let an agent choose up to `count` more graphs; one, if it cannot choose several."""
    waiting, so_far = [*pending, *chosen], [*chosen]
    if isinstance(agent, GoalsChooser):
        if len(np.unique(space.weighed[mask])) == 1:
            return agent.choose(count, mask, waiting)
        return agent.choose(count, mask, waiting, space.weighed, lambda new: space.fits([*so_far, *new]))
    if isinstance(agent, ModelAgent) and not space.is_free:
        return agent.select_priced(None, count, space.weighed, mask, waiting, lambda new: space.fits([*so_far, *new]))
    if isinstance(agent, BatchAgent):
        return agent.select_batch(None, count, mask, waiting)
    return [agent.select_action(None, mask)]
