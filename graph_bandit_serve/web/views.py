"""Convert the state of a campaign to dictionaries for its page."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from itertools import chain
from typing import Any

from graph_bandit_campaign import CampaignState, Change, Suggestion, digest_of, find_front, flag_results
from graph_bandit_serve.campaigns.folder import CampaignFolder
from graph_bandit_serve.campaigns.listing import Reading, describe

PREDICTED = ("price", "rank", "id", "smiles", "standard_deviation", "interval_", "predicted_", "probability_")
"""Prefixes of columns that the card of a suggestion already shows."""
LIMITS = ("require", "forbid", "filter")
SETTINGS = {"n": 8, "price": None, "budget": None, "max_per_group": None, "group_by": None, **dict.fromkeys(LIMITS, ())}
"""Settings on the page, with the defaults of `suggest`."""
EXPLAINED = (*PREDICTED, "nearest", "explanation")
Shown = dict[str, Any]


def number(value: float | None) -> str:
    """Format a number with four digits, or a missing one as a dash."""
    return "–" if value is None or not math.isfinite(value) else f"{value:.4g}"


def chance(share: float | None) -> str:
    """Format a probability as a whole percentage."""
    return "" if share is None else f"{100 * share:.0f} %"


def read_cells(reading: Reading, folder: CampaignFolder) -> dict[str, Shown]:
    """Return the cells of the table of the last suggestions by id, or none if the file is edited or outdated."""
    state = reading.state
    try:
        content = folder.read(reading.file.path.with_name(f"{state.command.get('out')}"))
        rows = [*csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""), restval="")]
    except (ValueError, csv.Error):
        return {}
    cells = {row.get("id", "").removeprefix("'"): {k: text for k, text in row.items() if k and text} for row in rows}
    last = {each.id for batch in state.rounds[-1:] for each in batch}
    return cells if digest_of(content) in state.written and cells.keys() == last else {}


class CampaignPage:
    """The contents of a campaign's page.

    Args:
        reading: the campaign.
        folder: its folder.
    """

    def __init__(self, reading: Reading, folder: CampaignFolder) -> None:
        self.reading, self.state, self._cells = reading, reading.state, read_cells(reading, folder)
        state = self.state
        self._values: dict[tuple[str, str], list[str]] = {}
        for result in state.results:
            self._values.setdefault((result.id, result.goal), []).append(result.text)
        self._ids = {
            "measured": {*state.settled()},
            "failed": {*state.failed},
            "waiting": {*state.pending},
            "vetoed": {*state.vetoes},
        }
        given = {name: state.command.get(name) or default for name, default in SETTINGS.items()}
        self.command = {  # an uploaded file may contain other types
            name: value if isinstance(value, tuple) == (name in LIMITS) else SETTINGS[name]
            for name, value in given.items()
        }
        self._comments: dict[str, list[Shown]] = {}
        for comment in state.comments:
            self._comments.setdefault(comment.id, []).append({"text": comment.text, "by": comment.by})

    def status(self, key: str) -> str:
        """Return the status of a graph."""
        return next((name for name, ids in self._ids.items() if key in ids), "not asked for")

    def head(self) -> Shown:
        """Return the goals, the limits and the cost of the batch."""
        state, budget = self.state, self.command["budget"]
        prices = [cells.get("price", "") for cells in self._cells.values()]
        numbers = [float(text) for text in prices if text.replace(".", "", 1).isdecimal()]
        return {
            **self.reading.summary(),
            "limits": [text for name in LIMITS for text in self.command[name]],  # type: ignore[union-attr]
            "has_table": bool(self._cells),
            "ordered": [name for name in dict.fromkeys(chain(*self._cells.values())) if not name.startswith(EXPLAINED)],
            "bill": number(sum(numbers)) if numbers else "",
            "budget": number(budget) if isinstance(budget, float | int) else "",
            "best": [
                {"goal": view.target, "id": leader[0], "value": number(leader[1])}
                for view in state.views()
                if not state.is_class and not self._has_range(view.target) and (leader := view.leader())
            ],
            "front": find_front(state) if state.goals else (),
            "flagged": [*flag_results(state)],
            "undo": [step(change) for change in self.reading.past[-1:]],
            "redo": [step(change) for change in self.reading.future[-1:]],
        }

    def cards(self, suggested: Sequence[Suggestion]) -> list[Shown]:
        """Return the suggestions of a round: predictions, results, comments, price and explanation."""
        return [self._card(rank, each) for rank, each in enumerate(suggested, start=1)]

    def table(self, most: int) -> list[Shown]:
        """Return a row for each pending or measured graph. Pending graphs come first, then the newest results."""
        newest = {each.id: each for each in sorted(self.state.results, key=lambda each: each.round)}
        ids = dict.fromkeys((*self.state.pending, *reversed(newest)))
        return [
            {
                "id": key,
                "smiles": self.state.structures.get(key, ""),
                "status": self.status(key),
                "values": self._fields(key),
                "by": newest[key].by if key in newest else "",
                "at": newest[key].at[:16].replace("T", " ") if key in newest else "",
            }
            for key in [*ids][:most]
        ]

    def history(self, most: int) -> Shown:
        """Return the rounds, changes and comments, each with the newest first."""
        rounds, past = self.state.rounds, self.reading.past
        return {
            "rounds": [{"number": k, "cards": self.cards(rounds[k - 1])} for k in range(len(rounds), 0, -1)][:most],
            "changes": [step(change) for change in reversed(past)],
            "comments": self.state.comments[: -most - 1 : -1],
        }

    def _card(self, rank: int, each: Suggestion) -> Shown:
        state, key = self.state, each.id
        cells = self._cells.get(key, {})
        forecasts = [each.by_goal.get(name, each) if state.goals else each for name in state.quantities]
        values = [
            {
                **given,
                "mean": chance(one.mean) if state.is_class else number(one.mean),
                "interval": "" if one.interval is None or state.is_class else " to ".join(map(number, one.interval)),
                "chance": chance(one.probability) if self._has_range(given["goal"]) else "",
            }
            for given, one in zip(self._fields(key), forecasts, strict=True)
        ]
        veto = state.vetoes.get(key)
        return {
            "rank": rank,
            "id": key,
            "smiles": state.structures.get(key, ""),
            "status": self.status(key),
            "values": values,
            "chance": chance(each.probability) if self.status(key) == "waiting" else "",
            "ordered": cells,
            "price": cells.get("price", ""),
            "facts": {k.replace("_", " "): text for k, text in cells.items() if not k.startswith(PREDICTED)},
            "veto": None if veto is None else ", ".join(filter(None, (veto.reason, veto.by))),
            "pinned": key in state.pinned,
            "comments": self._comments.get(key, ()),
        }

    def _fields(self, key: str) -> list[Shown]:
        """Return the values of a graph for each goal, with the name of the form field."""
        names = zip([goal.name for goal in self.state.goals] or [""], self.state.quantities, strict=True)
        return [{"send": goal, "goal": name, "known": self._values.get((key, goal), [])} for goal, name in names]

    def _has_range(self, name: str) -> bool:
        return any(goal.name == name and goal.has_range for goal in self.state.goals)


def step(change: Change) -> Shown:
    """Return the text, person and time of a change."""
    return {"text": describe(change), "by": change.by, "at": change.at[:16].replace("T", " ")}


def plots_of(state: CampaignState) -> list[Shown]:
    """Return the figures of a campaign: results by round or two goals, and predictions against results."""
    plots, views = list[Shown](), state.views()
    if len(views) > 1:
        first, second = (view.means() for view in views[:2])
        front = {*find_front(state)}
        points = [(first[key], second[key], key, "best" * (key in front)) for key in first if key in second]
        plots.append(plot("Two goals", state.quantities[0], state.quantities[1], points))
    elif not state.is_class:
        points = [(float(each.round), each.value, each.id, "") for each in state.measured]
        best = [(float(k), best) for k in range(len(state.rounds) + 1) if (best := state.best(k)) is not None]
        plots.append(plot("Progress", "batches so far", state.target, points, best, least=1))
    for view in views if not state.is_class else ():
        means = view.means()
        pairs = {each.id: (each.mean, means[each.id]) for batch in view.rounds for each in batch if each.id in means}
        points = [(mean, value, key, "") for key, (mean, value) in pairs.items() if mean is not None]
        ends = [end(value for point in points for value in point[:2]) for end in (min, max)] if points else []
        plots.append(
            plot(f"{view.target}: predicted and measured", "predicted", "measured", points, [(e, e) for e in ends])
        )
    return [each for each in plots if each["points"]]


def plot(
    title: str,
    across: str,
    up: str,
    points: Sequence[tuple[float, float, str, str]],
    line: Sequence[tuple[float, float]] = (),
    least: float = 0.0,
) -> Shown:
    """Return a figure of points with ids and a line, in coordinates from 0 to 100."""
    places = [*((x, y) for x, y, *_ in points), *line]
    ticks = [ticks_of([each[axis] for each in places], least * (axis == 0)) for axis in (0, 1)]

    def place(axis: int, value: float) -> float:
        low, high = ticks[axis][0], ticks[axis][-1]
        share = (value - low) / (high - low)
        return round(100 * (1 - share if axis else share), 2)

    return {
        "title": title,
        "across": across,
        "up": up,
        "points": [{"x": place(0, x), "y": place(1, y), "id": key, "kind": kind} for x, y, key, kind in points],
        "line": " ".join(f"{place(0, x)},{place(1, y)}" for x, y in line),
        "ticks": [[{"at": place(axis, at), "text": f"{at:.6g}"} for at in ticks[axis]] for axis in (0, 1)],
    }


def ticks_of(values: Sequence[float], least: float = 0.0) -> list[float]:
    """Return round numbers that cover the range of some values, spaced by at least `least`."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    rough = max(least, ((high - low) or abs(high) or 1.0) / 4)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [step * k for k in range(first, max(last, first + 1) + 1)]
