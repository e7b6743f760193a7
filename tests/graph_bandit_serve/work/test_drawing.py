"""Drawing in a process that may die; `test_jobs.py` lets such a process hang and eat memory."""

import os
from contextlib import closing

import pytest

from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work import drawing
from graph_bandit_serve.work.drawing import Drawer


@pytest.fixture
def drawer():
    with closing(Drawer(ServerLimits())) as drawer:
        yield drawer


def test_molecules_are_drawn_and_kept_and_nothing_else(drawer):
    first = drawer.draw("CC(=O)Nc1ccc(O)cc1")
    assert first.startswith("<svg")
    assert ("style=" in first, 'stroke="#FF0000"' in first) == (False, True)
    assert drawer.draw("CC(=O)Nc1ccc(O)cc1") is first
    for smiles in ("", "C(", "\x00", "<script>", "C" * 3_000, "[Xx]"):
        drawn = drawer.draw(smiles)
        assert drawn is None or "script" not in drawn
    assert drawer.draw("CCO").startswith("<svg")


def draw_or_die(pipe):
    """Do as it is told in place of a SMILES."""
    pipe.send("ready")
    while True:
        told, *_ = pipe.recv()
        if told == "die":
            os._exit(11)
        pipe.send(f"<svg>{told}</svg>")


def test_the_next_molecule_is_drawn_after_one_that_does_harm(drawer, monkeypatch):
    monkeypatch.setattr(drawing, "draw_forever", draw_or_die)
    assert drawer.draw("die") is None
    assert drawer.draw("CCO") == "<svg>CCO</svg>"
    process = drawer._process
    assert drawer.draw("die") is None  # and is not tried again
    assert drawer._process is process
