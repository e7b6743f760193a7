"""Show a backtest, as a page and in the terminal, in the same sentences and tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from graph_bandit_campaign.backtest.settings import BacktestSettings
from graph_bandit_campaign.backtest.summary import RARE, SHUFFLES, Curves, Floats, Interval, Summary, interval
from graph_bandit_campaign.backtest.table import TOP, Table
from graph_bandit_lab.reports import COLORS, DASHES, STYLE, print_columns, templates, to_svg
from graph_bandit_lab.storage import software_versions

SHOWN = ("graph-bandit-env", "torch", "rdkit")  # whose versions the page names
GREY = "#7A7A7A"  # random choice
WIDE = (12.4, 4.8)  # inches
MANY_TIES = 2 * TOP  # so many molecules that share the tenth best value leave little to find


def interval_text(interval: Interval, digits: int = 1, sign: bool = False) -> str:
    """Write a mean and its 95 % interval."""
    form = f"{'+' if sign else ''}.{digits}f"
    mean, low, high = (f"{round(number, digits) + 0.0:{form}}" for number in interval)  # + 0.0: without -0.0
    return f"{mean} ({low} to {high})"


def good_text(table: Table) -> str:
    """Name the good molecules; empty if they are the ten best."""
    return f"{table.good} best (5 %)" if table.good > TOP else ""


def verdicts(summary: Summary) -> list[list[str]]:
    """Say of each agent whether it would have helped, compared with random choice, and why; the best agent first."""
    order = sorted(summary.advisors, key=lambda player: -player.scores.mean())
    return [_verdict(summary, player, f"{player.label}: " if len(order) > 1 else "") for player in order]


def _verdict(summary: Summary, player: Curves, who: str) -> list[str]:
    table, random = summary.table, summary.random
    gain, good = interval(player.scores - random.scores), interval(player.good - random.good)
    if table.good == TOP:  # a small table: the best 5 % are among the ten best
        good = gain
    ties = int((table.values == table.tenth_best).sum())
    luck, luck_good = summary.luck(player, TOP, at_end=False), summary.luck(player, table.good, at_end=True)
    rare, rare_good = luck <= RARE, luck_good <= RARE and good is not gain
    if gain.low > 0 and rare:
        headline = "It would have helped."
    elif gain.high < 0 and rare:
        headline = "It would have done harm: random choice knew more of the ten best."
    elif good.low > 0 and rare_good:
        headline = "It would have helped to find good molecules; whether the very best ones too cannot be told."
    elif good.high < 0 and rare_good:
        headline = "It would have done harm: random choice found more good molecules."
    elif ties >= MANY_TIES:
        headline = "Whether it would have helped cannot be told: the ten best are tied with others."
    else:
        headline = "It would not have helped, as far as can be told: the difference may be luck."
    reasons = [
        f"Within {table.budget} measurements, {player.at_end.mean():.1f} of the ten best molecules were found, and "
        f"{random.at_end.mean():.1f} by random choice. Averaged over the measurements after the start, the difference "
        f"is {interval_text(gain, 2, sign=True)}. If the values were shuffled among the molecules, "
        f"{100 * luck:.2g} % of {SHUFFLES:,} shuffles would give as much; more than {100 * RARE:g} % counts as luck.",
    ]
    if ties >= MANY_TIES:
        reasons.append(
            f"{ties:,} of {len(table.values):,} molecules share the tenth best value, {table.tenth_best:g}, and "
            "each of them can be one of the ten best, so random choice finds such ones soon. If the value is a bound, "
            "such as >8, only exact values can tell these molecules apart."
        )
    if good is not gain:
        reasons.append(
            f"Of the {good_text(table)}, {player.good.mean():.1f} were found, and {random.good.mean():.1f} by random "
            f"choice. The difference is {interval_text(good, sign=True)}, which {100 * luck_good:.2g} % of "
            "the shuffles would give."
        )
    if gain.low > 0 or good.low > 0:
        needed = interval_text(interval(player.as_many), 0)
        reasons.append(f"Random choice would have needed {needed} measurements to find as many of them.")
    return [who + headline, *reasons]


def comparisons(summary: Summary) -> list[str]:
    """Compare the best agent with everything else but random choice."""
    best, sentences = summary.best, []
    for other in (*summary.advisors, *summary.others[1:]):
        if other is best:
            continue
        gain = interval(best.scores - other.scores)
        if gain.low > 0:
            word = "knew more of the ten best than"
        elif gain.high < 0:
            word = "knew fewer of the ten best than"
        else:
            word = "cannot be told from"
        sentences.append(f"{best.label} {word} {other.label}: {interval_text(gain, 2, sign=True)} on average.")
    return sentences


def reliability(summary: Summary) -> list[str]:
    """Say of each agent that predicts how many molecules were promised to beat the best so far, and how many did."""
    return [
        f"{player.label}: of {count:,} suggested molecules, {promised:.1f} were promised to beat the best value "
        f"measured before their batch (the sum of the probabilities), and {came} did."
        for player in summary.advisors
        for count, promised, came in [player.forecasts]
        if count
    ]


def rows(summary: Summary) -> list[tuple[str, ...]]:
    """Return a table in words: names of columns, and a row for each player, agents first."""
    good, rows = good_text(summary.table), []
    for player in (*summary.advisors, *summary.others):
        cells = {"player": player.label}
        cells["ten best found"] = interval_text(interval(player.at_end))
        cells["known on average"] = interval_text(interval(player.scores))
        if good:
            cells[f"{good} found"] = interval_text(interval(player.good))
        cells["random choice needs"] = interval_text(interval(player.as_many), 0)
        rows.append(cells)
    return [tuple(rows[0]), *(tuple(cells.values()) for cells in rows)]


def lines_of(summary: Summary) -> dict[str, tuple[str, str]]:
    """Give each player a colour and a dash: agents first, random choice in grey."""
    players = [player.label for player in (*summary.advisors, *summary.others[1:])]
    styles = [(color, dash) for dash in DASHES for color in COLORS]
    return dict(zip(players, cycle(styles), strict=False)) | {summary.random.label: (GREY, "-")}


def progress_figure(summary: Summary, target: str) -> Figure:
    """Draw the best value and how many of the ten best were found, against the number of measurements."""
    lines = lines_of(summary)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=WIDE, layout="constrained")
        left, right = figure.subplots(1, 2)
        for player in (*summary.advisors, *summary.others):
            _draw(left, summary, player, player.best, lines[player.label])
            _draw(right, summary, player, player.top_found, lines[player.label])
        left.set(title="Best value found", ylabel=target.replace("$", r"\$"))
        right.set(title="Of the ten best molecules, found", ylabel="molecules", ylim=(-0.3, TOP + 0.3))
        for axes in (left, right):
            axes.set_xlabel("measurements")
            axes.margins(x=0)
        handles, labels = left.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels) if len(labels) <= 5 else 3)
    return figure


def _draw(axes: Axes, summary: Summary, player: Curves, curves: Floats, line: tuple[str, str]) -> None:
    """Draw a mean over starts with its 95 % band; all players share the random measurements before it."""
    begin, (color, dash) = summary.table.start, line
    measured = np.arange(begin, curves.shape[1] + 1)
    mean, low, high = interval(curves[:, begin - 1 :])
    axes.plot(measured, mean, dash, color=color, lw=2.2, label=player.label)
    axes.fill_between(measured, low, high, color=color, alpha=0.15, lw=0)


def render_page(summary: Summary, settings: BacktestSettings, notes: Sequence[str]) -> str:
    """Return a self-contained HTML page.

    Args:
        summary: the plays, compared.
        settings: settings of the command.
        notes: remarks, for people.
    """
    versions = software_versions()
    return (
        templates("graph_bandit_campaign.backtest")
        .get_template("backtest.html.jinja")
        .render(
            summary=summary,
            table=summary.table,
            settings=settings,
            notes=notes,
            verdicts=verdicts(summary),
            comparisons=comparisons(summary),
            reliability=reliability(summary),
            rows=rows(summary),
            lines=lines_of(summary),
            progress=to_svg(progress_figure(summary, settings.target)),
            versions={name: versions[name] for name in SHOWN},
        )
    )


def print_summary(summary: Summary) -> None:
    """Print what the page says: table, verdict and comparisons."""
    print()
    print_columns(rows(summary))
    print()
    for answer in verdicts(summary):
        print("\n  ".join(answer))
    for sentence in [*comparisons(summary), *reliability(summary)]:
        print(sentence)
