"""Convert the trials of other libraries to a campaign."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from graph_bandit_campaign import Campaign, CampaignState, Goal, Measurement

if TYPE_CHECKING:
    from graph_bandit_env import GraphPool


@dataclass(frozen=True)
class Trials:
    """Trials of the graphs of a pool, by id. An id may occur several times and in several lists."""

    measured: Sequence[Measurement] = field(default=())
    """Results. Several results of a graph are averaged, and equal ones count once."""
    failed: Iterable[str] = field(default=())
    """Graphs whose measurement failed. The model learns from them, unless they have results."""
    waiting: Iterable[str] = field(default=())
    """Pending graphs, and graphs without usable results. They are not chosen again."""
    dropped: Iterable[str] = field(default=())
    """Graphs that will not be measured. They are not chosen again and ignored by the model."""


class PoolCampaigns:
    """Create a campaign on the same pool for each new trial of a study.

    Each campaign depends only on the earlier trials. The agent's features of the graphs are computed once.

    Args:
        pool: K graphs.
        agent: name of the agent, as on the command line. If None, the default for these graphs.
        seed: seed of all randomness.

    Raises:
        TypeError: if `pool` is not a pool.
    """

    def __init__(self, pool: GraphPool, agent: str | None = None, seed: int = 0) -> None:
        if not hasattr(pool, "ids"):
            raise TypeError(f"Expected a pool, such as `from_smiles([...])` makes. Got {type(pool).__name__}.")
        self.pool, self._agent, self._seed = pool, agent, seed
        self._empty: tuple[object, Campaign] | None = None

    def after(self, trials: Trials, goals: Sequence[Goal] = (), maximize: bool = True) -> Campaign:
        """Return a campaign with the results of earlier trials.

        A graph with results for all goals is measured, regardless of its other trials. A graph with missing results is
        not chosen again.

        Args:
            trials: the earlier trials.
            goals: goals for several quantities. If empty, there is one quantity, and its results have no goal.
            maximize: if True, maximize the quantity. Used without goals.

        Raises:
            ValueError: if a trial has no graph of the pool, or the agent does not support these graphs.
        """
        campaign = self._begin(tuple(goals), maximize)
        measured = tuple(dict.fromkeys(trials.measured))
        settled = CampaignState("", True, 0, measured, goals=tuple(goals)).settled()
        failed = [key for key in dict.fromkeys(trials.failed) if key not in settled]
        partly = [result.id for result in measured if result.id not in settled]
        pending = dict.fromkeys(key for key in (*trials.waiting, *partly) if key not in settled and key not in failed)
        for goal in [goal.name for goal in goals] or [""]:
            campaign.tell([_pair(result) for result in measured if result.goal == goal], goal)
        campaign.tell(dict.fromkeys(failed, "failed"), goals[0].name if goals else "")
        for key in pending:
            campaign.annotate(key, waits=True)
        for key in dict.fromkeys(trials.dropped):
            if key not in settled and key not in failed and key not in pending:
                campaign.annotate(key, veto=True)
        return campaign

    def _begin(self, goals: tuple[Goal, ...], maximize: bool) -> Campaign:
        """Return a campaign without results that shares the computed features of the last one."""
        wanted = goals or maximize
        if self._empty is None or self._empty[0] != wanted:
            one = None if goals else maximize
            begun = Campaign(self.pool, self._agent, maximize=one, goals=goals or None, seed=self._seed)
            self._empty = wanted, begun
        return copy.copy(self._empty[1])


def _pair(result: Measurement) -> tuple[str, float | str, float | None]:
    """Return a result in the format of `Campaign.tell`."""
    sign = {"above": ">", "below": "<"}.get(result.bound)
    return result.id, f"{sign}{result.value!r}" if sign else result.value, result.noise
