"""Draw molecules in a separate process with a time limit, since RDKit may hang or crash."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress

import msgspec

from graph_bandit_campaign import draw_molecule
from graph_bandit_env.extras import is_installed
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work.worker import open_pool

SIZE, LARGE = (260, 160), (520, 320)  # pixels, without and with scores
PATIENCE = 10.0  # seconds, including the wait for earlier drawings
BOND = re.compile(r"[()=#1]")  # without one, a text such as `NBS` may be a name
NOT_DRAWN = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}"><text x="50%" y="50%" '
    'text-anchor="middle" font-family="sans-serif" font-size="14" fill="#555">not drawn</text></svg>'
).format(*SIZE)


class Drawer:
    """Draws molecules one after the other.

    Args:
        limits: the limits.
    """

    def __init__(self, limits: ServerLimits) -> None:
        self._limits, self._pool = limits, open_pool("rdkit.Chem.Draw")

    def draw(self, smiles: str, scores: Sequence[float] = (), part: str = "") -> str | None:
        """Return a drawing as an SVG file, or None if it fails or exceeds the limits.

        Args:
            smiles: SMILES of the molecule, or the slots of an experiment, as stored by the campaign.
            scores: scores of the atoms, as in `draw_molecule`.
            part: substructure to highlight, as in `draw_molecule`.
        """
        if len(smiles) > self._limits.smiles_characters or not is_installed("rdkit"):
            return None
        if not self._pool.active:  # the process has died between two drawings
            self._pool = open_pool("rdkit.Chem.Draw")
        future = self._pool.schedule(draw_svg, (smiles, scores, part), timeout=self._limits.drawing_seconds)
        try:
            return future.result(PATIENCE)
        except Exception:  # noqa: BLE001 - the process has died or took too long
            return None

    def close(self) -> None:
        """Kill the process."""
        self._pool.stop()
        self._pool.join()


def slots_of(text: str) -> dict[str, str]:
    """Return the entries of an experiment by slot, or an empty dict for a molecule."""
    with suppress(msgspec.DecodeError):
        return msgspec.json.decode(text, type=dict[str, str])
    return {}


def structures_among(slots: Mapping[str, str]) -> list[str]:
    """Return the likely SMILES: texts with a bond, branch or ring, or in a slot with "smiles" in its name."""
    return [text for name, text in slots.items() if text and (BOND.search(text) or "smiles" in name.casefold())]


def draw_svg(smiles: str, scores: Sequence[float], part: str) -> str | None:
    """Return a drawing, or None if it fails. It runs in the process of a `Drawer`."""
    from rdkit.Chem import MolFromSmiles

    try:
        if slots := slots_of(smiles):
            smiles = ".".join(filter(MolFromSmiles, structures_among(slots)))
        return draw_molecule(smiles, LARGE if scores else SIZE, scores, part)
    except Exception:  # noqa: BLE001 - the SMILES is invalid, whichever error RDKit raises
        return None
