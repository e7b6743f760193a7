"""Print a backtest."""

from __future__ import annotations

from graph_bandit_campaign.backtest.pages import verdict
from graph_bandit_campaign.backtest.summary import Summary
from graph_bandit_lab.reports import print_columns


def print_summary(summary: Summary) -> None:
    """Print what the page says: table, verdict and comparisons."""
    goal = verdict.goal_text(summary.goal)
    print()
    good = f"{summary.table.good} best found"
    head = ("player", "ten best found", "on average", good, f"until {goal}", "fewer than random")
    listed = [(row.label, row.at_end, row.average, row.good, row.reached, row.fewer) for row in verdict.rows(summary)]
    columns = len(head) if goal else 4
    print_columns([row[:columns] for row in (head, *listed)])
    print()
    for each in verdict.verdicts(summary):
        print("\n  ".join((each.headline, *each.reasons)))
    advice = verdict.advice(summary)
    for sentence in [*([advice] if advice else []), *verdict.comparisons(summary), *verdict.reliability(summary)]:
        print(sentence)
