import csv
import re

import pytest
from support.molecules import some_molecules
from support.tables import read, write

from graph_bandit_campaign import SuggestSettings
from graph_bandit_cli.main import main

MOLECULES = some_molecules()
NAMES = [f"m{k}" for k in range(len(MOLECULES))]
SMILES = dict(zip(NAMES, MOLECULES.smiles, strict=True))
VALUES = dict(zip(NAMES, MOLECULES.targets.tolist(), strict=True))
AGENT = "molecule-ucb:short_list=20"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("pool.csv", [("id", "smiles"), *SMILES.items()])
    write("results.csv", [("id", "logp"), *((name, VALUES[name]) for name in NAMES[:6])])
    return tmp_path


def append(rows):
    with open("results.csv", "a", newline="") as file:
        csv.writer(file).writerows(rows)


def suggest(*more, out="out.csv", measured=("--measured", "results.csv"), direction="--maximize"):
    code = main(
        ["suggest", "pool.csv", *measured, "--n", "4", direction, "logp", "--out", out, "--agent", AGENT, *more]
    )
    return code, read(out)


def test_a_table_of_suggestions_with_their_reasons(folder, capsys):
    code, rows = suggest()
    assert code == 0
    assert [row["rank"] for row in rows] == ["1", "2", "3", "4"]
    for row in rows:
        assert row["smiles"] == SMILES[row["id"]]
        assert row["id"] not in NAMES[:6]
        assert 0 < float(row["probability_of_beating_best"]) < 1
        assert float(row["standard_deviation"]) > 0
        assert {row[f"nearest_{k}"] for k in (1, 2, 3)} <= set(NAMES[:6])
        assert float(row["nearest_1_logp"]) == pytest.approx(VALUES[row["nearest_1"]], rel=1e-3)
    printed = capsys.readouterr().out
    assert "40 molecules, 6 measurements; best logp so far" in printed


@pytest.mark.parametrize("measured", [("--measured", "few.csv")])
def test_results_that_are_gone_are_missed(folder, measured, capsys):
    suggest()
    write("few.csv", [("id", "logp"), (NAMES[0], 1.0)])
    before = (folder / "out.campaign.json").read_bytes()
    assert suggest(measured=measured)[0] == 1
    assert "Missing: " in capsys.readouterr().err
    assert (folder / "out.campaign.json").read_bytes() == before
    assert suggest("--forget", measured=measured)[0] == 0


def test_a_slip_of_the_pen_is_shown(folder, capsys):
    append([(NAMES[6], 661)])
    suggest()
    assert f"Check {NAMES[6]} (661): far from all other results." in capsys.readouterr().out


def test_results_in_the_pool_alone_are_refused_until_they_are_given_as_results(folder, capsys):
    rows = [(name, SMILES[name], VALUES[name] if name in NAMES[:6] else "") for name in NAMES]
    write("pool.csv", [("id", "smiles", "logp"), *rows])
    command = ["suggest", "pool.csv", "--n", "4", "--maximize", "logp", "--out", "out.csv"]
    assert main(command) == 1
    assert "--measured pool.csv" in capsys.readouterr().err
    assert not (folder / "out.campaign.json").exists()
    assert main([*command, "--measured", "pool.csv"]) == 0
    assert not {row["id"] for row in read()} & set(NAMES[:6])


def test_molecules_outside_the_pool_teach_and_are_not_suggested(folder, capsys):
    _, without = suggest(out="without.csv")
    write("more.csv", [("id", "smiles", "logp"), ("x", "CCCCCCCCCCCCCCCC", 7.0), ("", "OCCO", -1.0)])
    _, rows = suggest(measured=("--measured", "results.csv", "more.csv"))
    printed = capsys.readouterr().out
    assert "best logp so far 7" in printed
    assert "Measured, but not in the pool: OCCO, x." in printed
    assert {row["id"] for row in rows} <= set(NAMES)
    assert [row["predicted_logp"] for row in rows] != [row["predicted_logp"] for row in without]


def test_the_page_draws_every_suggestion_and_needs_nothing_else(folder):
    suggest("--html", "pages/page.html")
    rows = suggest()[1]
    append([(row["id"], VALUES[row["id"]]) for row in rows])
    suggest("--html", "pages/page.html")
    page = (folder / "pages" / "page.html").read_text()
    assert page.count('class="structure"') == 4
    assert "Of 4 results that were predicted" in page
    assert "their 90&nbsp;% intervals" in page
    assert "Round 2" in page
    assert "Predictions of logp against results" in page
    assert not re.search(r'(src|href)="http', page)


def test_names_are_escaped_on_the_page(folder):
    write("pool.csv", [("id", "smiles"), *((f"<b>{name}", text) for name, text in SMILES.items())])
    write("results.csv", [("id", "logp"), ("<b>m0", 1.0)])
    suggest("--html", "page.html")
    assert "<b>m" not in (folder / "page.html").read_text()


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (lambda: write("results.csv", [("id", "logp"), ("m0", "high")]), "line 2: expected a number"),
        (lambda: write("results.csv", [("id", "logp"), ("mm", 1.0)]), "the pool has no `mm`"),
        (lambda: write("results.csv", [("id", "logp")]), "at least one value in column `logp`"),
        (lambda: write("results.csv", [("id", "other"), ("m0", 1)]), "It has id, other"),
        (lambda: write("pool.csv", [("id", "smiles"), ("a", "nonsense")]), "line 2: RDKit reads no molecule"),
        (lambda: write("pool.csv", [("id", "structure"), ("a", "C")]), "Expected a column `smiles`"),
        (lambda: write("out.campaign.json", [("{", "}")]), "to be the file of a campaign"),
    ],
)
def test_bad_input_is_told_and_nothing_is_changed(folder, prepare, message, capsys):
    suggest()
    prepare()
    before = {name: (folder / name).read_bytes() for name in ("out.csv", "out.campaign.json")}
    assert suggest()[0] == 1
    assert message in capsys.readouterr().err
    assert {name: (folder / name).read_bytes() for name in before} == before


def test_refuses_settings_that_make_no_sense(tmp_path):
    given = {"pool": tmp_path / "pool.csv", "out": tmp_path / "out.csv"}
    for settings, message in (
        ({}, "either `--maximize COLUMN` or"),
        ({"maximize": "a", "minimize": "a"}, "goals of different names"),
        ({"maximize": "a", "n": 0}, "`--n` to be at least 1"),
        ({"maximize": "a", "workers": -1}, "`--workers` to be at least 0"),
        ({"maximize": "a", "measured": (tmp_path / "out.csv",)}, "`--out` to differ from"),
        ({"maximize": "a", "html": tmp_path / "out.csv"}, "`--html` to differ from"),
    ):
        with pytest.raises(ValueError, match=message):
            SuggestSettings(**given, **settings)
