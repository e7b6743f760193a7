"""Draw molecules in a process of its own, with limits of time and memory: RDKit may hang, crash or eat all memory."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import TypeAlias

from graph_bandit_campaign import draw_molecule
from graph_bandit_env.extras import is_installed
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work.process import READY, LostProcessError, WorkProcess

SIZE, LARGE = (260, 160), (520, 320)  # pixels; with scores
Key: TypeAlias = tuple[str, tuple[float, ...], str]
STYLE = re.compile(r"\sstyle=(['\"])([^'\"]*)\1")
NOT_DRAWN = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}"><text x="50%" y="50%" '
    'text-anchor="middle" font-family="sans-serif" font-size="14" fill="#555">not drawn</text></svg>'
).format(*SIZE)


class Drawer:
    """Draws molecules one after the other, and keeps the drawings.

    Args:
        limits: the limits.
    """

    def __init__(self, limits: ServerLimits) -> None:
        self._limits, self._lock = limits, threading.Lock()
        self._kept: OrderedDict[Key, str | None] = OrderedDict()
        self._process: WorkProcess | None = None
        self._is_closed = False

    def draw(self, smiles: str, scores: Sequence[float] = (), part: str = "") -> str | None:
        """Return a drawing as an SVG file; None: it cannot be drawn, or not within the limits.

        Args:
            smiles: SMILES of the molecule.
            scores: of each atom, as `draw_molecule` takes them.
            part: substructure that is highlighted, likewise.
        """
        if len(smiles) > self._limits.smiles_characters or not is_installed("rdkit"):
            return None
        key = smiles, tuple(scores), part
        if key in self._kept:
            return self._kept[key]
        if not self._lock.acquire(timeout=2 * self._limits.drawing_seconds):
            return None
        try:
            drawn = self._kept[key] if key in self._kept else self._draw(key)
            self._kept[key] = drawn
            while len(self._kept) > self._limits.drawings:
                self._kept.popitem(last=False)
            return drawn
        finally:
            self._lock.release()

    def start(self) -> None:
        """Start the process, so that the first drawing need not wait for it."""
        if is_installed("rdkit"):
            with self._lock:
                self._open()

    def close(self) -> None:
        """Kill the process, and start none any more."""
        self._is_closed = True
        if self._process is not None:
            self._process.close()

    def _draw(self, key: Key) -> str | None:
        process = self._open()
        if process is None:
            return None
        try:
            drawn = next(iter(process.ask(key, self._limits.drawing_seconds, self._limits.drawing_bytes)))
        except LostProcessError:
            return None
        return drawn if isinstance(drawn, str) else None

    def _open(self) -> WorkProcess | None:
        """Return a process that is ready; None if none starts."""
        process = self._process
        if process is None or not process.is_alive():
            if process is not None:
                process.close()
            process = self._process = WorkProcess(draw_forever, "drawing")
            if self._is_closed:  # since `close` may have seen the one before
                process.close()
        return process if process.start() else None


def draw_forever(pipe: Connection) -> None:
    """Draw what comes through a pipe, until its other end is closed."""
    import rdkit.Chem.Draw  # noqa: F401 - so that it does not count as time of the first drawing

    pipe.send(READY)
    while True:
        try:
            smiles, scores, part = pipe.recv()
        except (OSError, EOFError):
            return
        try:
            drawn: str | None = without_styles(draw_molecule(smiles, LARGE if scores else SIZE, scores, part))
        except Exception:  # noqa: BLE001 - the SMILES is wrong, whatever RDKit calls it
            drawn = None
        pipe.send(drawn)


def without_styles(svg: str) -> str:
    """Return a drawing whose lines and colours are attributes, since pages here allow no styles within elements."""
    return STYLE.sub(lambda match: _to_attributes(match[2]), svg)


def _to_attributes(style: str) -> str:
    pairs = [part.partition(":") for part in style.split(";") if ":" in part]
    return "".join(f' {name.strip()}="{value.strip()}"' for name, _, value in pairs)
