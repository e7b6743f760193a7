import pytest

from graph_bandit_cli.main import main

SUGGEST = ["suggest", "pool.csv", "--out", "out.csv"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([*SUGGEST, "--minimize", "a", "b"], "Got a b. Write --minimize a --minimize b."),
        ([*SUGGEST, "--target", "a=1..2", "b=1..2"], "Got a=1..2 b=1..2. Write --target a=1..2 --target b=1..2."),
        (["suggest", "--maximize", "a", "b", "pool.csv", "--out", "x"], "Expected one value after each `--maximize`."),
        (["suggest", "--undo", "pool.csv", "--maximize", "a", "b", "--out", "x"], "Write --maximize a --maximize b."),
    ],
)
def test_several_columns_after_one_option_are_refused_and_the_right_form_is_written_out(args, message, capsys):
    assert main(args) == 1
    assert message in capsys.readouterr().err


def test_a_pool_may_stand_after_the_column_of_a_goal(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["suggest", "--maximize", "a", "no_pool.csv", "--out", "out.csv"]) == 1
    assert "no_pool.csv" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "option"),
    [
        ([*SUGGEST, "--maximize", "a", "--measured", "x.csv", "--measured=y.csv"], "--measured"),
        (["backtest", "table.csv", "--out", "out", "--maximize", "a", "--n", "1", "--n", "8"], "--n"),
        (["backtest", "table.csv", "--out", "out", "--maximize", "a", "--baselines=greedy", "--baselines=forest"],
         "--baselines"),
        (["run", "--out", "out", "--agents", "ucb1", "--agents", "random"], "--agents"),
    ],
)  # fmt: skip
def test_an_option_that_takes_all_its_values_at_once_is_refused_twice(args, option, capsys):
    assert main(args) == 1
    message = f"Expected `{option}` once, with all its values after it: {option} FIRST SECOND. Got it 2 times."
    assert message in capsys.readouterr().err
