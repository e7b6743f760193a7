"""`suggest` from the command line: what is not among the golden runs."""

import csv
import json
import re
from pathlib import Path

import pytest
from rdkit import Chem
from rdkit.Chem.Descriptors import MolWt
from support import ROOT
from support.links import make_link
from support.molecules import some_molecules
from support.tables import read, write

from graph_bandit_campaign import SuggestSettings
from graph_bandit_campaign.constraints.limits.requirements import PROPERTIES
from graph_bandit_campaign.report.tables import write_table
from graph_bandit_cli.main import main
from graph_bandit_env.tables import open_table

MOLECULES = some_molecules()
NAMES = [f"m{k}" for k in range(len(MOLECULES))]
SMILES = dict(zip(NAMES, MOLECULES.smiles, strict=True))
VALUES = dict(zip(NAMES, MOLECULES.targets.tolist(), strict=True))
MASS = {name: MolWt(Chem.MolFromSmiles(text)) for name, text in SMILES.items()}
MEDIAN = sorted(MASS.values())[len(MASS) // 2]
KNOWN = NAMES[:6]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_pool(SMILES)
    write("results.csv", [("id", "logp"), *((name, VALUES[name]) for name in KNOWN)])
    return tmp_path


def write_pool(smiles_of, name="pool.csv"):
    write(name, [("id", "smiles"), *smiles_of.items()])


def append(rows):
    with open("results.csv", "a", newline="") as file:
        csv.writer(file).writerows(rows)


def suggest(*more, out="out.csv", measured=("results.csv",), goals=("--maximize", "logp"), agent="molecule-ucb"):
    command = ["suggest", "pool.csv", *(("--measured", *measured) if measured else ()), "--n", "3", *goals]
    return main([*command, "--out", out, "--agent", f"{agent}:short_list=20" if agent != "random" else agent, *more])


def suggested(*more, **settings):
    assert suggest(*more, **settings) == 0
    return [row["id"] for row in read(settings.get("out", "out.csv"))]


def state():
    return json.loads(Path("out.campaign.json").read_text(encoding="utf-8"))


# --- Pools that change


def test_another_pool_is_another_question_and_the_batch_before_stays_pending(folder):
    first = suggested()
    bystander = next(name for name in SMILES if name not in (*first, *KNOWN))
    write_pool({name: text for name, text in SMILES.items() if name != bystander})
    second = suggested()
    assert not set(first) & set(second)
    assert state()["pending"] == [*first, *second]
    assert suggested() == second  # the same question again
    assert len(state()["rounds"]) == 2


def test_a_pending_molecule_that_has_left_the_pool_or_has_a_new_id_stays_pending(folder, capsys):
    gone, renamed, kept = suggested()
    others = {name: text for name, text in SMILES.items() if name not in (gone, renamed)}
    write_pool({**others, "new": SMILES[renamed]})
    second = suggested("--html", "out.html")
    assert state()["pending"] == [gone, "new", kept, *second]
    assert not {gone, "new", kept} & set(second)
    for text in (capsys.readouterr().out, Path("out.html").read_text(encoding="utf-8")):
        assert f"Pending, but no longer in the pool: {gone}." in text


def test_a_pool_that_gives_the_id_of_a_suggestion_to_another_molecule_is_refused(folder, capsys):
    first = suggested()
    before = state()
    write_pool({**SMILES, first[0]: "CCCCCCCCCCO"})
    assert suggest() == 1
    assert re.search(f"`{first[0]}`.*CCCCCCCCCCO", capsys.readouterr().err)
    assert state() == before


def test_results_that_break_a_limit_teach_and_pending_ones_stay_pending(folder):
    pending = set(suggested("--require", f"mw<{MEDIAN}"))
    heavy = suggested("--require", f"mw>{MEDIAN}", "--predictions", "all.csv")
    assert {result["id"] for result in state()["measured"]} == set(KNOWN)
    assert pending < set(state()["pending"])
    assert all(MASS[name] > MEDIAN for name in heavy)
    states = {row["id"]: row["state"] for row in read("all.csv")}
    assert {states[name] for name in pending} == {"pending"}


# --- Results


def test_results_in_the_pool_alone_are_refused_until_they_are_given_as_results(folder, capsys):
    rows = [(name, SMILES[name], VALUES[name] if name in KNOWN else "") for name in NAMES]
    write("pool.csv", [("id", "smiles", "logp"), *rows])
    assert suggest(measured=()) == 1
    assert "--measured pool.csv" in capsys.readouterr().err
    assert not (folder / "out.campaign.json").exists()
    assert not set(suggested(measured=("pool.csv",))) & set(KNOWN)


def test_molecules_outside_the_pool_teach_and_are_not_suggested(folder, capsys):
    suggested(out="without.csv")
    write("more.csv", [("id", "smiles", "logp"), ("x", "CCCCCCCCCCCCCCCC", 7.0), ("", "OCCO", 661)])
    assert set(suggested(measured=("results.csv", "more.csv"))) <= set(NAMES)
    printed = capsys.readouterr().out
    assert "Measured, but not in the pool: OCCO, x." in printed
    assert "Check OCCO (661)" in printed  # far from all others
    assert [row["predicted_logp"] for row in read("out.csv")] != [row["predicted_logp"] for row in read("without.csv")]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda: write("results.csv", [("id", "logp"), ("m0", "high")]), "line 2"),
        (lambda: write("results.csv", [("id", "logp"), ("mm", 1.0)]), "`mm`"),
        (lambda: write("results.csv", [("id", "logp")]), "`logp`"),
        (lambda: write("results.csv", [("id", "other"), ("m0", 1)]), "id, other"),
        (lambda: write("pool.csv", [("id", "smiles"), ("a", "nonsense")]), "line 2"),
        (lambda: write("pool.csv", [("id", "molfile"), ("a", "C")]), "`smiles`"),
        (lambda: write("out.campaign.json", [("{", "}")]), "out.campaign.json"),
    ],
)
def test_bad_input_is_told_and_nothing_is_changed(folder, change, message, capsys):
    suggested()
    change()
    before = {name: (folder / name).read_bytes() for name in ("out.csv", "out.campaign.json")}
    assert suggest() == 1
    assert message in capsys.readouterr().err
    assert {name: (folder / name).read_bytes() for name in before} == before


