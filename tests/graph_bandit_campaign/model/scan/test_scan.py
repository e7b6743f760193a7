"""What is wrong with a pool is told in the same words, whichever worker finds it first."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.molecules import some_molecules

from graph_bandit_campaign import Limits
from graph_bandit_campaign.model.scan import passes, scan
from graph_bandit_campaign.model.scan.spares import SOUND, Spare
from graph_bandit_campaign.pool.prepared import PrepareSettings, prepare
from graph_bandit_cli.main import main

SMILES = some_molecules(40).smiles


@pytest.mark.parametrize("last_first", [False, True])
def test_the_first_bad_cell_of_the_table_is_told(last_first, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(PrepareSettings, "block", 8)
    cells = ["cheap" if k in (13, 14, 37) else "2" for k in range(40)]
    rows = [f"{text},{cell}" for text, cell in zip(SMILES, cells, strict=True)]
    (tmp_path / "pool.csv").write_text("\n".join(["smiles,price", *rows]) + "\n")
    prepare(PrepareSettings(tmp_path / "pool.csv", tmp_path / "pool", part_rows=8, workers=None))
    original = passes.results_of
    if last_first:
        monkeypatch.setattr(passes, "results_of", lambda *given: (each for each in reversed(list(original(*given)))))
    command = ["suggest", str(tmp_path / "pool"), "--maximize", "y", "--price", "price", "--workers", "None"]
    assert main([*command, "--out", str(tmp_path / "out.csv")]) == 1
    assert "pool.csv, line 15: " in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("priced", [True, False])
def test_molecules_without_a_price_are_counted_among_those_that_meet_the_limits(priced, tmp_path, monkeypatch, capsys):
    """Of 40 molecules every fourth has no price; of these, every second is in stock."""
    monkeypatch.setattr(PrepareSettings, "block", 8)
    rows = [f"{text},{'' if k % 4 == 0 else 2},{'yes' if k % 8 < 4 else 'no'}" for k, text in enumerate(SMILES)]
    (tmp_path / "pool.csv").write_text("\n".join(["smiles,price,stock", *rows]) + "\n")
    prepare(PrepareSettings(tmp_path / "pool.csv", tmp_path / "pool", part_rows=8, workers=None))
    command = ["suggest", str(tmp_path / "pool"), "--maximize", "y", "--only", "stock=yes", "--workers", "None"]
    command += ["--price", "price"] if priced else []
    assert main([*command, "--out", str(tmp_path / "out.csv")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (" 5 have no known price" in said) == priced
    assert ("no known price" in said) == priced


FAILS = {"CCO": 0.1, "CCN": 0.9, "CCC": 0.5, "CCCCCCCCCCCC": 0.2}


def make_tests(last=None, full=frozenset(), learns=True):
    block = SimpleNamespace(smiles=list(FAILS), places=np.array([(1, row) for row in range(4)]))
    judge = SimpleNamespace(probability=lambda texts: np.array([FAILS[text] for text in texts]))
    asked = SimpleNamespace(judge=judge if learns else None, likely=0.5, last=last)
    return scan._Tests(block, Limits(["mw<100"]), asked, full)


@pytest.mark.parametrize(
    ("given", "sound", "may_come"),
    [
        ({}, [1, 0, 1, 0], [1, 0, 1, 0]),
        ({"last": Spare(0.9, 1, 1)}, [1, 0, 1, 0], [1, 1, 1, 0]),
        ({"last": Spare(0.9, 1, 0)}, [1, 0, 1, 0], [1, 0, 1, 0]),
        ({"learns": False}, [1, 1, 1, 0], [1, 1, 1, 0]),
        ({"full": frozenset({""})}, [0, 0, 0, 0], [0, 0, 0, 0]),
    ],
)
def test_what_is_likely_to_fail_comes_only_where_it_has_to_come_back(given, sound, may_come):
    assert make_tests(**given).is_sound(np.arange(4)).tolist() == sound
    assert make_tests(**given).may_come(np.arange(4)).tolist() == may_come


def test_molecules_that_may_come_back_are_told_with_their_group_and_whether_they_can_be_paid():
    tests = make_tests()
    offers = SimpleNamespace(prices=np.array([3.0, 9.0, 2.0, 1.0]), groups=["x", "", "y", "z"])
    tests.asked.money = 5.0
    assert [*scan._list_spares(tests.block, offers, np.arange(4), tests, tests.asked)] == [
        Spare(SOUND, 1, 0, "x", True),
        Spare(0.9, 1, 1, "", False),
        Spare(SOUND, 1, 2, "y", True),
    ]
