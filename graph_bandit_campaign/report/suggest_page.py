"""The page of a campaign: drawings of the molecules to measure next, explanations, and the results so far."""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations

from graph_bandit_campaign.model.reasons import Reason
from graph_bandit_campaign.notebook import SIZE, SMALL, draw_molecule
from graph_bandit_campaign.report.answer import Answer
from graph_bandit_campaign.report.figures import front_figure, progress_figure
from graph_bandit_campaign.text import percent, short
from graph_bandit_lab.reports import templates, to_svg
from graph_bandit_lab.storage import software_versions


def render_page(answer: Answer) -> str:
    """Return a self-contained HTML page."""
    state = answer.state
    environment = templates("graph_bandit_campaign.report")
    environment.filters |= {
        "number": lambda value: short(value, nothing="–"),
        "signed": lambda value: f"{round(value, 2) + 0.0:+.2f}".replace("-", "\N{MINUS SIGN}"),
        "percent": percent,
    }
    page = environment.get_template("suggest.html.jinja").render(
        answer=answer,
        state=state,
        cards=[
            {
                "suggestion": suggestion,
                **_structure(answer, suggestion.id),
                "cells": answer.cells.get(suggestion.id, ""),
                "bill": answer.bill.cells(suggestion.id),
                "reasons": [
                    (name, reason, _others(answer, suggestion.id, reason))
                    for name, reason in answer.reasons_of(suggestion.id).items()
                ],
                "near": [(n, draw_molecule(answer.smiles_of[n.id], SMALL)) for n in answer.near.get(suggestion.id, ())],
            }
            for suggestion in answer.suggested
        ],
        reach=_reach([reason for reasons in answer.reasons.values() for reason in reasons.values()]),
        front=[
            (
                key,
                _structure(answer, key, SMALL)["picture"],
                {name: texts[key] for name, texts in answer.results.items()},
            )
            for key in answer.front
        ],
        figures=_figures(answer),
        versions=software_versions(),
    )
    return page.replace(" %", "\u00a0%")


def _figures(answer: Answer) -> list[tuple[str, str]]:
    """Return figures with what they show: the progress, or the front of each pair of goals."""
    state, figures = answer.state, list[tuple[str, str]]()
    if not state.goals and not state.is_class and any(result.round for result in state.measured):
        figures.append(("Measurements by round and the best so far", to_svg(progress_figure(state, answer.target))))
    for first, second in combinations([goal for goal in state.goals if goal.aim != "limit"], 2):
        picture = to_svg(front_figure(state, first, second, answer.front))
        figures.append((f"Results of {first.name} and {second.name}, and the front", picture))
    return figures


def _structure(answer: Answer, identifier: str, size: tuple[int, int] = SIZE) -> dict[str, str]:
    """Return SMILES and picture of a molecule; empty texts of another graph."""
    smiles = answer.smiles_of.get(identifier, "")
    return {"smiles": smiles, "picture": draw_molecule(smiles, size) if smiles else ""}


def _others(answer: Answer, identifier: str, reason: Reason) -> dict[str, float]:
    """Return the results that add most to a prediction, without those of the similar molecules, which are shown."""
    near = {neighbour.id for neighbour in answer.near.get(identifier, ())}
    return {name: pull for name, pull in reason.main_pulls().items() if name not in near}


def _reach(reasons: Collection[Reason]) -> tuple[float, float]:
    """Return the ends of the axis on which all parts of all reasons are drawn, which holds 0."""
    values = [0.0, *(value for reason in reasons for value in reason.parts.values())]
    low, high = min(values), max(values)
    return (low, high) if high > low else (0.0, 1.0)
