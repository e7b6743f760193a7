"""Render the page of a campaign: drawings of the molecules to measure next, explanations, and results."""

from __future__ import annotations

from collections.abc import Collection

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from graph_bandit_campaign.model.explanations import Explanation
from graph_bandit_campaign.notebook import SIZE, SMALL, draw_molecule
from graph_bandit_campaign.report.answer import Answer
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.text import percent, short
from graph_bandit_env import MoleculeSet, SlotSet
from graph_bandit_lab.reports import COLORS, STYLE, templates, to_svg
from graph_bandit_lab.storage import software_versions


def render_page(answer: Answer) -> str:
    """Render a self-contained HTML page."""
    state = answer.state
    environment = templates("graph_bandit_campaign.report")
    has_progress = not state.goals and not state.is_class and any(result.round for result in state.measured)
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
                "slots": answer.slots.get(suggestion.id, {}),
                "bill": answer.bill.cells(suggestion.id),
                "explanations": [
                    (name, explanation, _others(answer, suggestion.id, explanation))
                    for name, explanation in answer.explanations_of(suggestion.id).items()
                ],
                "near": [(n, draw_molecule(answer.smiles_of[n.id], SMALL)) for n in answer.near.get(suggestion.id, ())],
            }
            for suggestion in answer.suggested
        ],
        reach=_reach(
            [explanation for explanations in answer.explanations.values() for explanation in explanations.values()]
        ),
        front=[
            (
                key,
                _structure(answer, key, SMALL)["picture"],
                {name: texts[key] for name, texts in answer.results.items()},
            )
            for key in answer.front
        ],
        progress=to_svg(progress_figure(state, answer.target)) if has_progress else "",
        versions=software_versions(),
    )
    return page.replace(" %", "\u00a0%")


def _structure(answer: Answer, identifier: str, size: tuple[int, int] = SIZE) -> dict[str, str]:
    """Return SMILES and picture of a molecule, or the picture of an action. Empty texts for other graphs."""
    smiles = answer.smiles_of.get(identifier, "")
    slots = answer.graphs.slots if isinstance(answer.graphs, SlotSet) else ()
    structures = [slot.name for slot in slots if isinstance(slot.graphs, MoleculeSet)]
    drawn = smiles or ".".join(filter(None, map(answer.slots.get(identifier, {}).get, structures)))
    return {"smiles": smiles, "picture": draw_molecule(drawn, size) if drawn else ""}


def _others(answer: Answer, identifier: str, explanation: Explanation) -> dict[str, float]:
    """Return the results that contribute most to a prediction, except those of similar molecules, which are shown."""
    near = {neighbour.id for neighbour in answer.near.get(identifier, ())}
    return {name: contribution for name, contribution in explanation.main_contributions().items() if name not in near}


def _reach(explanations: Collection[Explanation]) -> tuple[float, float]:
    """Return the ends of the axis for all parts of all explanations, including 0."""
    values = [0.0, *(value for explanation in explanations for value in explanation.parts.values())]
    low, high = min(values), max(values)
    return (low, high) if high > low else (0.0, 1.0)


def progress_figure(state: CampaignState, target: str) -> Figure:
    """Draw every measurement by round, and the best value so far."""
    rounds = np.array([measurement.round for measurement in state.measured])
    values = [measurement.value for measurement in state.measured]
    so_far = [np.nan if (best := state.best(number)) is None else best for number in range(rounds.max() + 1)]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 4.4), layout="constrained")
        axes = figure.subplots()
        shift = np.random.default_rng(0).uniform(-0.14, 0.14, len(values))
        axes.scatter(rounds + shift, values, s=22, color=COLORS[5], alpha=0.7, lw=0, label="measured")
        axes.plot(range(len(so_far)), so_far, "o-", color=COLORS[0], lw=2, label="best so far")
        label = target.replace("$", r"\$")  # otherwise matplotlib reads mathematics
        axes.set(title="Progress", xlabel="rounds suggested so far", ylabel=label)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        axes.set_xlim(-0.5, max(len(so_far) - 0.5, 0.5))
        axes.legend(loc="lower right" if state.maximize else "upper right")
    return figure
