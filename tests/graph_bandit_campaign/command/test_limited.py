"""`suggest` with limits, from the command line to files, page and later rounds."""

import json

import pytest
from rdkit import Chem
from rdkit.Chem.Descriptors import MolWt
from support import ROOT
from support.molecules import some_molecules
from support.tables import read, write

from graph_bandit_campaign import Limits
from graph_bandit_campaign.constraints.limits.properties import PROPERTIES
from graph_bandit_cli.main import main
from graph_bandit_env import from_smiles

MOLECULES = some_molecules(24)
NAMES = [f"m{k}" for k in range(len(MOLECULES))]
SMILES = dict(zip(NAMES, MOLECULES.smiles, strict=True))
VALUES = dict(zip(NAMES, MOLECULES.targets.tolist(), strict=True))
MASS = {name: MolWt(Chem.MolFromSmiles(text)) for name, text in SMILES.items()}
MEDIAN = sorted(MASS.values())[12]
HEAVY, LIGHT = f"mw>{MEDIAN}", f"mw<{MEDIAN}"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("pool.csv", [("id", "smiles", "stock"), *((name, SMILES[name], stock(name)) for name in NAMES)])
    write("results.csv", [("id", "logp"), *((name, VALUES[name]) for name in NAMES[:6])])
    return tmp_path


def stock(name):
    return "yes" if int(name[1:]) % 2 else "no"


def suggest(*more, n=3):
    command = ["suggest", "pool.csv", "--measured", "results.csv", "--n", str(n), "--maximize", "logp"]
    return main([*command, "--out", "out.csv", "--agent", "molecule-ucb:short_list=10", *more])


def suggested():
    return [row["id"] for row in read("out.csv")]


def state():
    with open("out.campaign.json") as file:
        return json.load(file)


def test_only_what_meets_the_limits_is_suggested_and_counts_are_told(folder, capsys):
    assert suggest("--require", LIGHT, "--only", "stock=yes", "--forbid", "[F]", "--html", "out.html") == 0
    assert all(MASS[name] < MEDIAN and stock(name) == "yes" and "F" not in SMILES[name] for name in suggested())
    out = capsys.readouterr().out
    told = next(line for line in out.splitlines() if line.startswith("Limits on 24 molecules: stock=yes leaves 12, "))
    assert told.replace("<", "&lt;") in (folder / "out.html").read_text()
    selection = Limits(require=[LIGHT], only=["stock=yes"], forbid=["[F]"]).select(
        from_smiles(list(SMILES.values())), {"stock": list(map(stock, NAMES))}
    )
    assert told == selection.describe()


def command_apart(fields):
    return {name: value for name, value in fields.items() if name != "command"}


def test_the_same_limits_in_any_order_are_the_same_question_and_others_another(folder):
    assert suggest("--require", LIGHT, "--only", "stock=yes") == 0
    first, before = suggested(), command_apart(state())
    assert suggest("--only", "stock=yes", "--require", f" {LIGHT} ") == 0
    assert (suggested(), command_apart(state())) == (first, before)
    assert suggest("--require", LIGHT) == 0
    assert len(state()["rounds"]) == 2
    assert not set(suggested()) & set(first)


def test_other_cells_in_the_column_are_another_question(folder):
    assert suggest("--only", "stock=yes") == 0
    rows = [(name, SMILES[name], "yes") for name in NAMES]
    write("pool.csv", [("id", "smiles", "stock"), *rows])
    assert suggest("--only", "stock=yes") == 0
    assert len(state()["rounds"]) == 2


def test_results_that_break_a_limit_teach_and_pending_ones_stay_pending(folder):
    assert suggest("--require", LIGHT) == 0
    pending = set(suggested())
    light = {name for name in NAMES if MASS[name] < MEDIAN}
    assert light & set(NAMES[:6])
    assert suggest("--require", HEAVY, "--predictions", "all.csv") == 0
    assert {result["id"] for result in state()["measured"]} == set(NAMES[:6])
    assert pending < set(state()["pending"])
    assert all(MASS[name] > MEDIAN for name in suggested())
    states = {row["id"]: row["state"] for row in read("all.csv")}
    assert {states[name] for name in pending} == {"pending"}


def test_measured_molecules_that_break_a_limit_are_still_known_under_another_id(folder):
    broken = [name for name in NAMES[:6] if MASS[name] < MEDIAN]
    assert suggest("--require", HEAVY) == 0
    renamed = {name: f"new-{name}" for name in broken}
    write("pool.csv", [("id", "smiles", "stock"), *((renamed.get(n, n), SMILES[n], "yes") for n in NAMES)])
    write("results.csv", [("id", "logp"), *((renamed.get(name, name), VALUES[name]) for name in NAMES[:6])])
    assert suggest("--require", HEAVY) == 0


def test_too_few_are_refused_and_nothing_changes(folder, capsys):
    assert suggest("--require", LIGHT) == 0
    before = state(), suggested()
    capsys.readouterr()
    assert suggest("--require", LIGHT, n=12) == 1
    error = capsys.readouterr().err
    free = len([name for name in NAMES[6:] if MASS[name] < MEDIAN and name not in before[1]])
    assert f"Expected at least 12 molecules to suggest. {free} are left" in error
    assert f"{LIGHT} (computed) leaves" in error
    assert (state(), suggested()) == before


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--require", "LogP>3"], "other quantities than the target"),
        (["--only", "logp=3"], "other quantities than the target"),
        (["--require", "mw<"], "Expected a limit such as"),
        (["--require", "mwt<5"], "Did you mean `mw`"),
        (["--only", "shelf=A"], "It has id, smiles, stock"),
        (["--forbid", "alerts.txt"], "not a file"),
        (["--forbid", "[N+"], "RDKit reads no SMARTS"),
        (["--require", "stock<5"], "line 2: expected a number in `stock`. Got 'no'."),
        (["--predictions", "out.csv"], "`--predictions` to differ from all other"),
        (["--predictions", "pool.csv"], "`--predictions` to differ from all other"),
        (["--predictions", "out.campaign.json"], "`--predictions` to differ from all other"),
        (["--require", LIGHT, "--require", HEAVY], "Expected `--require` once"),
    ],
)
def test_bad_limits_are_refused_before_anything_is_written(folder, capsys, more, message):
    try:
        code = suggest(*more)
    except SystemExit as error:  # settings that tyro refuses
        code = error.code
    assert code in (1, 2)
    text = capsys.readouterr()
    assert message in " ".join((text.err + text.out).replace("│", " ").split())
    assert {path.name for path in folder.iterdir() if not path.name.startswith(".")} == {"pool.csv", "results.csv"}


def test_help_and_guide_name_every_property(capsys):
    with pytest.raises(SystemExit):
        main(["suggest", "--help"])
    for text in (capsys.readouterr().out, (ROOT / "docs/guides/limits_and_prices.md").read_text(encoding="utf-8")):
        assert not [name for name in PROPERTIES if name not in text]
