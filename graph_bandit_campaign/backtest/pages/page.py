"""Show a backtest, as a page and in the terminal, in the same sentences and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graph_bandit_campaign.backtest.pages.figures import forecasts_figure, lines_of, progress_figure
from graph_bandit_campaign.backtest.settings import BacktestSettings
from graph_bandit_campaign.backtest.summary import RARE, SHUFFLES, Curves, Interval, Summary
from graph_bandit_campaign.backtest.table import TOP, Table
from graph_bandit_campaign.text import percent
from graph_bandit_lab.reports import print_columns, templates, to_svg
from graph_bandit_lab.storage import software_versions

DASH = "–"
SHOWN = ("graph-bandit-env", "torch", "rdkit")  # whose versions the page names
MANY_TIES = 2 * TOP  # so many molecules that share the tenth best value leave little to find


@dataclass(frozen=True)
class Verdict:
    """Whether an agent would have helped."""

    headline: str
    """The answer in a sentence."""
    reasons: list[str]
    """The numbers that it follows from."""


def interval_text(interval: Interval, digits: int = 1, sign: bool = False) -> str:
    """Write a mean and its 95 % interval."""
    form = f"{'+' if sign else ''}.{digits}f"
    numbers = (interval.mean, interval.low, interval.high)
    mean, low, high = (f"{round(number, digits) + 0.0:{form}}" for number in numbers)  # + 0.0: without -0.0
    return f"{mean} ({low} to {high})"


def goal_text(goal: int) -> str:
    """Name how many of the ten best are to be found."""
    return {TOP: "all ten best", TOP // 2: "five of the ten best", 1: "one of the ten best"}.get(goal, "")


def good_text(table: Table) -> str:
    """Name the good molecules; empty if they are the ten best."""
    return f"{table.good} best (5 %)" if table.good > TOP else ""


def verdicts(summary: Summary) -> list[Verdict]:
    """Say of each agent whether it would have helped, compared with random choice; the best agent first."""
    order = sorted(summary.advisors, key=lambda player: -player.scores.mean())
    return [_verdict(summary, player, f"{player.label}: " if len(order) > 1 else "") for player in order]


def _verdict(summary: Summary, player: Curves, who: str) -> Verdict:
    table, random = summary.table, summary.random
    gain, good = summary.gain(player, random), summary.bootstrap.interval(player.good - random.good)
    if table.good == TOP:  # a small table: the best 5 % are among the ten best
        good = gain
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
    elif table.ties >= MANY_TIES:
        headline = "Whether it would have helped cannot be told: the ten best are tied with others."
    else:
        headline = "It would not have helped, as far as can be told: the difference may be luck."
    reasons = [
        f"Within {table.budget} measurements, {player.at_end.mean():.1f} of the ten best molecules were found, and "
        f"{random.at_end.mean():.1f} by random choice. Averaged over the measurements after the start, the difference "
        f"is {interval_text(gain, 2, sign=True)}. If the values were shuffled among the molecules, "
        f"{100 * luck:.2g} % of {SHUFFLES:,} shuffles would give as much; more than {100 * RARE:g} % counts as luck.",
    ]
    if table.ties >= MANY_TIES:
        reasons.append(
            f"{table.ties:,} of {len(table.values):,} molecules share the tenth best value, {table.tenth_best:g}, and "
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
        needed = interval_text(summary.bootstrap.interval(player.as_many), 0)
        reasons.append(f"Random choice would have needed {needed} measurements to find as many of them.")
    fewer = summary.fewer(player, random)
    if fewer is not None:
        reasons.append(
            f"For {goal_text(summary.goal)} it needed {player.reached[summary.goal].mean():.0f} measurements, "
            f"{interval_text(fewer, 0)} fewer than random choice."
        )
    return Verdict(who + headline, reasons)


def comparisons(summary: Summary) -> list[str]:
    """Compare the best agent with everything else but random choice."""
    best, sentences = summary.best, []
    for other in (*summary.advisors, *summary.others[1:]):
        if other is best:
            continue
        gain = summary.gain(best, other)
        if gain.low > 0:
            word = "knew more of the ten best than"
        elif gain.high < 0:
            word = "knew fewer of the ten best than"
        else:
            word = "cannot be told from"
        text = f"{best.label} {word} {other.label}: {interval_text(gain, 2, sign=True)} on average"
        fewer = summary.fewer(best, other)
        if fewer is not None:
            bound = ", at least, because the other did not reach it from every start"
            bound *= not np.isfinite(other.reached[summary.goal]).all()
            text += f"; {interval_text(fewer, 0)} measurements fewer for {goal_text(summary.goal)}{bound}"
        sentences.append(f"{text}.")
    return sentences


def advice(summary: Summary) -> str:
    """Say which agent served best, and how sure that is; empty if there is only one."""
    if len(summary.advisors) < 2:
        return ""
    wins = summary.wins()
    share = wins[summary.best.label]
    sure = "" if share >= 0.95 else " That is not sure: another choice of starts might name another."
    others = "; ".join(f"{label}: {percent(won)}" for label, won in wins.items() if label != summary.best.label)
    first = f"{summary.best.label} served best here, in {percent(share)} of the draws of the starts ({others})."
    return f"{first}{sure}"


def reliability(summary: Summary) -> list[str]:
    """Say how many molecules were promised to beat the best so far, and how many did."""
    sentences = []
    for label, bins in summary.forecasts.items():
        count, promised, came = (
            sum(getattr(forecast, name) for forecast in bins) for name in ("count", "promised", "came")
        )
        sentences.append(
            f"{label}: of {count:,} suggested molecules, {promised:.1f} were promised to beat the best value measured "
            f"before their batch (the sum of the probabilities), and {came} did."
        )
    return sentences


def rows(summary: Summary) -> list[tuple[str, ...]]:
    """Return a table in words: names of columns, and a row for each player, agents first."""
    interval, good, goal = summary.bootstrap.interval, good_text(summary.table), goal_text(summary.goal)
    rows = []
    for player in (*summary.advisors, *summary.others):
        cells = {"player": player.label}
        cells["ten best found"] = interval_text(interval(player.at_end))
        cells["known on average"] = interval_text(interval(player.scores))
        if good:
            cells[f"{good} found"] = interval_text(interval(player.good))
        if goal:
            reached = player.reached[summary.goal]
            there = np.isfinite(reached)
            from_some = f"from {int(there.sum())} of {summary.starts} starts"
            fewer = None if player is summary.random else summary.fewer(player, summary.random)
            cells[f"measurements until {goal}"] = interval_text(interval(reached), 0) if there.all() else from_some
            cells["fewer than random choice"] = DASH if fewer is None else interval_text(fewer, 0)
        rows.append(cells)
    return [tuple(rows[0]), *(tuple(cells.values()) for cells in rows)]


def render_page(summary: Summary, settings: BacktestSettings, notes: Sequence[str]) -> str:
    """Return a self-contained HTML page.

    Args:
        summary: the plays, compared.
        settings: settings of the command.
        notes: remarks, for people.
    """
    versions = software_versions()
    lines, forecasts = lines_of(summary), summary.forecasts
    return (
        templates("graph_bandit_campaign.backtest.pages")
        .get_template("backtest.html.jinja")
        .render(
            summary=summary,
            table=summary.table,
            settings=settings,
            notes=notes,
            verdicts=verdicts(summary),
            advice=advice(summary),
            comparisons=comparisons(summary),
            reliability=reliability(summary),
            rows=rows(summary),
            goal=goal_text(summary.goal),
            lines=lines,
            progress=to_svg(progress_figure(summary, settings.target)),
            forecasts=to_svg(forecasts_figure(forecasts, lines)) if forecasts else "",
            versions={name: versions[name] for name in SHOWN},
        )
    )


def print_summary(summary: Summary) -> None:
    """Print what the page says: table, verdict and comparisons."""
    print()
    print_columns(rows(summary))
    print()
    for answer in verdicts(summary):
        print("\n  ".join((answer.headline, *answer.reasons)))
    for sentence in filter(None, [advice(summary), *comparisons(summary), *reliability(summary)]):
        print(sentence)
