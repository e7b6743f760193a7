import csv

import pytest
from rdkit import Chem
from rdkit.Chem.rdMolDescriptors import CalcTPSA

from graph_bandit_cli.main import main


def test_the_library_is_a_pool_with_results_to_try(tmp_path, capsys):
    assert main(["library", "--out", str(tmp_path / "demo"), "--property", "tpsa", "--measured", "5"]) == 0
    files = (tmp_path / "demo" / name for name in ("pool.csv", "measured.csv"))
    pool, results = (list(csv.DictReader(file.read_text().splitlines())) for file in files)
    assert len(pool) == 4419
    smiles_of = {row["id"]: row["smiles"] for row in pool}
    assert len(results) == 5
    for row in results:
        area = CalcTPSA(Chem.MolFromSmiles(smiles_of[row["id"]]))
        assert row["smiles"] == smiles_of[row["id"]]
        assert float(row["tpsa"]) == pytest.approx(area, rel=1e-3)
    assert main(["library", "--out", str(tmp_path / "demo"), "--property", "tpsa", "--measured", "0"]) == 1
    assert "from 1 to 4419. Got 0" in capsys.readouterr().err
