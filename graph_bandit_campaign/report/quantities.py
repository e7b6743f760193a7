"""The measured quantities of a campaign, and the columns of their predictions in a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graph_bandit_campaign.constraints.goals.goal import Goal
from graph_bandit_campaign.state import Suggestion
from graph_bandit_campaign.text import short

REST = ("standard_deviation", "interval_90_low", "interval_90_high")


@dataclass(frozen=True)
class Quantities:
    """What is measured, and predicted of each graph."""

    target: str
    """The column of the measured values, if there is one goal."""
    goals: tuple[Goal, ...] = ()
    """The goals, if there are several."""

    @property
    def ranged(self) -> dict[str, str]:
        """Return the goals that are about a range, by name, with the word for a result inside."""
        return {goal.name: "met" if goal.aim == "limit" else "in range" for goal in self.goals if goal.has_range}

    def forecasts(self, suggestion: Suggestion) -> Mapping[str, Suggestion]:
        """Return the prediction of each goal for a graph, by the name of the goal."""
        nothing = Suggestion(suggestion.id)
        several = {goal.name: suggestion.by_goal.get(goal.name, nothing) for goal in self.goals}
        return several or {self.target: suggestion}

    def columns(self) -> list[str]:
        """Return the names of the columns of `cells`."""
        columns = []
        for name in [goal.name for goal in self.goals] or [self.target]:
            columns += [f"predicted_{name}", *(f"{column}_{name}" if self.goals else column for column in REST)]
            columns += [f"probability_in_range_{name}"] * (name in self.ranged)
        return [*columns, "probability_of_front" if self.goals else "probability_of_beating_best"]

    def cells(self, suggestion: Suggestion) -> list[str]:
        """Return the predictions for a graph as text."""
        cells = []
        for name, forecast in self.forecasts(suggestion).items():
            cells += [short(value) for value in (forecast.mean, forecast.std, forecast.low, forecast.high)]
            cells += [short(forecast.probability)] * (name in self.ranged)
        return [*cells, short(suggestion.probability)]
