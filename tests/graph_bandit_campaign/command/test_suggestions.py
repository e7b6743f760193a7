import csv
import json
import re

import openpyxl
import pytest
from support.molecules import some_molecules
from support.tables import read, write

import registry
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


def state():
    with open("out.campaign.json") as file:
        return json.load(file)


def test_values_that_stand_in_the_pool_alone_are_told(folder, capsys):
    write(
        "pool.csv", [("id", "smiles", "LogP"), *((name, SMILES[name], 1.5 if name == "m3" else "") for name in NAMES)]
    )
    assert suggest(measured=())[0] == 0
    printed = capsys.readouterr().out
    assert "1 value of LogP in pool.csv not used as results (give it to --measured, too, if they are)" in printed
    assert "No predictions: no results yet." in printed
    assert suggest("--overwrite", out="others.csv", measured=("--measured", "pool.csv"))[0] == 0
    assert "not used" not in capsys.readouterr().out


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
    assert "short list" in printed


def test_the_same_question_has_the_same_answer_and_is_no_new_round(folder):
    first, again = suggest()[1], suggest()[1]
    assert again == first
    assert len(state()["rounds"]) == 1


def test_results_make_a_new_round_and_what_is_missing_counts_as_under_way(folder, capsys):
    first = [row["id"] for row in suggest()[1]]
    append([(first[0], VALUES[first[0]]), (first[1], "failed")])
    second = [row["id"] for row in suggest()[1]]
    assert not set(first) & set(second)
    assert f"counted as pending: {first[2]}, {first[3]}.\n(Write `failed`" in capsys.readouterr().out
    found = state()
    assert len(found["rounds"]) == 2
    assert found["failed"] == [first[1]]
    assert set(found["pending"]) == {first[2], first[3], *second}
    assert {"id": first[0], "value": VALUES[first[0]], "round": 1} in found["measured"]


@pytest.mark.parametrize("status", ["pending", ""])
def test_another_question_is_another_round(folder, status):
    first = [row["id"] for row in suggest()[1]]
    more = [(first[0], status)] if status else [(NAMES[0], 0.5)]  # under way; or measured once more
    append(more)
    second = [row["id"] for row in suggest()[1]]
    third = [row["id"] for row in suggest("--n", "2")[1]]
    assert len({*first, *second, *third}) == 10
    assert [len(ones) for ones in state()["rounds"]] == [4, 4, 2]


def test_a_result_from_outside_the_pool_may_be_renamed_or_deleted(folder):
    write("more.csv", [("id", "smiles", "logp"), ("x", "CCCCCCCCCCCC", 7.0)])
    assert suggest(measured=("--measured", "results.csv", "more.csv"))[0] == 0
    write("more.csv", [("id", "smiles", "logp"), ("y", "CCCCCCCCCCCC", 7.0)])
    assert suggest("--forget", measured=("--measured", "results.csv", "more.csv"))[0] == 0
    assert suggest("--forget")[0] == 0
    assert len(state()["measured"]) == 6


@pytest.mark.parametrize("measured", [(), ("--measured", "few.csv")])
def test_results_that_are_gone_are_missed(folder, measured, capsys):
    suggest()
    write("few.csv", [("id", "logp"), (NAMES[0], 1.0)])
    before = (folder / "out.campaign.json").read_bytes()
    assert suggest(measured=measured)[0] == 1
    assert "Missing: " in capsys.readouterr().err
    assert (folder / "out.campaign.json").read_bytes() == before
    assert suggest("--forget", measured=measured)[0] == 0


def test_a_round_can_be_taken_back(folder, capsys):
    first = suggest()[1]
    assert "taken back" not in capsys.readouterr().out
    shorter = suggest("--n", "2", "--undo", "--html", "out.html")[1]
    told = f"Round 1 was taken back: {', '.join(row['id'] for row in first)}."
    assert told in capsys.readouterr().out
    assert told in (folder / "out.html").read_text(encoding="utf-8")
    assert [row["id"] for row in shorter] == [row["id"] for row in first[:2]]
    assert len(state()["rounds"]) == 1


