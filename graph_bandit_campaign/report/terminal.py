"""Print the suggestions of `graph-bandit suggest`."""

from __future__ import annotations

from collections.abc import Sequence

from graph_bandit_campaign.report.answer import Answer
from graph_bandit_campaign.text import listed, percent, short
from graph_bandit_lab.reports import print_columns

LONGEST = 24  # characters of a price or group


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
        print("(If one cannot be measured, write `failed` as its result. --again lets them be suggested again.)")
    if not answer.suggested:
        return
    bill, default = answer.bill, f" ({answer.default})" if answer.default else ""
    sd = "The sd is of the true value; the interval of a result also allows for noise."
    sd *= answer.predicts and not state.is_class
    texts = [f"Round {len(state.rounds)}, by {state.agent}{default}.", answer.way, sd]
    print(f"\n{' '.join(filter(None, texts))}\n")
    ranged = {name: [word] for name, word in answer.quantities.ranged.items()}
    names = answer.quantities.forecasts(answer.suggested[0])
    quantities = [cell for name in names for cell in (name, "sd", "90 % interval", *ranged.get(name, ()))]
    quantities.append("on the front" if state.goals else "is a hit" if state.is_class else "beats the best")
    rows: list[tuple[str, ...]] = [("rank", "id", *quantities * answer.predicts, *bill.cells(answer.suggested[0].id))]
    for rank, suggestion in enumerate(answer.suggested, start=1):
        cells: list[str] = []
        for name, forecast in answer.quantities.forecasts(suggestion).items():
            interval = "" if forecast.interval is None else " to ".join(map(short, forecast.interval))
            cells += [short(forecast.mean), short(forecast.std), interval]
            cells += [percent(forecast.probability)] * (name in ranged)
        cells.append(percent(suggestion.probability))
        rest = (
            text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…" for text in bill.cells(suggestion.id).values()
        )
        rows.append((str(rank), suggestion.id, *cells * answer.predicts, *rest))
    for head, by_id in (("entry", answer.cells), ("fails", {key: percent(p) for key, p in answer.fails.items()})):
        if by_id:
            column = [head, *(by_id.get(suggestion.id, "") for suggestion in answer.suggested)]
            rows = [(*row, cell) for row, cell in zip(rows, column, strict=True)]
    print_columns(rows)
    if bill.sentence():
        print(f"\n{bill.sentence()}")
    if answer.outlook is not None:
        print(f"\n{answer.outlook.sentence(answer.target)}")
