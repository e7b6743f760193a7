"""The answer to a question: what to measure next, and why."""

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
    """What table, page and terminal show."""

    target: str
    """Column of the measured values."""
    pool_size: int
    """Molecules to choose from."""
    state: CampaignState
    """Of the campaign, with the suggestions of now as its last round."""
    suggested: tuple[Suggestion, ...]
    """What to measure next."""
    near: Mapping[str, Sequence[Neighbour]]
    """Measured molecules that are most like each suggestion."""
    smiles_of: Mapping[str, str]
    """SMILES of every molecule."""
    agent_change: str = ""
    """What people should know of the agent; empty where it is as it was."""

    @property
    def best(self) -> tuple[str, float] | None:
        """Return id and value of the best molecule measured; None: nothing was measured."""
        means = self.state.means()
        choose = max if self.state.maximize else min
        return choose(means.items(), key=lambda pair: pair[1]) if means else None

    @property
    def waiting(self) -> list[str]:
        """Return what was suggested in earlier rounds and has no result yet."""
        now = {one.id for one in self.suggested}
        return [key for key in self.state.pending if key not in now]

    def to_csv(self) -> str:
        """Write a row for each suggestion."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        columns = ["rank", "id", "smiles", f"predicted_{self.target}", "standard_deviation"]
        columns += ["probability_of_beating_best"]
        for number in range(1, NEIGHBOURS + 1):
            columns += [f"nearest_{number}", f"nearest_{number}_similarity", f"nearest_{number}_{self.target}"]
        writer.writerow(columns)
        for rank, one in enumerate(self.suggested, start=1):
            cells = [str(rank), one.id, self.smiles_of[one.id], *map(short, (one.mean, one.std, one.probability))]
            for neighbour in self.near[one.id]:
                cells += [neighbour.id, short(neighbour.similarity), short(neighbour.value)]
            writer.writerow(cells + [""] * (len(columns) - len(cells)))
        return text.getvalue()
