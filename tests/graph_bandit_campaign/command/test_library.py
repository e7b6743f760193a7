import csv

import pytest
from rdkit import Chem
from rdkit.Chem.rdMolDescriptors import CalcTPSA

from graph_bandit_campaign.command import library
from graph_bandit_cli.main import main
from graph_bandit_env import from_smiles


@pytest.mark.slow
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


@pytest.mark.parametrize("name", ["pool.csv", "measured.csv"])
def test_a_file_of_ones_own_is_not_overwritten_unasked(tmp_path, capsys, monkeypatch, name):
    few = from_smiles(["CCO", "CCN"], targets=[1.0, 2.0])
    monkeypatch.setattr(library, "enumerate_library", lambda reward: few)
    command = ["library", "--out", str(tmp_path), "--measured", "1"]
    assert main(command) == main(command) == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with (tmp_path / name).open("a") as file:
        file.write("mine,CCCC,0.5\n")
    assert main(command) == 1
    assert f"Expected {tmp_path / name} as this command wrote it, or no such file." in capsys.readouterr().err
    assert (tmp_path / name).read_text().endswith("mine,CCCC,0.5\n")
    assert main([*command, "--overwrite"]) == 0
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
