"""Write how far a run or a sweep is, for a terminal."""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Sequence

import pandas as pd

from graph_bandit_lab.analysis.standing import Block, Standing
from graph_bandit_lab.analysis.statistics import summarize
from graph_bandit_lab.formats import MISSING, format_count, format_duration, format_interval
from graph_bandit_lab.reports.columns import print_columns

STATES = {
    "played": "Playing",
    "finished": "Finished",
    "stopped": "Stopped before its end",
    "begun": "A process plays here, and has not stored its plan. Stored",
    "unknown": "Nobody plays, and no plan is stored. Stored",
}


def lines_of_standing(standing: Standing, width: int | None = None, height: int | None = None) -> list[str]:
    """Return the lines that show how far a run or a sweep is: its title, its counts, and a table.

    Args:
        standing: of `analysis.stand`.
        width: characters of a line; None: as many as there are.
        height: number of lines. The environments that were played last are shown, one at least; None: all.
    """
    text = [part for line in _describe(standing) for part in (textwrap.wrap(line, width) if width else [line])]
    shown = list(standing.blocks)
    if height is not None:
        shown = _choose_blocks(shown, height - len(text) - 3)  # a blank line, the header, and what is left out
    left_out = len(standing.blocks) - len(shown)
    table = io.StringIO()
    if shown:
        print_columns(_table_of(shown), table, width)
    below = [f"... and {left_out} more environment{'s' * (left_out > 1)}"] * bool(left_out)
    return [*text, "", *table.getvalue().splitlines(), *below]


def _describe(standing: Standing) -> list[str]:
    """Return title and counts, a line each."""
    of_all = "" if standing.planned is None else f" of {standing.planned:,}"
    others = {"diverged": standing.diverged, "failed": standing.failed}
    counts = "".join(f", {count:,} {status}" for status, count in others.items() if count)
    lines = [standing.title] * bool(standing.title)
    lines.append(f"{STATES[standing.state]}: {standing.done:,}{of_all} repetitions{counts}.")
    if standing.state == "stopped":
        lines[-1] += " The same command goes on from there."
    ago = "" if math.isnan(standing.seconds_since_last) else f"{format_duration(standing.seconds_since_last)} ago"
    if standing.state == "played" and standing.done == standing.planned:
        lines.append("All are stored; some may be played again.")
    elif standing.state == "played" and math.isnan(standing.per_minute):
        lines.append(f"It was begun {ago}, and none has been stored since.")
    elif standing.state == "played":
        left = "" if math.isnan(standing.seconds_left) else f", about {format_duration(standing.seconds_left)} left"
        lines.append(f"{standing.per_minute:.1f} a minute{left}; the last was stored {ago}.")
    if standing.state == "played" and not standing.seen:
        lines.append("A driver that was killed is not noticed: you may not open its lock, driver.lock.")
    if standing.elsewhere:
        lines.append(f"{standing.elsewhere:,} repetitions of other runs or sweeps are stored here, too.")
    if standing.damaged:
        lines.append(f"{standing.damaged:,} repetitions are damaged, and left out.")
    return lines


def _choose_blocks(blocks: Sequence[Block], room: int) -> list[Block]:
    """Return the environments that fit into some rows: those with the latest repetitions, in their order.

    At least one is returned.
    """
    chosen: set[int] = set()
    for block in sorted(blocks, key=lambda block: -block.latest):
        room -= bool(block.name) + len(block.planned or {repetition.label for repetition in block.repetitions})
        if room < 0 and chosen:
            break
        chosen.add(id(block))
    return [block for block in blocks if id(block) in chosen]


def _table_of(blocks: Sequence[Block]) -> list[tuple[str, ...]]:
    """Return header and rows: for each environment its name, and a row for each agent."""
    rows: list[tuple[str, ...]] = [("agent", "repetitions", "mean R_T [95 % interval]")]
    for block in blocks:
        stored = summarize(pd.DataFrame(block.repetitions)) if block.repetitions else []
        summaries = {summary.label: summary for summary in stored}
        rows += [(block.name, "", "")] * bool(block.name)
        for label in block.planned or summaries:
            summary = summaries.get(label)
            count, mean = (format_count(summary), format_interval(summary)) if summary else ("0", MISSING)
            of_all = f" of {block.planned[label]}" if block.planned else ""
            rows.append((f"{'  ' * bool(block.name)}{label}", f"{count}{of_all}", mean))
    return rows
