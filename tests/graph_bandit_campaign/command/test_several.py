"""Several goals on the command line."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from support.molecules import some_molecules
from support.tables import read, write

from graph_bandit_campaign import SuggestSettings
from graph_bandit_cli.main import main

MOLECULES = some_molecules(30)
NAMES = [f"m{k}" for k in range(len(MOLECULES))]
SMILES = dict(zip(NAMES, MOLECULES.smiles, strict=True))
LOGP = dict(zip(NAMES, MOLECULES.targets.round(3).tolist(), strict=True))
SIZE = {name: len(text) for name, text in SMILES.items()}
AGENT = ["--agent", "molecule-ucb:short_list=20"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("pool.csv", [("id", "smiles"), *SMILES.items()])
    write("assay.csv", [("id", "logp"), *((name, LOGP[name]) for name in NAMES[:8])])
    write("more.csv", [("id", "size", "dose"), *((name, SIZE[name], SIZE[name] / 10) for name in NAMES[3:10])])
    return tmp_path


def suggest(
    *more, out="out.csv", measured=("assay.csv", "more.csv"), goals=("--maximize=logp", "--minimize=size"), n=3
):
    command = ["suggest", "pool.csv", "--measured", *measured, "--n", str(n), *goals, "--out", out, *AGENT, *more]
    code = main(command)
    return code, read(out)


def state(out="out"):
    with open(f"{out}.campaign.json") as file:
        return json.load(file)


def test_each_goal_has_predictions_and_the_page_shows_the_front(folder, capsys):
    code, rows = suggest("--html", "page.html", "--predictions", "all.csv")
    assert code == 0
    for row in rows:
        assert float(row["interval_90_low_size"]) < float(row["predicted_size"]) < float(row["interval_90_high_size"])
        assert float(row["standard_deviation_logp"]) > 0
        assert 0 <= float(row["probability_of_front"]) <= 1
        assert row["id"] not in NAMES[3:8]
    neighbours = [
        (row[f"nearest_{k}"], row[f"nearest_{k}_logp"], row[f"nearest_{k}_size"]) for row in rows for k in (1, 2, 3)
    ]
    for name, logp, size in neighbours:
        assert (logp != "", size != "") == (name in NAMES[:8], name in NAMES[3:10])
    page = (folder / "page.html").read_text(encoding="utf-8")
    printed = capsys.readouterr().out
    assert "on the front so far" in printed
    assert "maximize logp, minimize size" in page
    assert "The front" in page
    table = read("all.csv")
    states = {row["id"]: row["state"] for row in table}
    assert all((row["probability_of_front"] == "") == (row["state"] == "measured") for row in table)
    assert [name for name in NAMES if states[name] == "measured"] == NAMES[3:8]
    assert len(states) == 30


def test_the_same_command_gives_the_same_answer_and_a_result_for_one_goal_another_round(folder):
    _, first = suggest()
    assert suggest()[1] == first
    assert len(state()["rounds"]) == 1
    new = next(row["id"] for row in first if row["id"] not in NAMES[3:10])  # its size is not known yet
    write("more.csv", [("id", "size"), *((name, SIZE[name]) for name in [*NAMES[3:10], new])])
    _, second = suggest()
    assert len(state()["rounds"]) == 2
    assert {"id": new, "value": SIZE[new], "round": 1, "goal": "size"} in state()["measured"]
    pending = state()["pending"]
    assert (new in pending) == (new not in NAMES[:8])  # whether the result for logp is missing
    assert {row["id"] for row in first} - {new} <= set(pending)
    assert not {row["id"] for row in second} & {row["id"] for row in first}


def test_the_table_says_with_what_probability_a_result_is_in_a_range(folder, capsys):
    goals = ("--maximize=logp", "--target=size=18..22")
    _, rows = suggest("--require", "dose<2.1", "--predictions", "all.csv", goals=goals)
    rows += read("all.csv")
    for name in ("size", "dose"):
        assert all(0 <= float(row[f"probability_in_range_{name}"]) <= 1 for row in rows)
    assert "probability_in_range_logp" not in rows[0]
    for row in rows:  # more likely than not where the mean of a normal result meets it
        chance, mean = float(row["probability_in_range_dose"]), float(row["predicted_dose"])
        assert (chance > 0.5) == (mean < 2.1) or chance == pytest.approx(0.5, abs=0.01)
    printed = capsys.readouterr().out
    assert "Soft limits, on predicted values, which a suggestion may break: dose < 2.1." in printed
    assert printed.split("\nrank")[1].split("\n")[0].split("interval")[2].split() == [
        "in",
        "range",
        "dose",
        "sd",
        "90",
        "%",
    ]


def test_a_limit_on_a_column_that_only_results_have_counts_by_its_probability(folder):
    code, rows = suggest("--require", "dose<2.4", "mw<10000")
    assert code == 0
    assert [goal["aim"] for goal in state()["goals"]] == ["maximize", "minimize", "limit"]
    assert {"predicted_dose", "standard_deviation_dose"} <= rows[0].keys()
    assert sum(SIZE[row["id"]] < 24 for row in rows) >= 2
    assert len(suggest("--require", "dose<2.6")[1]) == 3  # a range may change


def test_a_range_and_weights(folder):
    code, rows = suggest(goals=("--target=size=20..22", "--maximize", "logp", "--weights", "logp=1", "size=3"))
    assert code == 0
    assert state()["goals"][1] == {"name": "size", "aim": "target", "low": 20, "high": 22, "strict": False, "weight": 3}
    assert len(rows) == 3
    code, rows = suggest(goals=("--target=size=20..22",), measured=("more.csv",), out="one.csv")
    assert code == 0
    assert "probability_of_front" in rows[0]


def test_a_goal_may_be_given_as_often_as_there_are_columns(folder):
    code, _ = suggest(goals=("--maximize", "logp", "--minimize", "size", "--minimize", "dose"))
    assert code == 0
    assert [goal["name"] for goal in state()["goals"]] == ["logp", "size", "dose"]


def test_a_first_batch_needs_no_results_and_a_goal_may_have_none_yet(folder):
    code = main(["suggest", "pool.csv", "--maximize", "a", "--minimize", "b", "--n", "2", "--out", "first.csv", *AGENT])
    assert code == 0
    write("more.csv", [("id", "size"), ("m3", ""), ("m4", "n.d.")])
    assert suggest(out="later.csv")[0] == 0


def test_failed_in_one_column_is_a_failure_of_the_molecule(folder):
    write(
        "more.csv",
        [("id", "size"), *((name, SIZE[name]) for name in NAMES[3:10]), ("m1", "failed"), ("m20", "pending")],
    )
    suggest()
    assert state()["failed"] == ["m1"]
    assert state()["pending"][0] == "m20"
    write("more.csv", [("id", "size"), *((name, SIZE[name]) for name in NAMES[1:10])])
    suggest()
    assert state()["failed"] == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weights": ("logp=1",)}, "Without a weight: size"),
        ({"weights": ("logp",)}, "`--weights` such as activity=2"),
        ({"weights": ("mass=2",)}, "`--weights` of the goals logp, size. Got 'mass=2'"),
        ({"minimize": ("logp",)}, "goals of different names"),
        ({"require": ("size<20",)}, "limits on other quantities than the target"),
        ({"near": ("size",)}, "a limit such as"),
        ({"features": ("size",)}, "`size` is that of the target"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, message):
    given = {"maximize": "logp", "minimize": "size", **changes}
    with pytest.raises(ValueError, match=message):
        SuggestSettings(Path("pool.csv"), Path("out.csv"), **given)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--maximize", "nothing"], "nothing"),
        (["--agent", "random"], "`random` cannot choose for several goals"),
    ],
)
def test_what_cannot_be_done_is_refused_and_nothing_is_written(folder, capsys, more, message):
    command = ["suggest", "pool.csv", "--measured", "assay.csv", "more.csv", "--maximize", "logp", "--minimize", "size"]
    assert main([*command, "--out", "out.csv", *more]) == 1
    assert message in capsys.readouterr().err
    assert not (folder / "out.csv").exists()


def test_a_table_without_a_column_of_the_goals_is_refused(folder, capsys):
    write("other.csv", [("id", "note"), ("m1", "1")])
    command = ["suggest", "pool.csv", "--measured", "assay.csv", "more.csv", "other.csv", "--out", "out.csv"]
    assert main([*command, "--maximize", "logp", "--minimize", "size"]) == 1
    assert "other.csv has none of logp, size" in capsys.readouterr().err


def test_a_campaign_of_one_goal_is_not_continued_with_several(folder, capsys):
    assert suggest(goals=("--maximize=logp",), measured=("assay.csv",))[0] == 0
    assert "goals" not in state()
    command = ["suggest", "pool.csv", "--measured", "assay.csv", "more.csv", "--out", "out.csv", *AGENT]
    assert main([*command, "--maximize", "logp", "--minimize", "size"]) == 1
    assert "another --out" in capsys.readouterr().err


def test_settings_take_a_text_or_several():
    settings = SuggestSettings(Path("pool.csv"), Path("out.csv"), maximize="a", minimize=("b", "c"))
    assert settings.quantities == ("a", "b", "c")


def test_capitals_of_goals_limits_and_weights_do_not_count(folder):
    goals = ("--maximize=LogP", "--target", "SIZE=20..22", "--weights", "LOGP=1", "size=3", "--require", "Dose<2.4")
    code, rows = suggest(goals=goals)
    assert code == 0
    named = [(goal["name"], goal["weight"]) for goal in state()["goals"]]
    assert named == [("logp", 1), ("size", 3), ("dose", None)]  # as the tables spell them
    assert {"predicted_logp", "predicted_size", "predicted_dose"} <= rows[0].keys()
    other = [name.replace("LogP", "LOGP").replace("Dose", "DOSE") for name in goals]
    assert suggest(goals=other)[1] == rows
    assert len(state()["rounds"]) == 1


def test_a_campaign_goes_on_whatever_the_capitals_of_its_goal(folder):
    assert main(["suggest", "pool.csv", "--maximize", "LOGP", "--n", "2", "--out", "out.csv", *AGENT]) == 0
    write("other.csv", [("id", "Logp"), ("m20", 1.0)])
    assert suggest(goals=("--maximize=logp",), measured=("assay.csv", "other.csv"))[0] == 0
    assert state()["target"] == "LOGP"
    assert len(state()["measured"]) == 9


def test_a_column_that_differs_in_capitals_alone_is_another_one_if_both_are_there(folder, capsys):
    write("assay.csv", [("id", "y", "Y"), *((name, LOGP[name], SIZE[name]) for name in NAMES[:8])])
    code, _ = suggest(goals=("--maximize=Y",), measured=("assay.csv",))
    assert (code, state()["target"], state()["measured"][0]["value"]) == (0, "Y", SIZE["m0"])
    command = ["suggest", "pool.csv", "--measured", "assay.csv", "--out", "out.csv", *AGENT]
    assert main([*command, "--maximize", "y"]) == 1
    assert "a campaign with `target` y." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "hint"),
    [
        (["--maximize", "lopg", "--minimize", "size"], "Did you mean `logp`?"),
        (["--maximize", "logp", "--minimize", "size", "--require", "doze<2"], "Did you mean `dose`?"),
        (["--maximize", "logp", "--minimize", "size", "--weights", "logp=1", "sise=1"], "Did you mean `size`?"),
    ],
)
def test_the_nearest_name_is_told(folder, capsys, more, hint):
    command = ["suggest", "pool.csv", "--measured", "assay.csv", "more.csv", "--out", "out.csv", *AGENT]
    with suppress(SystemExit):  # what settings refuse is told by tyro, which breaks lines
        assert main([*command, *more]) == 1
    assert hint in " ".join(capsys.readouterr().err.replace("│", " ").split())
