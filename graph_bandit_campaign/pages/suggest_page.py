"""The page of a campaign: what to measure next, drawn, and how good the predictions were so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from graph_bandit_campaign.pages.figures import calibration_figure, compared, progress_figure, share_within
from graph_bandit_campaign.pages.neighbours import Neighbour
from graph_bandit_campaign.state import CampaignState, Suggestion
from graph_bandit_lab.reports.pages import templates, to_svg

SIZE = (260, 160)  # pixels of a drawn structure
SMALL = (150, 84)


@dataclass(frozen=True)
class PageContent:
    """What a page shows."""

    target: str
    """Column of the measured values."""
    pool_size: int
    """Molecules to choose from."""
    state: CampaignState
    """Of the campaign, with the suggestions of now as its last round."""
    suggested: tuple[Suggestion, ...]
    """What to measure next."""
    near: Mapping[str, list[Neighbour]]
    """Measured molecules that are most like each suggestion."""
    smiles_of: Mapping[str, str]
    """SMILES of every molecule."""


def render_page(content: PageContent) -> str:
    """Return a page of HTML that needs nothing else."""
    state = content.state
    means = state.means()
    best = (max if state.maximize else min)(means.items(), key=lambda pair: pair[1]) if means else None
    pairs = compared(state)
    now = {one.id for one in content.suggested}
    return (
        templates("graph_bandit_campaign.pages")
        .get_template("suggest.html.jinja")
        .render(
            target=content.target,
            direction="large" if state.maximize else "small",
            pool_size=content.pool_size,
            state=state,
            best=best,
            waiting=[key for key in state.pending if key not in now],
            cards=[
                {
                    "suggestion": one,
                    "smiles": content.smiles_of[one.id],
                    "picture": draw(content.smiles_of[one.id], SIZE),
                    "near": [(n, draw(content.smiles_of[n.id], SMALL)) for n in content.near[one.id]],
                }
                for one in content.suggested
            ],
            progress=to_svg(progress_figure(state, content.target)) if means else "",
            calibration=to_svg(calibration_figure(pairs, content.target)) if pairs else "",
            pairs=pairs,
            within_one=share_within(pairs, 1) if pairs else None,
            within_two=share_within(pairs, 2) if pairs else None,
            versions={name: version(name) for name in ("graph-bandit-env", "torch", "rdkit")},
        )
    )


def draw(smiles: str, size: tuple[int, int]) -> str:
    """Draw a molecule as an `<svg>` element."""
    from rdkit import Chem
    from rdkit.Chem.Draw import rdMolDraw2D

    picture: Any = rdMolDraw2D.MolDraw2DSVG(*size)
    picture.drawOptions().clearBackground = False
    rdMolDraw2D.PrepareAndDrawMolecule(picture, Chem.MolFromSmiles(smiles))
    picture.FinishDrawing()
    text: str = picture.GetDrawingText()
    return text[text.index("<svg") :]
