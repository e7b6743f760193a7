"""The program of the guide computes what it says, when the command of the guide runs it."""

import csv
import shlex
import sys
from pathlib import Path

import pytest
from support import ROOT
from support.pages import blocks_of

from graph_bandit_cli.main import main

pytest.importorskip("rdkit")
GUIDE = ROOT / "docs" / "guides" / "building_blocks.md"


def test_the_program_of_the_guide_computes_the_drug_likeness_of_products(tmp_path, monkeypatch):
    from rdkit.Chem import MolFromSmiles
    from rdkit.Chem.QED import qed

    monkeypatch.chdir(tmp_path)
    blocks = blocks_of(GUIDE)
    (program,) = (block.text for block in blocks if block.language == "py")
    (command,) = (block.text for block in blocks if block.text.startswith("graph-bandit screen"))
    Path("score.py").write_text(program, encoding="utf-8")
    assert main(["library", "--products", "--out", "blocks"]) == 0
    words = shlex.split(command)[1:]
    score = words.index("--score") + 1
    assert words[score] == "python score.py"
    words[score] = f'"{Path(sys.executable).as_posix()}" score.py'
    words[words.index("--evaluations") + 1], words[words.index("--n") + 1] = "3", "3"
    assert main(words) == 0
    with open("blocks/scores.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["qed"]) for row in rows] == [qed(MolFromSmiles(row["smiles"])) for row in rows]
    assert len(rows) == 3
