"""What `graph-bandit suggest` says."""

from __future__ import annotations

from collections.abc import Sequence

from graph_bandit_campaign.pages.answer import Answer
from graph_bandit_campaign.pages.numbers import listed, percent, short
from graph_bandit_campaign.tables.books import far_from_others
from graph_bandit_lab.reports import print_columns

CHOICE = " Mean and sd are of every molecule; the choice is among the short list of largest mean + 2 sd."


def print_answer(answer: Answer, remarks: Sequence[str]) -> None:
    """Say what was known and what is suggested.

    Args:
        answer: to print.
        remarks: what people should know of their tables.
    """
    state = answer.state
    parts = [f"{answer.pool_size:,} molecules", f"{len(state.measured):,} measurements", *remarks]
    parts += [f"{len(state.failed)} failed"] * bool(state.failed)
    best = "" if answer.best is None else f"; best {answer.target} so far {short(answer.best[1])}"
    print(f"{', '.join(parts)}{best}.")
    if answer.agent_change:
        print(answer.agent_change)
    if answer.waiting:
        print(
            f"Still without a result, so taken as being measured: {listed(answer.waiting)}. (Write `failed` for those "
            "that will have none; --again suggests again what the tables do not call pending.)"
        )
    for identifier, value in far_from_others(state.means()):
        print(f"Look at {identifier}: {short(value)} is far from all other results.")
    predicts = answer.suggested[0].mean is not None
    choice = CHOICE if predicts else " No predictions: the agent makes none, or no two results differ yet."
    print(f"\nRound {len(state.rounds)}, by {state.agent}.{choice}\n")
    rows: list[tuple[str, ...]] = [("rank", "id", answer.target, "sd", "beats the best")]
    for rank, one in enumerate(answer.suggested, start=1):
        rows.append((str(rank), one.id, short(one.mean), short(one.std), percent(one.probability)))
    print_columns(rows)
