"""Draw molecules."""

from __future__ import annotations

from typing import Any

SIZE = (260, 160)  # pixels of a drawn structure
SMALL = (150, 84)
SULFUR, OCHRE = 16, (0.6, 0.47, 0.0)  # RDKit's yellow is hard to read on white


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
