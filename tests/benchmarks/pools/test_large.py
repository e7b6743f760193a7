import pandas as pd
import pytest
from rdkit.Chem import MolFromSmiles
from rdkit.Chem.Crippen import MolLogP
from support.molecules import some_molecules

from benchmarks.pools.large import LargeSettings, main, write_tables


@pytest.fixture
def folder(tmp_path):
    molecules = some_molecules(60)
    table = pd.DataFrame({"smiles": molecules.smiles, "score": molecules.targets})
    table.to_csv(tmp_path / "docking_pool.csv.gz", index=False)
    return tmp_path


def test_both_runs_are_measured(folder, capfd):
    main(["--data", str(folder), "--molecules", "45", "--measured", "5", "--n", "4", "--at-most", "1", "--budget", "9"])
    printed, told = capfd.readouterr()
    assert told.count("45 molecules, 5 measurements") == 2
    assert "the first time" in printed
    assert "above the imports" in printed
    assert "Kept next to the pool: 0 MB." in printed


def test_three_goals_have_three_columns_of_results(folder):
    arguments = write_tables(LargeSettings(data=folder, measured=5, three_goals=True), folder)
    assert [arguments[k + 1] for k, each in enumerate(arguments) if each == "--minimize"] == ["score", "clogp"]
    assert arguments[arguments.index("--require") + 1] == "mw<450"
    pool, results = (pd.read_csv(folder / name, index_col="id") for name in ("pool.csv", "measured.csv"))
    assert list(results.columns) == ["score", "clogp", "area"]
    for name, row in results.iterrows():
        assert row["clogp"] == pytest.approx(MolLogP(MolFromSmiles(pool["smiles"][name])))
