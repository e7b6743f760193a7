"""Drawing in a process that may die or hang."""

import os
import time
from contextlib import closing

from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work import drawing
from graph_bandit_serve.work.drawing import Drawer


def test_molecules_are_drawn_and_nothing_else():
    with closing(Drawer(ServerLimits())) as drawer:
        for smiles in ("", "C(", "\x00", "<script>", "C" * 3_000, "[Xx]"):
            assert "script" not in (drawer.draw(smiles) or "")
        assert drawer.draw("CC(=O)Nc1ccc(O)cc1").startswith("<svg")


def draw_or_die(smiles, scores, part):
    """Do as it is told in place of a SMILES."""
    if smiles == "die":
        os._exit(11)
    if smiles == "hang":
        time.sleep(60)
    return smiles


def test_the_next_molecule_is_drawn_after_those_that_do_harm(monkeypatch):
    monkeypatch.setattr(drawing, "draw_svg", draw_or_die)
    with closing(Drawer(ServerLimits(drawing_seconds=0.5))) as drawer:
        drawn = [drawer.draw(smiles) for smiles in ("die", "after death", "hang", "after all")]
    assert drawn == [None, "after death", None, "after all"]