# --- Files that are written


def test_the_page_draws_every_suggestion_escapes_names_and_needs_nothing_else(folder):
    write_pool({f"<b>{name}": text for name, text in SMILES.items()})
    write("results.csv", [("id", "logp"), *((f"<b>{name}", VALUES[name]) for name in KNOWN)])
    append([(name, VALUES[name.removeprefix("<b>")]) for name in suggested("--html", "pages/page.html")])
    suggested("--html", "pages/page.html")
    page = (folder / "pages" / "page.html").read_text()
    assert page.count('class="structure"') == 3
    assert "Round 2" in page
    assert not re.search(r'(src|href)="http|<b>m', page)


def test_suggestions_in_a_workbook_are_read_again_as_results(folder):
    expected = suggested(out="plain.csv")
    assert suggest("--predictions", "all.xlsx", out="out.xlsx") == 0
    with open_table("out.xlsx") as table:
        columns, rows = table.columns, [cells for _, cells in table.rows(table.columns)]
    assert [row[columns.index("id")] for row in rows] == expected
    typed = [[*row, str(7 + place)] for place, row in enumerate(rows)]
    Path("typed.xlsx").write_bytes(write_table(Path("typed.xlsx"), [[*columns, "logp"], *typed]))
    assert suggest(out="out.xlsx", measured=("results.csv", "typed.xlsx")) == 0
    told = {result["id"]: result["value"] for result in state()["measured"]}
    assert [told[name] for name in expected] == [7, 8, 9]


