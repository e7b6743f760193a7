"""Open a campaign: the arguments that are given, and what its file holds."""

from __future__ import annotations

from dataclasses import dataclass, replace

from graph_bandit_campaign.constraints.goals.goal import Goal, list_aims
from graph_bandit_campaign.flags import Kind
from graph_bandit_campaign.state import CampaignState

DIRECTIONS: dict[bool | None, str] = {True: "maximize", False: "minimize"}


@dataclass(frozen=True)
class Given:
    """The arguments with which a campaign is started or goes on; None: not given."""

    maximize: bool | None
    """True if large values are wanted, False for small ones."""
    seed: int | None
    """Seed of all randomness."""
    target: str | None
    """Name of the measured quantity."""
    goals: tuple[Goal, ...] | None
    """What is wanted of several quantities."""
    kind: Kind | None = None
    """What the values of the one goal are."""

    def resume(self, saved: CampaignState | None, path: str, agent: str) -> CampaignState:
        """Return the campaign that a file holds, with the goals that are given; or a new one.

        Args:
            saved: what the file holds; None: there is none.
            path: of the file.
            agent: of a new campaign.

        Raises:
            ValueError: if the file holds a campaign with another direction, seed, target or goals.
        """
        wanted = self.wanted(saved)
        state = saved or CampaignState(
            agent, self.maximize is not False, self.seed or 0, target=self.target or "", goals=wanted
        )
        aims = None if self.goals is None else list_aims(wanted)
        pairs = {
            "direction": tuple(DIRECTIONS.get(each) for each in (self.maximize, state.maximize)),
            "seed": (self.seed, state.seed),
            "target": (self.target, state.target),
            "goals": (aims, list_aims(state.goals)),
        }
        for name, (value, before) in pairs.items():
            if value not in (None, before):
                raise ValueError(
                    f"Expected a campaign with {name} {value}. {path} has {'none' if before == '' else before}. "
                    "Use that value, or start a new campaign in another file."
                )
        kind = state.kind if self.kind is None else self.kind
        return replace(
            state.with_goals(wanted), kind=kind, told=state.told or kind != state.kind or wanted != state.goals
        )

    def wanted(self, saved: CampaignState | None) -> tuple[Goal, ...]:
        """Return what is wanted of several quantities; nothing with one.

        Raises:
            ValueError: if goals come with what one quantity has.
        """
        wanted = self.goals if self.goals is not None else saved.goals if saved else ()
        if wanted and (self.maximize, self.target, self.kind) != (None, None, None):
            raise ValueError("Expected either `goals`, or `maximize`, `target` and `kind`. Got both.")
        return wanted
