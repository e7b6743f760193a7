import csv

import pytest

from graph_bandit_cli import main


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--n", "0", "--maximize", "y"], "Expected `--n` to be at least 1. Got 0."),
        ([], "Expected either `--maximize COLUMN` or `--minimize COLUMN`, or several goals. Got none."),
        (["--maximize", "y", "--minimize", "y"], "Expected goals of different names"),
    ],
)
def test_suggest_refuses_what_it_cannot_do_before_anything_is_read(tmp_path, capsys, flags, message):
    with pytest.raises(SystemExit) as stopped:
        main(["suggest", str(tmp_path / "pool.csv"), "--out", str(tmp_path / "out.csv"), *flags])
    assert stopped.value.code == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_pool_that_is_not_there_is_told_in_one_line(tmp_path, capsys):
    flags = ["--out", str(tmp_path / "out.csv"), "--maximize", "y"]
    assert main(["suggest", str(tmp_path / "pool.csv"), *flags]) == 1
    assert capsys.readouterr().err.startswith("graph-bandit: Expected")
    assert not list(tmp_path.iterdir())


def test_suggest_writes_a_table_of_a_first_batch(tmp_path, capsys):
    (tmp_path / "pool.csv").write_text("id,smiles\na,CCO\nb,CCN\nc,CCCl\n", encoding="utf-8")
    flags = [
        "--out",
        str(tmp_path / "out.csv"),
        "--maximize",
        "y",
        "--n",
        "2",
        "--agent",
        "molecule-ucb",
    ]
    assert main(["suggest", str(tmp_path / "pool.csv"), *flags]) == 0
    assert "Round 1" in capsys.readouterr().out
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        assert len({row["id"] for row in csv.DictReader(file)} & {"a", "b", "c"}) == 2


def test_prepare_writes_a_pool_and_says_what_it_holds(tmp_path, capsys):
    (tmp_path / "pool.csv").write_text("id,smiles\na,CCO\nb,CCN\nc,OCC\nd,\n", encoding="utf-8")
    command = ["prepare", str(tmp_path / "pool.csv"), "--out", str(tmp_path / "pool"), "--workers", "None"]
    assert main([*command, "--traits", "morgan", "properties"]) == 0
    told = capsys.readouterr().out
    assert told.endswith(
        "2 molecules in 1 part, named by `id`, 1 rows of equal molecules merged, 1 bad rows left out (bad_rows.csv).\n"
    )
    assert main(command) == 1
    assert (
        "was begun with other --traits (morgan properties). Give the same, choose another --out"
        in capsys.readouterr().err
    )
