"""Compare the players of a backtest in pairs with equal starts, for the page and the terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats

from graph_bandit_campaign.backtest.plays import RANDOM, Task, random_order
from graph_bandit_campaign.backtest.settings import BacktestSettings
from graph_bandit_campaign.backtest.table import TOP, Table
from graph_bandit_lab.reports import COLORS, DASHES, STYLE, print_columns, templates, to_svg
from graph_bandit_lab.storage import software_versions

Floats = NDArray[np.float64]
PAGE = "backtest.html.jinja"
GREY = "#7A7A7A"  # random choice
SHAPE = (7.2, 5.0)  # inches
DRAWS = 4000  # of the bootstrap
SHUFFLES = 2000
RARE = 0.01  # a verdict needs a difference that at most this share of shuffles of the values reaches


class Interval(NamedTuple):
    """A mean over starts, and its 95 % interval."""

    mean: float
    low: float
    high: float

    def text(self, digits: int = 1, sign: str = "") -> str:
        """Format the interval. With the sign "+", positive numbers have a sign."""
        form = f"{sign}.{digits}f"
        mean, low, high = (f"{round(number, digits) + 0.0:{form}}" for number in self)  # + 0.0: without -0.0
        return f"{mean} ({low} to {high})"


def interval(values: Floats) -> Interval:
    """Return the mean of `values` `(starts,)` and its interval. For curves `(starts, t)`, return three curves `(t,)`.

    It is a bootstrap over the starts, with the same draws for all comparisons. Its percentiles are exact for the mean
    of a few normal numbers ("expanded percentiles", Hesterberg 2015), since the usual ones are too narrow for ten
    starts.
    """
    starts = len(values)
    weights = np.random.default_rng(0).multinomial(starts, np.full(starts, 1 / starts), DRAWS) / starts
    tail = float(stats.norm.cdf(math.sqrt(starts / (starts - 1)) * stats.t.ppf(0.025, starts - 1)))
    low, high = np.quantile(weights @ values, [tail, 1 - tail], axis=0)
    return Interval(values.mean(axis=0), low, high)


@dataclass(frozen=True, eq=False)
class Player:
    """The plays of one player with one size of batch."""

    label: str
    """Its name, with the batch size if several are compared."""
    orders: NDArray[np.int64]
    """`(starts, budget)`. The molecules in the order of measurement, for each start."""
    found: Floats
    """`(starts, budget)`. Number of the ten best molecules that are found."""
    scores: Floats
    """`(starts,)`. Mean number of the ten best molecules found, over all measurements after the start."""
    needed: Floats
    """`(starts,)`. Measurements until random choice has found as many of the ten best as this player in the end."""


@dataclass(frozen=True, eq=False)
class Summary:
    """The compared plays of a backtest."""

    table: Table
    """The replayed table."""
    advisors: Sequence[Player]
    """Candidate agents for the suggestions, the best first (by the mean number of the ten best molecules found)."""
    others: Sequence[Player]
    """Players to compare with, random choice first."""

    def luck(self, player: Player) -> float:
        """Return the share of shuffles of the values in which a player differs as much from random choice.

        If values are unrelated to structures, each choice of a player is a random draw from the remaining molecules.
        Therefore the choices are kept and the values are shuffled among the molecules, for all starts at once, since
        starts that measure the same molecules share their luck. Differences of the same sign are counted.

        Args:
            player: the player.
        """
        rewards, budget, start = self.table.rewards, self.table.budget, self.table.start
        threshold = np.partition(rewards, -TOP)[-TOP]
        above, equal = rewards > threshold, rewards == threshold
        best = above + equal * ((TOP - above.sum()) / equal.sum())
        shares = np.minimum(np.arange(budget, 0, -1), budget - start) / (budget - start)
        weights = np.zeros(len(rewards))
        for sign, orders in ((1, player.orders), (-1, self.others[0].orders)):
            for order in orders:
                weights[order] += sign * shares / len(orders)
        generator = np.random.default_rng(0)
        drawn = np.array([weights @ generator.permutation(best) for _ in range(SHUFFLES)])
        observed, rounding = weights @ best, 1e-9
        as_much = min((drawn >= observed - rounding).sum(), (drawn <= observed + rounding).sum())
        return float((1 + as_much) / (1 + SHUFFLES))


def summarize(
    table: Table, seed: int, plays: Mapping[Task, NDArray[np.int64]], advisors: Sequence[Task], others: Sequence[Task]
) -> Summary:
    """Compare plays.

    Args:
        table: the table.
        seed: seed of the backtest.
        plays: measured molecules of each player from each start, in order.
        advisors: agents and batches, with any start.
        others: players to compare with. Random choice is added first.
    """
    several = len({task.batch for task in (*advisors, *others)}) > 1
    starts = [task.start for task in plays if task.player == RANDOM]
    by_chance = table.count_best(np.stack([random_order(len(table.values), seed, start) for start in starts]))

    def player(task: Task) -> Player:
        label = f"{task.player}, batches of {task.batch}" if several and task.player != RANDOM else task.player
        orders = np.stack([plays[task._replace(start=start)] for start in starts])
        found = table.count_best(orders).astype(np.float64)
        needed = np.argmax(by_chance >= found[:, -1:], axis=1) + 1.0
        return Player(label, orders, found, found[:, table.start :].mean(axis=1), needed)

    best_first = sorted(map(player, advisors), key=lambda player: -player.scores.mean())
    return Summary(table, best_first, [*map(player, (Task(RANDOM, 1, 0), *others))])


def verdicts(summary: Summary) -> list[list[str]]:
    """Return a verdict and its reason for each agent, compared with random choice, the best agent first."""
    said = list[list[str]]()
    for player in summary.advisors:
        gain, luck = interval(player.scores - summary.others[0].scores), summary.luck(player)
        headlines = {
            "It would have helped.": gain.low > 0 and luck <= RARE,
            "It would have done harm: random choice knew more of the ten best.": gain.high < 0 and luck <= RARE,
            "It would not have helped, as far as the data show: the difference may be luck.": True,
        }
        who = f"{player.label}: " * (len(summary.advisors) > 1)
        reasons = [
            f"The average difference from random choice is {gain.text(2, '+')} of the ten best known. Of {SHUFFLES:,} "
            f"shuffles of the values among the molecules, {100 * luck:.2g} % give as large a difference. More than "
            f"{100 * RARE:g} % counts as luck.",
        ]
        said.append([who + next(text for text, holds in headlines.items() if holds), *reasons])
    return said


def rows(summary: Summary) -> list[tuple[str, ...]]:
    """Return a table of texts: names of columns, and a row for each player, agents first."""
    table: list[tuple[str, ...]] = [("player", "ten best found", "known on average", "random choice needs")]
    for each in (*summary.advisors, *summary.others):
        counts = interval(each.found[:, -1]).text(), interval(each.scores).text(), interval(each.needed).text(0)
        table.append((each.label, *counts))
    return table


def progress_figure(summary: Summary) -> Figure:
    """Draw the number of the ten best molecules found against the number of measurements, random choice in grey."""
    styles, begin = cycle((color, dash) for dash in DASHES for color in COLORS), summary.table.start
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=SHAPE, layout="constrained")
        axes = figure.subplots()
        for player in (*summary.advisors, *summary.others):
            color, dash = (GREY, "-") if player is summary.others[0] else next(styles)
            measured = np.arange(begin, summary.table.budget + 1)  # all start with the same random measurements
            mean, low, high = interval(player.found[:, begin - 1 :])
            axes.plot(measured, mean, dash, color=color, lw=2.2, label=player.label)
            axes.fill_between(measured, low, high, color=color, alpha=0.15, lw=0)
        axes.set(xlabel="measurements", ylabel="of the ten best molecules, found", ylim=(-0.3, TOP + 0.3))
        axes.margins(x=0)
        figure.legend(loc="outside lower center", ncols=2)
    return figure


def render_page(summary: Summary, settings: BacktestSettings, notes: Sequence[str]) -> str:
    """Render a self-contained HTML page.

    Args:
        summary: the compared plays.
        settings: settings of the command.
        notes: remarks, for people.
    """
    return (
        templates("graph_bandit_campaign.backtest")
        .get_template(PAGE)
        .render(
            table=summary.table,
            settings=settings,
            notes=notes,
            verdicts=verdicts(summary),
            rows=rows(summary),
            progress=to_svg(progress_figure(summary)),
            versions=software_versions(),
        )
    )


def print_summary(summary: Summary) -> None:
    """Print the table, verdicts and comparisons of the page."""
    print()
    print_columns(rows(summary))
    print()
    for answer in verdicts(summary):
        print("\n  ".join(answer))
