"""The words of Python do not reach the command line."""

import pytest

from graph_bandit_campaign import Campaign
from graph_bandit_cli import main
from graph_bandit_cli.measure.words import to_command
from graph_bandit_env import from_smiles

POOL = "id,smiles\na,CCO\nb,CCN\ngraph,CCCl\n"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pool.csv").write_text(POOL, encoding="utf-8")

    def suggest(*more):
        code = main(["suggest", "pool.csv", "--out", "out.csv", "--agent", "random", *more])
        return code, capsys.readouterr().err

    return suggest


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--n", "4"], "Expected `--n` to be no more molecules than are left, 3. Got 4."),
        (["--n", "2", "--at-most", "1", "--per", "scaffold"], None),
        (["--n", "1", "--price", "5", "--budget", "2"], "Expected a budget that pays for a molecule."),
        (["--n", "1", "--most-atoms", "2"], "the molecule has 3 atoms, more than `--most-atoms`, 2."),
        (["--n", "1", "--agent", "ucb1", "--features", "x"], None),
    ],
)
def test_a_refusal_speaks_of_options_and_molecules(run, flags, told):
    code, said = run("--maximize", "y", *flags)
    assert code == (0 if told is None and "--per" in flags else 1)
    assert told is None or told in said
    assert "graph" not in said.removeprefix("graph-bandit:").replace("`graph`", "")
    assert "command line" not in said


def test_another_direction_is_told_as_an_option(run):
    assert run("--maximize", "y", "--n", "1")[0] == 0
    code, said = run("--minimize", "y", "--n", "1")
    assert code == 1
    assert "Expected a campaign with --minimize. " in said
    assert said.endswith("out.campaign.json has --maximize. Use that value, or another --out.\n")


def test_a_file_that_is_no_campaign_is_called_a_file(run, tmp_path):
    (tmp_path / "out.campaign.json").write_text("{", encoding="utf-8")
    assert "out.campaign.json to be the file of a campaign." in run("--maximize", "y")[1]


def test_names_of_the_users_own_and_other_graphs_keep_their_words():
    text = "Expected the id of the pool. Got 'graph 7'. Did you mean `graph`?"
    assert to_command(text, True) == "Expected the id of a molecule of the pool. Got 'graph 7'. Did you mean `graph`?"
    assert to_command(text, False) == text


def test_python_keeps_the_words_of_python():
    with pytest.raises(ValueError, match="`count` to be no more graphs than are left"):
        Campaign(from_smiles(["CCO"])).ask(2)
