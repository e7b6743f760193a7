"""The contents of the suggestions: molecules to measure next, predictions and similar molecules."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graph_bandit_campaign.pages.neighbours import NEIGHBOURS, Neighbour
from graph_bandit_campaign.pages.numbers import short
from graph_bandit_campaign.state import CampaignState, Suggestion


@dataclass(frozen=True)
class Answer:
    """The contents of table, page and terminal output."""

    target: str
    """Column of the measured values."""
    pool_size: int
    """How many molecules there are to choose from."""
    state: CampaignState
    """State of the campaign; its last round holds these suggestions."""
    suggested: tuple[Suggestion, ...]
    """Molecules to measure next."""
    near: Mapping[str, Sequence[Neighbour]]
    """The measured molecules most similar to each suggestion, by its id."""
    smiles_of: Mapping[str, str]
    """SMILES of every molecule, by its id."""
    gone: Sequence[str] = ()
    """Ids of pending molecules that are not in the pool."""
    bounds: Sequence[str] = ()
    """Molecules with a bound but no exact value, each with its cell."""
    agent_change: str = ""
    """A note that the agent has changed; empty if it has not."""

    @property
    def best(self) -> tuple[str, float] | None:
        """Return the id and value of the best molecule measured; None if nothing was measured."""
        means = self.state.means()
        choose = max if self.state.maximize else min
        return choose(means.items(), key=lambda pair: pair[1]) if means else None

    @property
    def waiting(self) -> list[str]:
        """Return the ids of pending molecules other than these suggestions."""
        now = {suggestion.id for suggestion in self.suggested}
        return [key for key in self.state.pending if key not in now]

    def to_csv(self) -> str:
        """Write a CSV table with a row for each suggestion."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        columns = ["rank", "id", "smiles", f"predicted_{self.target}", "standard_deviation"]
        columns += ["probability_of_beating_best"]
        for number in range(1, NEIGHBOURS + 1):
            columns += [f"nearest_{number}", f"nearest_{number}_similarity", f"nearest_{number}_{self.target}"]
        writer.writerow(columns)
        for rank, suggestion in enumerate(self.suggested, start=1):
            cells = [str(rank), suggestion.id, self.smiles_of[suggestion.id]]
            cells += map(short, (suggestion.mean, suggestion.std, suggestion.probability))
            for neighbour in self.near[suggestion.id]:
                cells += [neighbour.id, short(neighbour.similarity), short(neighbour.value)]
            writer.writerow(cells + [""] * (len(columns) - len(cells)))
        return text.getvalue()
