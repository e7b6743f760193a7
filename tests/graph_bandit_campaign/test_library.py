import csv

import pytest

from graph_bandit_cli.main import main
from graph_bandit_env import enumerate_library


def test_the_library_is_a_pool_with_results_to_try(tmp_path, capsys):
    assert main(["library", "--out", str(tmp_path / "demo"), "--property", "tpsa", "--measured", "5"]) == 0
    files = (tmp_path / "demo" / name for name in ("pool.csv", "measured.csv"))
    pool, results = (list(csv.DictReader(file.read_text().splitlines())) for file in files)
    assert len(pool) == 4419
    smiles_of = {row["id"]: row["smiles"] for row in pool}
    library = enumerate_library("tpsa")
    targets = dict(zip(library.smiles, library.targets, strict=True))
    assert len(results) == 5
    for row in results:
        assert float(row["tpsa"]) == pytest.approx(targets[smiles_of[row["id"]]], rel=1e-3)
    assert main(["library", "--out", str(tmp_path / "demo"), "--measured", "0"]) == 1
    assert "from 1 to 4419. Got 0" in capsys.readouterr().err
