"""Drawing in a process that may hang, die or eat memory."""

import os
import time
from contextlib import closing

import psutil
import pytest

from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work import drawing
from graph_bandit_serve.work.drawing import Drawer


def draw_badly(pipe):
    """Do as it is told in place of a SMILES."""
    pipe.send("ready")
    kept = []
    while True:
        told, _ = pipe.recv()
        if told == "hang":
            time.sleep(60)
        if told == "die":
            os._exit(11)
        while told == "eat":
            kept.append(bytearray(os.urandom(1) * 20_000_000))
            time.sleep(0.05)
        pipe.send(f"<svg>{told}</svg>")


def test_molecules_are_drawn_and_kept_and_nothing_else():
    with closing(Drawer(ServerLimits())) as drawer:
        first = drawer.draw("CC(=O)Nc1ccc(O)cc1")
        assert first.startswith("<svg")
        assert ("style=" in first, 'stroke="#FF0000"' in first) == (False, True)
        assert drawer.draw("CC(=O)Nc1ccc(O)cc1") is first
        for smiles in ("", "C(", "\x00", "<script>", "C" * 3_000, "[Xx]"):
            drawn = drawer.draw(smiles)
            assert drawn is None or "script" not in drawn
        assert drawer.draw("CCO").startswith("<svg")


@pytest.mark.parametrize("told", ["hang", "die", "eat"])
def test_the_next_molecule_is_drawn_after_one_that_does_harm(told, monkeypatch):
    monkeypatch.setattr(drawing, "draw_forever", draw_badly)
    with closing(Drawer(ServerLimits(drawing_seconds=1.5, drawing_bytes=300_000_000))) as drawer:
        drawer.start()
        first, started = drawer._process.pid, time.monotonic()
        assert drawer.draw(told) is None
        assert time.monotonic() - started < 10
        assert not psutil.pid_exists(first)
        assert drawer.draw("CCO") == "<svg>CCO</svg>"
        assert drawer.draw(told) is None  # and is not tried again
        assert drawer._process.is_alive()
