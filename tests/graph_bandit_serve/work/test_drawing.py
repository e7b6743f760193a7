"""Drawing in a process that may die or hang."""

import os
import time
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


def draw_or_die(smiles, scores, part):
    """Do as it is told in place of a SMILES."""
    if smiles == "die":
        os._exit(11)
    if smiles == "hang":
        time.sleep(60)
    return f"<svg>{smiles} {time.monotonic()}</svg>"


def test_the_next_molecule_is_drawn_after_those_that_do_harm(monkeypatch):
    monkeypatch.setattr(drawing, "draw_svg", draw_or_die)
    with closing(Drawer(ServerLimits(drawing_seconds=0.5))) as drawer:
        for harm in ("die", "hang"):
            assert drawer.draw(harm) is None
            drawn = drawer.draw(f"after {harm}")
            assert harm in drawn
            assert drawer.draw(harm) is None  # and is not tried again
            assert drawer.draw(f"after {harm}") is drawn
