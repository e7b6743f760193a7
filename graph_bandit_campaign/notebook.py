"""Draw molecules, show suggestions and predictions in notebooks, and turn them into tables of pandas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from graph_bandit_campaign.state import Suggestion

if TYPE_CHECKING:
    import pandas as pd

SIZE = (260, 160)  # pixels of a drawn structure
SMALL = (150, 84)
BOND = 22  # pixels, unless a molecule is too large
SULFUR, OCHRE = 16, (0.6, 0.47, 0.0)  # RDKit's yellow is hard to read on white
MOST = 20  # rows that a notebook shows
HELPS, HURTS = (0.55, 0.76, 0.96), (1.0, 0.72, 0.42)  # blue and orange, which all tell apart
LEAST, WRITTEN = 0.1, 4  # of the largest score, from which an atom gets a disc; scores in digits
NUMBERS = ("mean", "std", "low", "high", "probability")
PICTURE = '<div style="background: white; width: max-content">{}</div>'  # dark pages would hide black bonds


class Suggestions(tuple[Suggestion, ...]):
    """A batch of suggestions, the first choice first. Notebooks show it as a table with drawn molecules.

    Args:
        suggestions: the suggestions.
        smiles: SMILES of each, by its id; empty for graphs that are not molecules.
        note: shown in place of an empty batch.
    """

    smiles: Mapping[str, str]
    """SMILES of each suggestion, by its id; empty for graphs that are not molecules."""
    note: str
    """Why there are none, and the best result; empty if there are some."""

    def __new__(
        cls, suggestions: Iterable[Suggestion] = (), smiles: Mapping[str, str] | None = None, note: str = ""
    ) -> Suggestions:
        """Make the tuple."""
        made = super().__new__(cls, suggestions)
        made.smiles, made.note = dict(smiles or {}), note
        return made

    def __repr__(self) -> str:
        return self.note or super().__repr__()

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each suggestion: `id`, `smiles` of molecules, and the numbers of its prediction.

        With several goals, these have the name of the goal behind them, such as `mean_logd`. Only `probability` is then
        also there without a name: that the results are on the front.
        """
        return _to_frame(self, self.smiles)

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.note)}</p>" if self.note else _to_html(self, self.smiles)


class Predictions(dict[str, Suggestion]):
    """Predictions for graphs, by id. Notebooks show the first ones as a table with drawn molecules.

    Args:
        predictions: the predictions.
        smiles: SMILES of each, by its id; empty for graphs that are not molecules.
    """

    smiles: Mapping[str, str]
    """SMILES of each molecule, by its id; empty for graphs that are not molecules."""

    def __init__(self, predictions: Iterable[Suggestion] = (), smiles: Mapping[str, str] | None = None) -> None:
        super().__init__((prediction.id, prediction) for prediction in predictions)
        self.smiles = dict(smiles or {})

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each graph, as `Suggestions.to_frame`."""
        return _to_frame(self.values(), self.smiles)

    def _repr_html_(self) -> str:
        return _to_html(self.values(), self.smiles)


def _to_frame(entries: Iterable[Suggestion], smiles: Mapping[str, str]) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for entry in entries:
        row: dict[str, object] = {"id": entry.id, **({"smiles": smiles[entry.id]} if smiles else {})}
        for goal, forecast in entry.by_goal.items():
            row |= {f"{name}_{goal}": getattr(forecast, name) for name in NUMBERS}
        row |= {name: getattr(entry, name) for name in (NUMBERS[-1:] if entry.by_goal else NUMBERS)}
        rows.append(row)
    frame = pd.DataFrame(rows)
    return frame.astype({name: float for name in frame.columns if name not in ("id", "smiles")})


def _to_html(entries: Iterable[Suggestion], smiles: Mapping[str, str]) -> str:
    """Return a table of the first entries."""
    import pandas as pd

    every = list(entries)
    frame = _to_frame(every[:MOST], smiles).rename(columns=escape)
    cells = {"id": escape, "smiles": lambda text: PICTURE.format(draw_molecule(text, SMALL))}
    with pd.option_context("display.max_colwidth", None):
        table = frame.to_html(escape=False, na_rep="", float_format="{:.4g}".format, formatters=cells)
    more = f"<p>and {len(every) - MOST:,} more; <code>to_frame()</code> has them all</p>" if len(every) > MOST else ""
    return table + more


def draw_molecule(smiles: str, size: tuple[int, int], scores: Sequence[float] = (), part: str = "") -> str:
    """Draw a molecule as an `<svg>` element.

    Args:
        smiles: its SMILES. RDKit may take long over one of thousands of atoms, or crash.
        size: width and height in pixels.
        scores: of each atom, as of `Why.atoms`: blue discs if they are positive, orange ones if negative, as large as
            they are, and the largest in digits. Empty: there are none.
        part: SMARTS of a substructure that is highlighted, and lies in the same way in all drawings; empty: there is
            none.

    Raises:
        ValueError: if there is not one for each atom.
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
    """Return the discs behind atoms as RDKit takes them, and write the largest scores next to their atoms."""
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
