"""Print a backtest."""

from __future__ import annotations

from graph_bandit_campaign.backtest.pages import verdict
from graph_bandit_campaign.backtest.summary import Summary
from graph_bandit_lab.reports import print_columns


def print_summary(summary: Summary) -> None:
    """Print what the page says: table, verdict and comparisons."""
    goal, good = verdict.goal_text(summary.goal), verdict.good_text(summary.table)
    head = ["player", "ten best found", "on average"]
    head += [f"{good} found"] * bool(good) + [f"until {goal}", "fewer than random"] * bool(goal)
    listed = [
        (row.label, row.at_end, row.average, *[row.good] * bool(good), *[row.reached, row.fewer] * bool(goal))
        for row in verdict.rows(summary)
    ]
    print()
    print_columns([tuple(head), *listed])
    print()
    for answer in verdict.verdicts(summary):
        print("\n  ".join((answer.headline, *answer.reasons)))
    advice = verdict.advice(summary)
    for sentence in [*([advice] if advice else []), *verdict.comparisons(summary), *verdict.reliability(summary)]:
        print(sentence)
