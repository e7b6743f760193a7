"""What is wrong with a pool is told in the same words, whichever worker finds it first."""

import pytest
from support.molecules import some_molecules

from graph_bandit_campaign.prepared import PrepareSettings, prepare
from graph_bandit_campaign.streaming import scan
from graph_bandit_cli.main import main

SMILES = some_molecules(40).smiles


@pytest.mark.parametrize("last_first", [False, True])
def test_the_first_bad_cell_of_the_table_is_told(last_first, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(PrepareSettings, "block", 8)
    cells = ["cheap" if k in (13, 14, 37) else "2" for k in range(40)]
    rows = [f"{text},{cell}" for text, cell in zip(SMILES, cells, strict=True)]
    (tmp_path / "pool.csv").write_text("\n".join(["smiles,price", *rows]) + "\n")
    prepare(PrepareSettings(tmp_path / "pool.csv", tmp_path / "pool", part_rows=8, workers=None))
    original = scan.results_of
    if last_first:
        monkeypatch.setattr(scan, "results_of", lambda *given: reversed(list(original(*given))))
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
