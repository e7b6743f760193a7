"""`backtest --also`: results of other assays."""

import json

import pytest
from support.molecules import some_molecules
from support.prepared import prepare_in_parts
from support.tables import read, write

from graph_bandit_campaign import BacktestSettings
from graph_bandit_campaign.backtest.table import read_table
from graph_bandit_cli.main import main

MOLECULES = some_molecules(60)
NAMES = [f"m{k}" for k in range(len(MOLECULES))]
VALUES = MOLECULES.targets.tolist()
AGENT, ALONE = "molecule-ucb", "molecule-ucb without other assays"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = zip(NAMES, MOLECULES.smiles, ["", *VALUES[1:]], (-value for value in VALUES), strict=True)
    write("table.csv", [("id", "smiles", "y", "rat"), *rows])
    write_assay()
    return tmp_path


def write_assay(first=0.0):
    rows = [(MOLECULES.smiles[k], 3 * VALUES[k]) for k in range(20, 55)]
    write("rlm.csv", [("smiles", "rlm"), *rows, ("CCCCCCCCO", first)])


def table(folder, *also, path="table.csv", **more):
    return read_table(BacktestSettings(folder / path, folder / "out", maximize="y", also=also, **more))


def backtest(*more):
    flags = "--out out --maximize y --n 8 --starts 5 --budget 18 --start 10 --workers None"
    return main(["backtest", "table.csv", *flags.split(), *more])


def test_results_of_other_assays_are_a_part_of_the_table(folder):
    (rlm,) = table(folder, "rlm.csv").sources
    told = dict(zip(rlm.graphs, rlm.values.tolist(), strict=True))
    assert told == {"CCCCCCCCO": 0.0, **{MOLECULES.smiles[k]: 3 * VALUES[k] for k in range(20, 55)}}
    assert "36 molecules of rlm.csv teach by `rlm`, 35 of them in the pool" in table(folder, "rlm.csv").remarks


def test_a_table_has_another_digest_with_each_set_of_other_assays(folder):
    digests = [table(folder, *also).digest() for also in ((), ("rlm.csv",), ("rlm.csv", "table.csv:rat"))]
    write_assay(first=-20.0)
    digests.append(table(folder, "rlm.csv").digest())
    assert len({*digests}) == 4


def test_molecules_of_the_table_without_a_value_teach_by_their_ids(folder):
    write("ids.csv", [("id", "x"), ("m0", 1.0), ("m1", 2.0)])
    (source,) = table(folder, "ids.csv").sources
    assert source.graphs == [*MOLECULES.smiles[:2]]


def test_a_prepared_pool_learns_what_its_table_does(folder):
    prepare_in_parts(folder / "table.csv", folder / "pool", 32)
    plain, prepared = (table(folder, "rlm.csv", "table.csv:rat", path=path) for path in ("table.csv", "pool"))
    assert prepared.digest() == plain.digest()


@pytest.mark.parametrize("path", ["table.csv", "pool"])
def test_a_copy_of_the_values_is_refused(folder, path):
    prepare_in_parts(folder / "table.csv", folder / "pool", 32)
    (folder / "copy.csv").write_bytes((folder / "table.csv").read_bytes())
    with pytest.raises(ValueError, match="another assay in `copy y`.* all 59 molecules .* are those that are replayed"):
        table(folder, "copy.csv:y", path=path)


def test_page_terminal_and_results_show_agents_with_other_assays_and_without(capsys):
    assert backtest("--also", "rlm.csv", "--also", "table.csv:rat", "--baselines", "similarity") == 0
    printed = capsys.readouterr().out
    with open("out/backtest.html", encoding="utf-8") as file:
        page = " ".join(file.read().split())
    with open("out/backtest.json", encoding="utf-8") as file:
        saved = json.load(file)
    for text in (printed, page):
        assert "36 molecules of rlm.csv teach by `rlm`" in text
        assert "The other assays teach each agent that is not said to be without them." in text
        assert f"{AGENT} knew more of the ten best than {ALONE}: +" in text
    assert {row["player"] for row in read("out/results.csv")} == {AGENT, ALONE, "random", "similarity to the best"}
    assert saved["settings"]["also"] == ["rlm.csv", "table.csv:rat"]
    assert saved["algorithms"].keys() == {AGENT}
    assert backtest("--also", "rlm.csv", "--also", "table.csv:rat", "--baselines", "similarity") == 0
    assert "15 of 15 plays are kept from before." in capsys.readouterr().out
    assert backtest("--also", "rlm.csv") == 1
    assert "another table" in capsys.readouterr().err


def test_an_agent_that_does_not_learn_from_them_is_refused_by_name(folder, capsys):
    assert backtest("--also", "rlm.csv", "--agents", "molecule-ucb", "gnn-ucb") == 1
    assert "Got agent `gnn-ucb`" in capsys.readouterr().err
    assert not (folder / "out").exists()
