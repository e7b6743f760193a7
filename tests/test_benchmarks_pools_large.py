import pandas as pd

from benchmarks.pools.large import main
from graph_bandit_env import enumerate_library


def test_both_runs_are_measured(tmp_path, capfd):
    molecules = enumerate_library("logp")
    table = pd.DataFrame({"smiles": molecules.smiles, "score": molecules.targets}).iloc[:60]
    table.to_csv(tmp_path / "docking_pool.csv.gz", index=False)
    main(["--data", str(tmp_path), "--molecules", "50", "--measured", "5"])
    printed = capfd.readouterr().out
    assert printed.count("50 molecules, 5 measurements") == 2
    assert "the first time" in printed
    assert "GB" in printed
