"""Several goals on the command line."""

import json
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


def test_a_limit_on_a_column_that_only_results_have_counts_by_its_probability(folder):
    code, rows = suggest("--require", "dose<2.4", "mw<10000")
    assert code == 0
    assert [goal["aim"] for goal in state()["goals"]] == ["maximize", "minimize", "limit"]
    assert {"predicted_dose", "standard_deviation_dose"} <= rows[0].keys()
    assert sum(SIZE[row["id"]] < 24 for row in rows) >= 2
    assert len(suggest("--require", "dose<2.6")[1]) == 3  # a range may change


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
