"""Draw molecules, and show suggestions in notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from graph_bandit_campaign.state import Suggestion

SIZE = (260, 160)  # pixels of a drawn structure
SMALL = (150, 84)
BOND = 22  # pixels, unless a molecule is too large
SULFUR, OCHRE = 16, (0.6, 0.47, 0.0)  # RDKit's yellow is hard to read on white
HELPS, HURTS = (0.55, 0.76, 0.96), (1.0, 0.72, 0.42)  # blue and orange, distinguishable for the color-blind
LEAST, WRITTEN = 0.1, 4  # smallest share of the largest score for a disc; number of scores that are printed
NUMBERS = ("mean", "low", "high")
PICTURE = '<div style="background: white; width: max-content">{}</div>'  # dark pages would hide black bonds


class Suggestions(tuple[Suggestion, ...]):
    """A batch of suggestions, first choice first. Notebooks show it as a table with drawn molecules.

    Args:
        suggestions: the suggestions.
        smiles: SMILES of each suggestion, by its id. Empty for graphs that are not molecules.
        note: text that is shown if the batch is empty.
    """

    smiles: Mapping[str, str]
    """SMILES of each suggestion, by its id. Empty for graphs that are not molecules."""
    note: str
    """Explanation of an empty batch, with the best result. Empty if there are suggestions."""

    def __new__(
        cls, suggestions: Iterable[Suggestion] = (), smiles: Mapping[str, str] | None = None, note: str = ""
    ) -> Suggestions:
        """Make the tuple."""
        made = super().__new__(cls, suggestions)
        made.smiles, made.note = dict(smiles or {}), note
        return made

    def __repr__(self) -> str:
        return self.note or super().__repr__()

    def _repr_html_(self) -> str:
        import pandas as pd

        rows = []
        for each in self:
            row: dict[str, object] = {"id": escape(each.id)}
            row |= {"molecule": PICTURE.format(draw_molecule(self.smiles[each.id], SMALL))} if self.smiles else {}
            for goal, forecast in (each.by_goal or {"": each}).items():
                row |= {f"{name} {escape(goal)}".strip(): getattr(forecast, name) for name in NUMBERS}
            rows.append(row | {"probability": each.probability})
        with pd.option_context("display.max_colwidth", None):
            table = pd.DataFrame(rows).to_html(escape=False, na_rep="", float_format="{:.4g}".format)
        return f"<p>{escape(self.note)}</p>" if self.note else table


def draw_molecule(smiles: str, size: tuple[int, int], scores: Sequence[float] = (), part: str = "") -> str:
    """Draw a molecule as an `<svg>` element.

    Args:
        smiles: its SMILES. RDKit may be slow or crash for thousands of atoms.
        size: width and height in pixels.
        scores: score of each atom, from `ExplainedGraph.atoms`. Positive scores are blue discs, negative scores are
            orange. The largest are printed. If empty, none are drawn.
        part: SMARTS of a substructure to highlight and to draw in the same orientation in all drawings, or empty.

    Raises:
        ValueError: if the number of scores is not the number of atoms.
    """
    from rdkit import Chem
    from rdkit.Chem import rdDepictor
    from rdkit.Chem.Draw import rdMolDraw2D

    picture: Any = rdMolDraw2D.MolDraw2DSVG(*size)  # Any: RDKit's stubs declare the options wrongly
    options = picture.drawOptions()
    options.clearBackground = False
    options.fixedBondLength = -1 if scores else BOND
    options.updateAtomPalette({SULFUR: OCHRE})
    molecule = Chem.MolFromSmiles(smiles)
    discs = _discs(molecule, scores) if scores else {}
    pattern = Chem.MolFromSmarts(part) if part else None
    if pattern is not None and molecule.HasSubstructMatch(pattern):
        rdDepictor.Compute2DCoords(pattern)
        rdDepictor.GenerateDepictionMatching2DStructure(molecule, pattern)
        discs = {"highlightAtoms": molecule.GetSubstructMatch(pattern)}
    rdMolDraw2D.PrepareAndDrawMolecule(picture, molecule, **discs)
    picture.FinishDrawing()
    text: str = picture.GetDrawingText()
    return text[text.index("<svg") :]


def _discs(molecule: Any, scores: Sequence[float]) -> dict[str, Any]:
    """Return the discs behind atoms in RDKit's format, and write the largest scores next to their atoms."""
    if len(scores) != molecule.GetNumAtoms():
        raise ValueError(f"Expected a score for each of {molecule.GetNumAtoms()} atoms. Got {len(scores)}.")
    largest = max(map(abs, scores)) or 1.0
    for k in sorted(range(len(scores)), key=lambda k: -abs(scores[k]))[:WRITTEN]:
        molecule.GetAtomWithIdx(k).SetProp("atomNote", f"{scores[k]:+.2f}")
    shown = [k for k, score in enumerate(scores) if abs(score) >= LEAST * largest]
    return {
        "highlightAtoms": shown,
        "highlightBonds": [],
        "highlightAtomColors": {k: HELPS if scores[k] > 0 else HURTS for k in shown},
        "highlightAtomRadii": {k: 0.15 + 0.35 * abs(scores[k]) / largest for k in shown},
    }
