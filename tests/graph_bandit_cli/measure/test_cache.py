from graph_bandit_cli.main import main
from graph_bandit_env import from_smiles_csv


def test_the_folder_and_its_size_are_shown_and_cleared_when_asked(tmp_path, cache_folder, capsys):
    assert main(["cache"]) == 0
    assert capsys.readouterr().out == f"{cache_folder}: 0 files, 0.0 MB.\n"
    (tmp_path / "pool.csv").write_text("smiles\nCCO\n")
    from_smiles_csv(tmp_path / "pool.csv")
    assert main(["cache"]) == 0
    assert capsys.readouterr().out == f"{cache_folder}: 1 file, 0.0 MB.\n"
    assert len(list(cache_folder.iterdir())) == 1
    assert main(["cache", "--clear"]) == 0
    assert capsys.readouterr().out == f"{cache_folder}: 1 file, 0.0 MB deleted.\n"
    assert list(cache_folder.iterdir()) == []


def test_a_command_that_reads_a_table_names_what_an_earlier_version_left_next_to_it(tmp_path, capsys):
    pool, out = tmp_path / "pool.csv", tmp_path / "out.csv"
    pool.write_text("id,smiles,y\na,C,1\nb,CC,2\nc,CCC,\nd,CCCC,\n")
    (tmp_path / ".pool.csv.traits.npz").write_bytes(b"old")
    command = ["suggest", str(pool), "--measured", str(pool), "--maximize", "y", "--id", "id", "--n", "1"]
    assert main([*command, "--agent", "random", "--out", str(out)]) == 0
    told = capsys.readouterr().err
    expected = "graph-bandit: `.pool.csv.traits.npz` is from an earlier version, is not read, and may be deleted.\n"
    assert told.count(expected) == 1
    assert (tmp_path / ".pool.csv.traits.npz").read_bytes() == b"old"
