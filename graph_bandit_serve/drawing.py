"""Draw molecules in a process of its own, with limits of time and memory: RDKit may hang, crash or eat all memory."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections import OrderedDict
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

import psutil

from graph_bandit_campaign import draw_molecule
from graph_bandit_env.extras import is_installed
from graph_bandit_serve.settings import ServerLimits

SIZE = (260, 160)  # pixels
START_SECONDS = 60.0
WATCH_SECONDS = 0.02
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
        self._places = threading.BoundedSemaphore(max(1, limits.requests // 2))  # so that pages find room, too
        self._kept: OrderedDict[str, str | None] = OrderedDict()
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._is_closed = False

    def draw(self, smiles: str) -> str | None:
        """Return a drawing as an SVG file; None: it cannot be drawn, or not within the limits."""
        if len(smiles) > self._limits.smiles_characters or not is_installed("rdkit"):
            return None
        if smiles in self._kept:
            return self._kept[smiles]
        if not self._places.acquire(blocking=False):
            return None
        try:
            if not self._lock.acquire(timeout=2 * self._limits.drawing_seconds):
                return None
            try:
                drawn = self._kept[smiles] if smiles in self._kept else self._draw(smiles)
                self._kept[smiles] = drawn
                while len(self._kept) > self._limits.drawings:
                    self._kept.popitem(last=False)
                return drawn
            finally:
                self._lock.release()
        finally:
            self._places.release()

    def start(self) -> None:
        """Start the process, so that the first drawing need not wait for it."""
        if is_installed("rdkit"):
            with self._lock:
                self._open()

    def close(self) -> None:
        """Kill the process, and start none any more."""
        self._is_closed = True
        self._stop()

    def _stop(self) -> None:
        process, pipe, self._process, self._pipe = self._process, self._pipe, None, None
        if process is not None:
            process.kill()
            process.join()
        if pipe is not None:
            pipe.close()

    def _draw(self, smiles: str) -> str | None:
        try:
            pipe = self._open()
            if pipe is None:
                return None
            pipe.send(smiles)
            if self._wait(pipe):
                drawn = pipe.recv()
                return drawn if isinstance(drawn, str) else None
        except (OSError, EOFError):  # the process has died over it
            pass
        self._stop()
        return None

    def _open(self) -> Connection | None:
        """Return the pipe to a process that is ready; None if none starts."""
        if self._pipe is not None and self._process is not None and self._process.is_alive():
            return self._pipe
        self._stop()
        context = get_context("spawn")
        pipe, other = context.Pipe()
        process = context.Process(target=draw_forever, args=(other,), name="drawing", daemon=True)
        process.start()
        other.close()
        self._pipe, self._process = pipe, process
        try:
            if not self._is_closed and pipe.poll(START_SECONDS) and pipe.recv() == "ready":
                return pipe
        except (OSError, EOFError):  # it has died, or was closed meanwhile
            pass
        self._stop()
        return None

    def _wait(self, pipe: Connection) -> bool:
        """Return whether a drawing came in time, from a process that has not taken too much memory."""
        until = time.monotonic() + self._limits.drawing_seconds
        while not pipe.poll(WATCH_SECONDS):
            if time.monotonic() > until or self._memory() > self._limits.drawing_bytes:
                return False
        return True

    def _memory(self) -> int:
        try:
            return int(psutil.Process(self._process.pid if self._process else None).memory_info().rss)
        except psutil.Error:
            return 0


def draw_forever(pipe: Connection) -> None:
    """Draw what comes through a pipe, until its other end is closed."""
    try:
        import rdkit.Chem.Draw  # noqa: F401 - so that it does not count as time of the first drawing
    finally:
        sys.stderr.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # RDKit says what it does not understand, in letters of others
    pipe.send("ready")
    while True:
        try:
            smiles = pipe.recv()
        except (OSError, EOFError):
            return
        try:
            drawn: str | None = without_styles(draw_molecule(smiles, SIZE))
        except Exception:  # noqa: BLE001 - the SMILES is wrong, whatever RDKit calls it
            drawn = None
        pipe.send(drawn)


def without_styles(svg: str) -> str:
    """Return a drawing whose lines and colours are attributes, since pages here allow no styles within elements."""
    return STYLE.sub(lambda match: _to_attributes(match[2]), svg)


def _to_attributes(style: str) -> str:
    pairs = [part.partition(":") for part in style.split(";") if ":" in part]
    return "".join(f' {name.strip()}="{value.strip()}"' for name, _, value in pairs)
