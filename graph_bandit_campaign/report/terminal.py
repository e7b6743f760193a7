"""Print the suggestions of `graph-bandit suggest`."""

from __future__ import annotations

from collections.abc import Sequence

from graph_bandit_campaign.report.answer import Answer
from graph_bandit_campaign.text import listed, percent, short
from graph_bandit_lab.reports import print_columns

LONGEST = 24  # characters of a price or group
NARROW = 16  # characters of a slot


def print_answer(answer: Answer, remarks: Sequence[str]) -> None:
    """Print the results so far and the suggestions.

    Args:
        answer: the suggestions.
        remarks: remarks about the tables.
    """
    state, count = answer.state, len(answer.state.measured)
    parts = [f"{answer.pool_size:,} {answer.noun}", f"{count:,} measurement{'s' * (count != 1)}", *remarks]
    parts += [f"{len(state.failed)} failed"] * bool(state.failed)
    best = "" if answer.best is None else f"; best {answer.target} so far {answer.best_text}"
    best = f"; hits so far {len(state.hits)}" if state.is_class else best
    best += f"; on the front so far {listed(answer.front)}" if answer.front else ""
    print(f"{', '.join(parts)}{best}.")
    for note in answer.notes:
        print(note)
    if answer.waiting:
        print("(If a candidate cannot be measured, enter `failed` as its result, or allow it again with --again.)")
    if not answer.suggested:
        return
    bill, default = answer.bill, f" ({answer.default})" if answer.default else ""
    sd = "sd is the uncertainty of the true value. The interval is for a measured result, including noise."
    sd *= answer.predicts and not state.is_class
    texts = [f"Round {len(state.rounds)}, chosen by {state.agent}{default}.", answer.way, sd]
    print(f"\n{' '.join(filter(None, texts))}\n")
    chance = "on the front" if state.goals else "is a hit" if state.is_class else "beats the best"
    rows, ranged = list[list[tuple[str, str]]](), answer.quantities.ranged
    for rank, suggestion in enumerate(answer.suggested, start=1):
        key = suggestion.id
        cells = [("rank", str(rank)), ("id", key)]
        cells += [(name, _short(text, NARROW)) for name, text in answer.slots.get(key, {}).items()]
        for name, forecast in answer.quantities.forecasts(suggestion).items() if answer.predicts else ():
            interval = "" if forecast.interval is None else " to ".join(map(short, forecast.interval))
            cells += [(name, short(forecast.mean)), ("sd", short(forecast.std)), ("90 % interval", interval)]
            cells += [(word, percent(forecast.probability)) for goal, word in ranged.items() if goal == name]
        cells += [(chance, percent(suggestion.probability))] * answer.predicts
        cells += [(name, _short(text)) for name, text in bill.cells(key).items()]
        cells += [("fails", percent(answer.fails.get(key)))] * bool(answer.fails)
        rows.append(cells)
    print_columns([tuple(name for name, _ in rows[0]), *(tuple(text for _, text in row) for row in rows)])
    if bill.sentence():
        print(f"\n{bill.sentence()}")
    if answer.advice is not None:
        print(f"\n{answer.advice.sentence(answer.target)}")


def _short(text: str, most: int = LONGEST) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
