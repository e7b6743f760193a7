"""What a study of another library has tried, as a campaign."""

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
    """What was tried of the graphs of a pool, by their ids. An id may come up several times, and in several lists."""

    measured: Sequence[Measurement] = field(default=())
    """Results; those of graphs that are tried several times are averaged, and equal ones count once."""
    failed: Iterable[str] = field(default=())
    """Graphs that could not be measured, which teaches what fails; unless there are results of them."""
    waiting: Iterable[str] = field(default=())
    """Graphs that are being measured, or whose results say nothing: they are not chosen again."""
    dropped: Iterable[str] = field(default=())
    """Graphs that nobody will measure, which teaches nothing: they are not chosen again, and not reckoned with."""


class PoolCampaigns:
    """Make a campaign on the same pool as often as a study asks for the next trial.

    Each depends on what was tried alone. What the agent computes of the graphs is computed once.

    Args:
        pool: K graphs.
        agent: the agent that chooses, as on the command line; None: the default for these graphs.
        seed: seed of all randomness.

    Raises:
        TypeError: if it is no pool.
    """

    def __init__(self, pool: GraphPool, agent: str | None = None, seed: int = 0) -> None:
        if not hasattr(pool, "ids"):
            raise TypeError(f"Expected a pool, such as `from_smiles([...])` makes. Got {type(pool).__name__}.")
        self.pool, self._agent, self._seed = pool, agent, seed
        self._empty: tuple[object, Campaign] | None = None

    def after(self, trials: Trials, goals: Sequence[Goal] = (), maximize: bool = True) -> Campaign:
        """Return a campaign that knows what was tried.

        A graph whose results are complete is measured, whatever else was tried of it. Where results of some goals are
        missing, it is not chosen again.

        Args:
            trials: what was tried.
            goals: what is wanted of several quantities; none: one is measured, and its results have no goal.
            maximize: whether large values are wanted; without goals.

        Raises:
            ValueError: if something was tried that is no graph of the pool, or the agent cannot play these graphs.
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
            campaign.mark(key, waits=True)
        for key in dict.fromkeys(trials.dropped):
            if key not in settled and key not in failed and key not in pending:
                campaign.mark(key, veto=True)
        return campaign

    def _begin(self, goals: tuple[Goal, ...], maximize: bool) -> Campaign:
        """Return a campaign that knows nothing; it shares what was computed of the graphs for the last one."""
        wanted = goals or maximize
        if self._empty is None or self._empty[0] != wanted:
            one = None if goals else maximize
            begun = Campaign(self.pool, self._agent, maximize=one, goals=goals or None, seed=self._seed)
            self._empty = wanted, begun
        return copy.copy(self._empty[1])


def _pair(result: Measurement) -> tuple[str, float | str, float | None]:
    """Return a result as `Campaign.tell` takes it."""
    sign = {"above": ">", "below": "<"}.get(result.bound)
    return result.id, f"{sign}{result.value!r}" if sign else result.value, result.noise
