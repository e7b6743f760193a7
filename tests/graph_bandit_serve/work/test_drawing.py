"""Drawing in a process that may hang, die or eat memory."""

import os
import time

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
        if told == "eat":
            for _ in range(40):
                kept.append(bytearray(os.urandom(1) * 20_000_000))
                time.sleep(0.05)
        pipe.send(f"<svg>{told}</svg>")


@pytest.fixture
def drawer():
    made = []

    def make(**limits):
        made.append(Drawer(ServerLimits(**limits)))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_a_molecule_is_drawn_and_kept(drawer):
    drawer = drawer()
    first = drawer.draw("CC(=O)Nc1ccc(O)cc1")
    assert first.startswith("<svg")
    assert "style=" not in first
    assert 'stroke="#FF0000"' in first
    process = drawer._process
    assert drawer.draw("CC(=O)Nc1ccc(O)cc1") is first
    assert drawer.draw("c1ccccc1") != first
    assert drawer._process is process


def test_what_is_not_a_molecule_is_not_drawn_or_drawn_as_one(drawer):
    drawer = drawer()
    for smiles in ("", "C(", "\x00", "<script>", "C" * 3_000, "[Xx]"):
        drawn = drawer.draw(smiles)
        assert drawn is None or "script" not in drawn
    assert drawer.draw("CCO").startswith("<svg")


@pytest.mark.parametrize("told", ["hang", "die", "eat"])
def test_the_next_molecule_is_drawn_after_one_that_does_harm(told, drawer, monkeypatch):
    monkeypatch.setattr(drawing, "draw_forever", draw_badly)
    drawer = drawer(drawing_seconds=1.5, drawing_bytes=300_000_000)
    drawer.start()
    first = drawer._process.pid
    started = time.monotonic()
    assert drawer.draw(told) is None
    assert time.monotonic() - started < 10
    assert not psutil.pid_exists(first)
    assert drawer.draw("CCO") == "<svg>CCO</svg>"
    assert drawer.draw(told) is None  # and is not tried again
    assert drawer._process.is_alive()
