"""The page of a campaign: drawings of the molecules to measure next, and how good the predictions were so far."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from graph_bandit_campaign.pages.answer import Answer
from graph_bandit_campaign.pages.figures import calibration_figure, progress_figure
from graph_bandit_campaign.pages.numbers import percent, short
from graph_bandit_campaign.pages.outcomes import Promises, find_outcomes
from graph_bandit_lab.reports import templates, to_svg

SIZE = (260, 160)  # pixels of a drawn structure
SMALL = (150, 84)
SULFUR, OCHRE = 16, (0.6, 0.47, 0.0)  # RDKit's yellow is hard to read on white


def render_page(answer: Answer) -> str:
    """Return a self-contained HTML page."""
    state = answer.state
    outcomes = find_outcomes(state)
    environment = templates("graph_bandit_campaign.pages")
    environment.filters |= {
        "number": lambda value: short(value, nothing="–"),
        "percent": lambda share: percent(share, space="\u00a0"),
    }
    return environment.get_template("suggest.html.jinja").render(
        answer=answer,
        state=state,
        cards=[
            {
                "suggestion": suggestion,
                "smiles": answer.smiles_of[suggestion.id],
                "picture": draw(answer.smiles_of[suggestion.id], SIZE),
                "bill": answer.bill.lines(suggestion.id),
                "near": [(n, draw(answer.smiles_of[n.id], SMALL)) for n in answer.near[suggestion.id]],
            }
            for suggestion in answer.suggested
        ],
        progress=to_svg(progress_figure(state, answer.target)) if state.measured else "",
        calibration=to_svg(calibration_figure(outcomes, answer.target)) if outcomes else "",
        promises=Promises(outcomes) if outcomes else None,
        versions={name: version(name) for name in ("graph-bandit-env", "torch", "rdkit")},
    )


def draw(smiles: str, size: tuple[int, int]) -> str:
    """Draw a molecule as an `<svg>` element."""
    from rdkit import Chem
    from rdkit.Chem.Draw import rdMolDraw2D

    picture: Any = rdMolDraw2D.MolDraw2DSVG(*size)  # Any: RDKit's stubs declare the options wrongly
    options = picture.drawOptions()
    options.clearBackground = False
    options.updateAtomPalette({SULFUR: OCHRE})
    rdMolDraw2D.PrepareAndDrawMolecule(picture, Chem.MolFromSmiles(smiles))
    picture.FinishDrawing()
    text: str = picture.GetDrawingText()
    return text[text.index("<svg") :]
