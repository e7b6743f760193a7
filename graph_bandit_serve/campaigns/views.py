"""Put a campaign into the words that pages show and programs read."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

from pydantic import BaseModel, ConfigDict

from graph_bandit_campaign import CampaignState, Goal, Measurement, Suggestion

Status = Literal["measured", "in part measured", "failed", "pending", "vetoed", "not asked for any more"]


class View(BaseModel):
    """A part of an answer."""

    model_config = ConfigDict(use_attribute_docstrings=True, frozen=True, from_attributes=True)


class VetoView(View):
    """A graph that is not to be suggested, because somebody says so."""

    id: str
    """Its id."""
    reason: str
    """Why; empty if nobody said."""
    by: str
    """Who said so; empty if it is not known."""
    round: int
    """How many rounds had been suggested then."""


class CommentView(View):
    """A text about a graph."""

    id: str
    """Its id."""
    text: str
    """What is said."""
    by: str
    """Who says so; empty if it is not known."""
    round: int
    """How many rounds had been suggested then."""


class GoalView(View):
    """What is wanted of one measured quantity."""

    name: str
    """Name of the quantity; empty if the campaign gives none."""
    aim: str
    """`maximize`, `minimize`, `target` (near a range) or `limit` (inside a range)."""
    low: float | None = None
    """Lower end of the range; null: there is none."""
    high: float | None = None
    """Upper end of the range; null: there is none."""
    strict: bool = False
    """Whether the ends of a limit do not meet it themselves."""
    weight: float | None = None
    """Weight in a weighted sum; null: there is none."""
    is_class: bool = False
    """Whether results are classes, 1 or 0, so that the probability of a hit is predicted."""
    text: str
    """The goal in a few words."""


class ResultView(View):
    """A measured value, or a bound of it."""

    id: str
    """What was measured."""
    goal: str
    """Name of the measured quantity; empty if the campaign gives none."""
    value: float
    """The value, or the bound."""
    bound: Literal["", "above", "below"]
    """`above` or `below` if the result is only known to lie above or below `value`; empty: it is `value`."""
    noise: float | None
    """Standard deviation of the measuring noise; null: it is not known."""
    round: int
    """How many rounds had been suggested when it came in."""


class PredictionView(View):
    """A prediction of one quantity, when it was suggested."""

    goal: str
    """Name of the quantity."""
    mean: float | None
    """Predicted value, of a class the probability of a 1; null: there is no prediction."""
    std: float | None
    """Standard deviation of that prediction."""
    noise_std: float | None
    """Estimated standard deviation of the noise of one result."""
    low: float | None
    """Lower end of the 90 % interval of one result."""
    high: float | None
    """Upper end of that interval."""
    probability: float | None
    """With one goal: that its result beats the best value by then, or is a hit. With several: that it is in the range
    of this one; null if it has none."""


class SuggestionView(View):
    """A suggestion, and what came of it."""

    id: str
    """What was suggested."""
    smiles: str | None
    """Its structure, if it is a molecule and the file has it."""
    status: Status
    """What has become of it."""
    predictions: list[PredictionView]
    """One for each goal."""
    probability: float | None
    """That its result beats the best value by then, or is a hit; or, with several goals, that its results are on the
    front."""
    results: list[ResultView]
    """All results of it."""


class RoundView(View):
    """The suggestions of one round."""

    number: int
    """1 is the first round."""
    suggestions: list[SuggestionView]
    """In the order of the choice."""


class BestView(View):
    """The best result of one quantity."""

    goal: str
    """Name of the quantity."""
    id: str
    """What was measured."""
    value: float
    """The mean of its values, or a bound that it is beyond."""


class CampaignSummary(View):
    """A campaign in a line."""

    id: str
    """By which it is asked for."""
    name: str
    """Place of its file in the folder, without `.campaign.json`."""
    version: str = ""
    """Digest of its file; it changes with every change. Empty if the file cannot be read."""
    problem: str | None = None
    """Why the file cannot be read as a campaign; null: it can."""
    goals: list[str] = []
    """What is wanted, in words."""
    results: int = 0
    """Number of results."""
    pending: int = 0
    """How many are being measured."""
    failed: int = 0
    """How many could not be measured."""
    rounds: int = 0
    """How many rounds have been suggested."""


class CampaignList(View):
    """The campaigns of a folder."""

    campaigns: list[CampaignSummary]
    """In the order of their names."""
    is_cut: bool
    """Whether the folder holds more files than are looked at."""


class Tables(View):
    """The tables of the folder: pools to choose from, and results."""

    tables: list[str]
    """Their places in it."""
    is_cut: bool
    """Whether the folder holds more files than are looked at."""


class WaitingView(View):
    """Something that is being measured."""

    id: str
    """What is measured."""
    smiles: str | None
    """Its structure, if it is a molecule and the file has it."""


class CampaignView(View):
    """A campaign."""

    id: str
    """By which it is asked for."""
    name: str
    """Place of its file in the folder, without `.campaign.json`."""
    version: str
    """Digest of its file, also the ETag of this answer."""
    agent: str
    """Which agent chooses."""
    goals: list[GoalView]
    """What is wanted."""
    best: list[BestView]
    """The best result so far of each quantity of which large or small values are wanted."""
    results: list[ResultView]
    """In the order in which they came in."""
    pending: list[WaitingView]
    """What is being measured."""
    failed: list[str]
    """Ids of what could not be measured."""
    rounds: list[RoundView]
    """All suggestions."""
    vetoed: list[VetoView]
    """What is not to be suggested."""
    pinned: list[str]
    """Ids of what is to be in the next batch, or was."""
    comments: list[CommentView]
    """Texts about graphs."""


def summarize(key: str, name: str, version: str, state: CampaignState) -> CampaignSummary:
    """Return a campaign in a line."""
    counts = {part: len(getattr(state, part)) for part in ("pending", "failed", "rounds")}
    goals = [goal.text for goal in goals_of(state)]
    values = {"id": key, "name": name, "version": version, "goals": goals, "results": len(state.measured)}
    return CampaignSummary.model_validate(values | counts)


def describe(key: str, name: str, version: str, state: CampaignState) -> CampaignView:
    """Return all of a campaign."""
    history = History(state)
    kept = {part: getattr(state, part) for part in ("agent", "failed", "vetoed", "pinned", "comments")}
    values = {
        "id": key,
        "name": name,
        "version": version,
        "goals": goals_of(state),
        "best": best_of(state),
        "results": [view_result(state, result) for result in state.measured],
        "pending": [{"id": each, "smiles": state.structures.get(each)} for each in state.pending],
        "rounds": [history.round(number) for number in range(1, len(state.rounds) + 1)],
    }
    return CampaignView.model_validate(kept | values)


class History:
    """The rounds of a campaign, and what came of each suggestion.

    Args:
        state: the campaign.
    """

    def __init__(self, state: CampaignState) -> None:
        self._state = state
        self._results: dict[str, list[Measurement]] = {}
        for result in state.measured:
            self._results.setdefault(result.id, []).append(result)
        self._settled, self._failed, self._pending = state.settled(), set(state.failed), set(state.pending)

    def round(self, number: int, most: int | None = None) -> RoundView:
        """Return the first suggestions of a round.

        Args:
            number: 1 is the first round.
            most: how many; None: all.
        """
        suggested = self._state.rounds[number - 1][:most]
        return RoundView(number=number, suggestions=[self._suggestion(suggestion) for suggestion in suggested])

    def counts(self, number: int) -> dict[Status, int]:
        """Return how many suggestions of a round have become what."""
        counts: dict[Status, int] = {}
        for suggestion in self._state.rounds[number - 1]:
            status = self._status(suggestion.id)
            counts[status] = counts.get(status, 0) + 1
        return counts

    def _suggestion(self, suggestion: Suggestion) -> SuggestionView:
        state = self._state
        predictions = [
            _view_prediction(goal.name, suggestion.by_goal.get(goal.name, Suggestion(suggestion.id)), goal.has_range)
            for goal in state.goals
        ]
        return SuggestionView(
            id=suggestion.id,
            smiles=state.structures.get(suggestion.id),
            status=self._status(suggestion.id),
            predictions=predictions or [_view_prediction(state.target, suggestion)],
            probability=finite(suggestion.probability),
            results=[view_result(state, result) for result in self._results.get(suggestion.id, ())],
        )

    def _status(self, identifier: str) -> Status:
        if identifier in self._settled:
            return "measured"
        if identifier in self._failed:
            return "failed"
        if identifier in self._pending:
            return "pending"
        if identifier in self._state.vetoes:
            return "vetoed"
        return "in part measured" if identifier in self._results else "not asked for any more"


def goals_of(state: CampaignState) -> list[GoalView]:
    """Return what is wanted of each quantity."""
    if not state.goals:
        aim = "maximize" if state.maximize else "minimize"
        text = f"{aim} {state.target or 'the measured value'}"
        return [GoalView(name=state.target, aim=aim, is_class=state.is_class, text=text)]
    return [GoalView.model_validate(goal) for goal in state.goals]


def best_of(state: CampaignState) -> list[BestView]:
    """Return the best result of each quantity of which large or small values are wanted; hits are equally good."""
    wanted: list[tuple[Goal | None, CampaignState]] = [(goal, state.of(goal)) for goal in state.goals] or [
        (None, state)
    ]
    found = []
    for goal, view in wanted:
        leader = None if state.is_class or (goal is not None and goal.has_range) else view.leader()
        if leader is not None and math.isfinite(leader[1]):
            found.append(BestView(goal=view.target, id=leader[0], value=leader[1]))
    return found


def view_result(state: CampaignState, result: Measurement) -> ResultView:
    """Return a result with the name of its quantity."""
    return ResultView.model_validate(replace(result, goal=result.goal or state.target))


def finite(value: float | None) -> float | None:
    """Return a number; None if it is infinite, as a file of somebody else may have it."""
    return value if value is not None and math.isfinite(value) else None


def _view_prediction(name: str, forecast: Suggestion, has_range: bool = True) -> PredictionView:
    low, high = forecast.interval or (None, None)
    return PredictionView(
        goal=name,
        **{part: finite(getattr(forecast, part)) for part in ("mean", "std", "noise_std")},
        low=finite(low),
        high=finite(high),
        probability=finite(forecast.probability) if has_range else None,
    )