def test_other_columns_of_the_pool_are_passed_on_as_text_with_decimal_points(folder):
    heads = ["id", "smiles", "price", "LogP", "vendor", "Rank", "dock", "note"]
    rows = [(name, SMILES[name], "10,5", "", "A", f"r{name}", f"-{name[1:]},5", "=1+1") for name in NAMES]
    rows += [(name, SMILES[name], "9", "", "B", f"r{name}", f"-{name[1:]},5", "") for name in NAMES]  # a second offer
    write("pool.csv", [heads, *rows], ";")
    assert suggested("--price", "price")
    for row in read("out.csv"):
        name = row["id"]
        assert (row["vendor"], row["price"], row["note"]) == ("A | B", "9", "'=1+1")  # both rows say what they say
        assert (row["Rank (pool)"], row["dock"]) == (f"r{name}", f"-{name[1:]}.5")
        assert {column.casefold() for column in row}.isdisjoint({"logp", "price (pool)"})


def test_a_link_and_its_target_are_one_campaign(folder):
    for name in ("here", "there"):
        (folder / name).mkdir()
    assert suggest(out="there/out.csv") == 0
    make_link("here/link.csv", folder / "there" / "out.csv")
    assert suggest("--next-batch", out="here/link.csv") == 0
    assert [path.name for path in (folder / "here").iterdir()] == ["link.csv"]
    assert (folder / "here" / "link.csv").is_symlink()
    pending = {row["id"] for row in read("there/out.csv")}
    assert not pending & set(suggested("--next-batch", out="there/out.csv"))


def test_a_file_that_was_changed_is_not_overwritten_unasked(folder, capsys):
    files = ("--html", "out.html", "--predictions", "all.csv")
    assert suggest(*files, agent="random") == 0
    (folder / "all.csv").write_text("changed")
    before = {path: path.read_bytes() for path in folder.glob("*.*")}
    assert suggest("--next-batch", *files, agent="random") == 1
    assert re.search("all.csv.*--overwrite", capsys.readouterr().err)
    assert {path: path.read_bytes() for path in before} == before
    assert suggest("--next-batch", "--overwrite", *files, agent="random") == 0
    assert (folder / "all.csv").read_text() != "changed"


# --- Settings


def test_capitals_of_goals_limits_and_weights_do_not_count(folder):
    write("more.csv", [("id", "size", "dose"), *((name, len(SMILES[name]), len(SMILES[name]) / 10) for name in KNOWN)])
    tables, goals = ("results.csv", "more.csv"), ("--maximize=LogP", "--target", "SIZE=20..22")
    goals += ("--weights", "LOGP=1", "size=3", "--require", "Dose<2.4")
    first = suggested("--html", "out.html", measured=tables, goals=goals)
    assert "LogP near" not in (folder / "out.html").read_text()
    named = [(goal["name"], goal["aim"], goal["weight"]) for goal in state()["goals"]]
    assert named == [("LogP", "maximize", 1), ("SIZE", "target", 3), ("Dose", "limit", None)]
    assert suggested("--html", "out.html", measured=tables, goals=goals) == first
    assert len(state()["rounds"]) == 1


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"maximize": ()}, "maximize"),
        ({"minimize": ("logp",)}, "names"),
        ({"n": 0}, "--n"),
        ({"workers": -1}, "--workers"),
        ({"measured": (Path("out.csv"),)}, "--out"),
        ({"html": Path("out.csv")}, "--html"),
        ({"minimize": ("size",), "weights": ("logp=1",)}, "size"),
        ({"weights": ("logp",)}, "--weights"),
        ({"weights": ("mass=2",)}, "mass=2"),
        ({"require": ("logp<20",)}, "logp<20"),
        ({"target": ("size",)}, "size"),
        ({"features": ("logp",)}, "logp"),
    ],
)
def test_settings_that_make_no_sense_are_refused_by_name(changes, named):
    with pytest.raises(ValueError, match=named):
        SuggestSettings(**{"pool": Path("pool.csv"), "out": Path("out.csv"), "maximize": ("logp",), **changes})


def test_help_and_guide_name_every_property(capsys):
    main(["suggest", "--help-all"])
    for text in (capsys.readouterr().out, (ROOT / "docs/guides/goals_and_limits.md").read_text(encoding="utf-8")):
        assert not [name for name in PROPERTIES if name not in text]
