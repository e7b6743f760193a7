import pytest

from graph_bandit_cli.main import main


def test_a_pool_that_is_not_there_is_refused_in_one_line(tmp_path, capsys):
    command = ["suggest", str(tmp_path / "pool.csv"), "--maximize", "y", "--out", str(tmp_path / "next.csv")]
    assert main(command) == 1
    printed = capsys.readouterr().err
    assert printed.startswith("graph-bandit: ")
    assert "pool.csv" in printed
    assert printed.count("\n") == 1


def test_the_flags_are_those_of_the_campaigns_settings(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["suggest", "--help"])
    assert stopped.value.code == 0
    printed = capsys.readouterr().out
    for flag in ("--measured", "--maximize", "--minimize", "--smiles", "--agent", "--again"):
        assert flag in printed