def test_a_column_of_smiles_is_found_in_capitals_too(folder):
    write("pool.csv", [("id", "SMILES"), *SMILES.items()])
    assert suggest()[0] == 0


def test_a_slip_of_the_pen_is_shown(folder, capsys):
    append([(NAMES[6], 661)])
    suggest()
    assert f"Check {NAMES[6]} (661): far from all other results." in capsys.readouterr().out


def test_the_same_file_does_not_take_another_target(folder, capsys):
    suggest()
    write("results.csv", [("id", "logp", "ic50"), ("m0", 1, 2)])
    arguments = ["suggest", "pool.csv", "--measured", "results.csv", "--out", "out.csv", "--maximize", "ic50"]
    assert main(arguments) == 1
    assert "a campaign with `target` ic50" in capsys.readouterr().err


def test_names_of_a_smi_file_are_its_second_words(folder, capsys):
    (folder / "pool.smi").write_text("".join(f"{text} {name}\n" for name, text in SMILES.items()))
    arguments = ["suggest", "pool.smi", "--measured", "results.csv", "--maximize", "logp", "--out", "a.csv"]
    assert main([*arguments, "--agent", AGENT]) == 0
    assert "40 molecules, 6 measurements" in capsys.readouterr().out


def test_a_dollar_in_a_name_is_no_mathematics(folder):
    write("results.csv", [("id", "IC50 ($nM$"), *((name, VALUES[name]) for name in NAMES[:6])])
    arguments = ["suggest", "pool.csv", "--measured", "results.csv", "--out", "a.csv", "--html", "a.html"]
    assert main([*arguments, "--maximize", "IC50 ($nM$", "--agent", AGENT]) == 0


def test_an_agent_that_predicts_nothing_says_so(folder, capsys):
    suggest("--agent", "random", "--html", "page.html")
    printed = capsys.readouterr().out
    assert "No predictions" in printed
    assert "short list" not in printed
    assert "No predictions" in (folder / "page.html").read_text()


def test_what_was_never_measured_can_be_suggested_again(folder):
    suggest()
    append([(NAMES[-1], VALUES[NAMES[-1]])])
    suggest("--again", "--n", "33")  # all that is left
    assert set(state()["pending"]) == set(NAMES) - {*NAMES[:6], NAMES[-1]}


def test_a_mended_result_is_taken_as_it_is_now(folder):
    suggest()
    write("results.csv", [("id", "logp"), *((name, 10.0 + k) for k, name in enumerate(NAMES[:6]))])
    suggest()
    assert sorted(result["value"] for result in state()["measured"]) == [10.0, 11.0, 12.0, 13.0, 14.0, 15.0]


def test_the_order_of_the_results_does_not_matter(folder):
    _, rows = suggest()
    write("results.csv", [("id", "logp"), *((name, VALUES[name]) for name in NAMES[5::-1])])
    assert suggest(out="other.csv")[1] == rows


def test_molecules_outside_the_pool_teach_and_are_not_suggested(folder, capsys):
    _, without = suggest(out="without.csv")
    write("more.csv", [("id", "smiles", "logp"), ("x", "CCCCCCCCCCCCCCCC", 7.0), ("", "OCCO", -1.0)])
    _, rows = suggest(measured=("--measured", "results.csv", "more.csv"))
    printed = capsys.readouterr().out
    assert "best logp so far 7" in printed
    assert "Measured, but not in the pool: OCCO, x." in printed
    assert {row["id"] for row in rows} <= set(NAMES)
    assert [row["predicted_logp"] for row in rows] != [row["predicted_logp"] for row in without]


