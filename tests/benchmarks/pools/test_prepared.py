import pytest
from support.messy import SMILES

from benchmarks.pools.prepared import main


def test_a_preparation_that_is_killed_on_the_way_is_measured(tmp_path, capsys):
    table = tmp_path / "pool.csv"
    rows = [f"m{k},{SMILES[k % len(SMILES)]}" for k in range(5000)]
    table.write_text("id,smiles\n" + "\n".join(rows))
    options = ["--part-rows", "4096", "--workers", "1", "--traits", "roles", "--kills", "1"]
    main([str(table), "--out", str(tmp_path / "out"), *options])
    printed = capsys.readouterr().out
    assert f"{len(set(SMILES))}" in printed
    assert "roles_bins" in printed
    with pytest.raises(ValueError, match="Expected a new folder"):
        main([str(table), "--out", str(tmp_path / "out")])
