import pandas as pd
import pytest
from support.molecules import some_molecules

from benchmarks.pools.large import main


@pytest.mark.parametrize("options", [["--at-most", "1", "--budget", "9"], ["--three-goals"]])
def test_both_runs_are_measured(options, tmp_path, capfd):
    molecules = some_molecules(60)
    table = pd.DataFrame({"smiles": molecules.smiles, "score": molecules.targets})
    table.to_csv(tmp_path / "docking_pool.csv.gz", index=False)
    main(["--data", str(tmp_path), "--molecules", "50", "--measured", "5", "--n", "4", *options])
    printed = capfd.readouterr().out
    assert printed.count(f"50 molecules, {15 if '--three-goals' in options else 5} measurements") == 2
    assert "the first time" in printed
    assert "GB" in printed