def test_without_results_a_first_batch_is_suggested(folder):
    code, rows = suggest(measured=())
    assert code == 0
    assert len({row["id"] for row in rows}) == 4
    assert all(rows[0][name] == "" for name in rows[0] if name not in ("rank", "id", "smiles"))


def test_small_values_can_be_wanted(folder):
    for _ in range(4):
        _, rows = suggest(direction="--minimize")
        append([(row["id"], VALUES[row["id"]]) for row in rows])
    found = {result["id"] for result in state()["measured"]}
    assert min(VALUES, key=VALUES.get) in found


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


def test_bad_rows_of_the_pool_can_be_left_out(folder, capsys):
    write("pool.csv", [("id", "smiles"), ("bad", "nonsense"), *SMILES.items()])
    assert suggest("--skip-bad-rows")[0] == 0
    assert "40 molecules, 6 measurements, 1 bad rows left out" in capsys.readouterr().out


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


def test_a_question_that_is_refused_changes_nothing(folder, capsys):
    suggest()
    before = (folder / "out.campaign.json").read_bytes()
    assert suggest("--n", "100")[0] == 1
    assert "than are left" in capsys.readouterr().err
    assert (folder / "out.campaign.json").read_bytes() == before


def test_more_than_is_left_is_refused(folder, capsys):
    assert main(["suggest", "pool.csv", "--maximize", "logp", "--out", "a.csv", "--n", "41", "--agent", AGENT]) == 1
    assert "than are left, 40. Got 41" in capsys.readouterr().err


def test_pool_and_results_may_be_sheets_of_one_workbook(folder, capsys):
    expected = suggest()[1]
    book = openpyxl.Workbook()
    book.active.title = "Compounds"
    for row in [("id", "smiles"), *SMILES.items()]:
        book.active.append(row)
    results = book.create_sheet("Assay")
    for row in [("id", "logp"), *((name, VALUES[name]) for name in NAMES[:6])]:
        results.append(row)
    book.save("book.xlsx")
    arguments = ["suggest", "book.xlsx", "--measured", "book.xlsx", "--measured-sheet", "Assay", "--maximize", "logp"]
    assert main([*arguments, "--n", "4", "--agent", AGENT, "--out", "other.csv"]) == 0
    assert read("other.csv") == expected
    assert "sheet `Compounds` of book.xlsx read, the first of 2 (--sheet names another)" in capsys.readouterr().out
    assert main([*arguments, "--sheet", "Asay", "--out", "other.csv"]) == 1
    assert "a sheet `Asay` in book.xlsx. It has Compounds, Assay" in capsys.readouterr().err


def test_the_sheet_of_results_is_told_where_there_are_others(folder, capsys):
    book = openpyxl.Workbook()
    book.active.title = "Week 1"
    for row in [("id", "logp"), ("m0", 1.5), ("m1", 2.5)]:
        book.active.append(row)
    book.create_sheet("Week 2").append(("id", "logp"))
    book.save("book.xlsx")
    assert suggest(measured=("--measured", "book.xlsx"))[0] == 0
    assert "sheet `Week 1` of book.xlsx read, the first of 2 (--measured-sheet names" in capsys.readouterr().out


def test_an_agent_that_has_changed_begins_another_round(folder, capsys, monkeypatch):
    first = suggest()[1]
    make, now = registry.make_agent, registry.make_agent("molecule-ucb").algorithm

    def make_later(name, **settings):
        agent = make(name, **settings)
        agent.algorithm = now + 1
        return agent

    monkeypatch.setattr(registry, "make_agent", make_later)
    second = suggest("--html", "page.html")[1]
    for told in (capsys.readouterr().out, (folder / "page.html").read_text(encoding="utf-8")):
        assert f"The agent has changed since this campaign was last written (algorithm {now}, now {now + 1})" in told
    assert not {row["id"] for row in first} & {row["id"] for row in second}  # which may be under way
    assert suggest()[1] == second
    assert "has changed" not in capsys.readouterr().out
    assert len(state()["rounds"]) == 2
