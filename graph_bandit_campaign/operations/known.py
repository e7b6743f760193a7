"""The graphs that a campaign knows by their ids alone, to change what is said of them without a look at the pool."""

from __future__ import annotations

from typing import NoReturn

from graph_bandit_campaign.state import CampaignState


class KnownGraphs:
    """The graphs that a campaign was told of, or has suggested.

    Args:
        state: state of the campaign.
    """

    ids: dict[str, None]
    """Their ids."""

    def __init__(self, state: CampaignState) -> None:
        suggested = (suggestion.id for suggestions in state.rounds for suggestion in suggestions)
        measured = (result.id for result in state.measured)
        marked = (*state.failed, *state.pending, *state.vetoes, *state.pinned)
        self.ids = dict.fromkeys((*measured, *marked, *state.structures, *suggested))

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.ids)

    def to_pyg(self) -> NoReturn:
        """Refuse to return graphs.

        Raises:
            ValueError: in any case.
        """
        raise ValueError("Expected a pool. Here, the graphs of a campaign are known by their ids alone.")
