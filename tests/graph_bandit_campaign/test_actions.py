"""Campaigns on tables whose rows are actions of several slots: reactions and their conditions."""

import json
from pathlib import Path

import networkx as nx
import pytest
from support.tables import read as read_table

from graph_bandit_campaign import Campaign, Place, preview_pool, preview_results
from graph_bandit_campaign.pool.source import Source
from graph_bandit_campaign.store import Store
from graph_bandit_cli.main import main
from graph_bandit_env.files import read_pool

pytest.importorskip("rdkit")
LIGANDS, SOLVENTS = ("CP(C)C", "CCP(CC)CC", "", "c1ccccc1P"), ("CC#N", "CCO")
COLUMNS = "ligand_smiles,solvent_smiles,base,heat,price,y\n"
SLOTS = "--slot base --slot heat"


def worth(k):
    return 3 * (k % 4 == 1) + 2 * (k // 4 % 2) + (k // 8 % 2) + k // 16 / 4


def row(k):
    return f"{LIGANDS[k % 4]},{SOLVENTS[k // 4 % 2]},{('KOH', 'NaH')[k // 8 % 2]},{60 + 20 * (k // 16)},{1 + k % 3}"


def write(measured=range(0, 48, 5), odd=()):
    values = {k: worth(k) for k in measured} | dict(odd)
    Path("runs.csv").write_text(COLUMNS + "".join(f"{row(k)},{values.get(k, '')}\n" for k in range(48)))


def suggest(more="", measured="runs.csv", slots=SLOTS, code=0):
    assert (
        main(f"suggest runs.csv --measured {measured} --maximize y --n 3 --out out.csv {slots} {more}".split()) == code
    )
    return read_table("out.csv") if not code else []


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_each_slot_is_shown_and_results_of_other_actions_teach(capsys):
    write()
    first = suggest("--html out.html --predictions all.csv")
    assert {"ligand_smiles", "solvent_smiles", "base", "heat", "explanation"} <= first[0].keys()
    assert len(read_table("all.csv")) == 48
    assert Path("out.html").read_text().count("<b>ligand_smiles</b>") == 3
    index_of = {name: k for k, name in enumerate(read_pool("runs.csv", slots=["base", "heat"], ignore_columns="y").ids)}
    told = [index_of[each["id"]] for each in first]
    rows = [f"{row(k)},{worth(k)}" for k in told]
    Path("more.csv").write_text(COLUMNS + "\n".join([*rows, "CC(C)P,CCO,NaH,75,1,0.5", "CP(C)C,OCC,KOH,60.0,1,2"]))
    suggest("", "runs.csv more.csv")
    state = Store("out.campaign.json").state
    assert state.means()["CP(C)C | CCO | KOH | 60"] == 2
    assert len(state.means()) == 10 + 3 + 2
    assert {each["id"] for each in first}.isdisjoint(state.pending)
    assert "Measured, but not in the pool: CC(C)P | CCO | NaH | 75." in capsys.readouterr().out


def test_limits_prices_and_groups_are_those_of_rows_and_of_slots():
    write(odd={3: "failed", 9: ">2"})
    caps = "--price price --budget 5 --max-per-group 1 --group-by ligand_smiles"
    chosen = suggest(f"--require heat<90 price<3 --filter base=NaH {caps}")
    assert {(each["base"], each["heat"] in ("60", "80")) for each in chosen} == {("NaH", True)}
    assert len({each["ligand_smiles"] for each in chosen}) == len(chosen)
    assert sum(float(each["price"]) for each in chosen) <= 5
    assert [*Store("out.campaign.json").state.failed] == ["Pc1ccccc1 | CC#N | KOH | 60"]


def test_a_slot_is_held_and_results_of_others_teach():
    write()
    chosen = suggest("--require ligand_smiles=C(C)P(CC)CC heat=80 base=KOH")
    assert {(each["ligand_smiles"], each["heat"], each["base"]) for each in chosen} == {("CCP(CC)CC", "80", "KOH")}
    assert [each["solvent_smiles"] for each in chosen] == ["CCO", "CC#N"]  # the best of others first


@pytest.mark.parametrize(
    ("more", "slots", "problem"),
    [
        ("", "--slot base", "`--slot heat`"),
        ("--features price", SLOTS, "Expected molecules for --features"),
        ("--max-per-group 1 --group-by scaffold", SLOTS, "--group-by scaffold"),
        ("--require mw<300", SLOTS, "mw<300"),
        ("--veto nothing", SLOTS, "Expected the id of a candidate"),
        ("--agent molecule-ei", SLOTS, "molecule"),
    ],
)
def test_what_needs_molecules_or_is_no_slot_is_refused(more, slots, problem, capsys):
    write()
    suggest(more, slots=slots, code=1)
    assert problem in capsys.readouterr().err


def test_a_batch_waits_although_a_column_that_nobody_named_has_changed():
    write()
    first = suggest()
    Path("runs.csv").write_text(Path("runs.csv").read_text().replace("price", "cost"))
    assert [each["id"] for each in suggest()] == [each["id"] for each in first]
    assert len(Store("out.campaign.json").state.rounds) == 1


def test_a_preview_says_what_slots_hold(tmp_path):
    write(odd={3: "failed"})
    Path("runs.csv").write_text(Path("runs.csv").read_text().replace("CCP(CC)CC,CC#N,KOH,60", "CCP(CC)CC,C#N#C,KOH,60"))
    seen = preview_pool(Source(path=Path("runs.csv"), slot=("base", "heat")))
    assert (seen.kind, seen.count, seen.bad_count) == ("experiments", 47, 1)
    assert (seen.slots, seen.numbers) == (("ligand_smiles", "solvent_smiles", "base", "heat"), ("price", "y"))
    slots = "Slots ligand_smiles (4 structures), solvent_smiles (2 structures), base (2 categories)"
    assert seen.notes[0].startswith(slots)
    assert "differ in heat" in preview_pool(Source(path=Path("runs.csv"), slot=("base",))).notes[1]
    suggest("--skip-bad-rows")
    Path("more.csv").write_text(COLUMNS + "CP(C)C,OCC,KOH,60.0,1,2\nCP(C)C,CCS,KOH,60,1,2\n")
    rows = preview_results(Place(tmp_path / "out.campaign.json"), Path("more.csv")).rows
    assert [(row.id, row.outside) for row in rows] == [
        ("CP(C)C | CCO | KOH | 60", False),
        ("CP(C)C | CCS | KOH | 60", True),
    ]


def test_the_command_and_python_choose_the_same():
    write()
    suggest(slots="--slot L=ligand_smiles --slot S=solvent_smiles --slot base --slot heat")
    pool = read_pool("runs.csv", "y", slots=["base", "heat"])
    campaign = Campaign(pool)
    campaign.tell((name, value) for name, value in zip(pool.ids, pool.targets, strict=True) if value == value)
    assert [each.id for each in campaign.ask(3)] == [each["id"] for each in read_table("out.csv")]


def test_a_finished_table_is_replayed():
    write(range(48))
    command = f"backtest runs.csv --maximize y --n 2 --starts 5 --workers None --out back {SLOTS}"
    assert main(command.split()) == 0
    assert {row["player"] for row in read_table("back/results.csv")} >= {"gp-greedy"}


SPACE = """
slots = [
  {name = "ligand_smiles", blocks = "ligands.csv"},
  {name = "base", choices = ["KOH", "NaH", "NEt3", "KF", "K3PO4"]},
  {name = "heat", choices = [20, 40, 60, 80, 100]},
]
forbid = [{base = ["NaH"], heat = [80, 100]}]
"""


def test_combinations_are_suggested_that_nobody_lists(capsys):
    Path("space.toml").write_text(SPACE)
    Path("ligands.csv").write_text("id,smiles\nL1,CP(C)C\nL2,CCP(CC)CC\nL3,c1ccccc1P\n")
    rows = ["L1,KOH,60,1", "CCP(CC)CC,NaH,20.0,2", "L3,NaH,80,9", "CC(C)P,KF,20,0", "L1,KF,20,0", "L3,KOH,80,7"]
    Path("lab.csv").write_text("\n".join(["ligand_smiles,base,heat,y", *rows]))
    given = "suggest space.toml --measured lab.csv --maximize y --n 12 --out out.csv --overwrite"
    assert main(given.split()) == 0
    assert {"L3 | NaH | 80", "L2 | NaH | 20", "CC(C)P | KF | 20"} <= Store("out.campaign.json").state.means().keys()
    read = read_table("out.csv")
    assert not any(row["base"] == "NaH" and float(row["heat"]) >= 80 for row in read)
    assert {row["ligand_smiles"] for row in read} <= {"CP(C)C", "CCP(CC)CC", "Pc1ccccc1"}
    assert "most promising of 75 combinations" in capsys.readouterr().out
    assert main([*given.split(), "--require", "ligand_smiles=L2", "heat>=60", "base=NaH,KF", "--again"]) == 0
    held = {(row["ligand_smiles"], row["base"], row["heat"]) for row in read_table("out.csv")}
    assert held == {("CCP(CC)CC", "NaH", "60"), *(("CCP(CC)CC", "KF", heat) for heat in ("60", "80", "100"))}
    assert main([*given.split(), "--forbid", "pains"]) == 1
    preview = preview_pool(Source(path=Path("space.toml")))
    assert (preview.kind, preview.count) == ("experiments", 75)


def test_graphs_of_several_slots_a_line_are_suggested(capsys):
    def written(seed):
        return nx.node_link_data(nx.gnm_random_graph(4, 5, seed=seed), edges="edges")

    pairs = [(one, other, heat) for one in range(3) for other in (None, 7, 8) for heat in (20, 60)]
    rows = [
        {
            "id": f"m{k}",
            "cation": written(one),
            "anion": other and written(other),
            "heat": heat,
            "y": 1.5 * one + heat / 60,
        }
        for k, (one, other, heat) in enumerate(pairs)
    ]
    Path("salts.jsonl").write_text("\n".join(map(json.dumps, rows)))
    pool = read_pool("salts.jsonl", target="y")
    assert [len(slot.choices) for slot in pool.slots] == [3, 3, 2]
    assert (pool.ids, pool.targets.tolist()) == (tuple(row["id"] for row in rows), [row["y"] for row in rows])
    Path("lab.csv").write_text("id,y\n" + "".join(f"m{k},{rows[k]['y']}\n" for k in (0, 3, 7, 10, 13)))
    asked = ["--measured", "lab.csv", "--maximize", "y", "--n", "2", "--out", "out.csv", "--html", "out.html"]
    assert main(["suggest", "salts.jsonl", *asked]) == 1
    assert "would be a slot" in capsys.readouterr().err
    Path("plain.jsonl").write_text("\n".join(json.dumps({k: v for k, v in row.items() if k != "y"}) for row in rows))
    assert main(["suggest", "plain.jsonl", *asked]) == 0
    first = {row["id"]: row["heat"] for row in read_table("out.csv")}
    assert first.keys() < {*pool.ids} - {"m0", "m3", "m7", "m10", "m13"}
    for other, problem in (({"id": "m1", "heat": 3}, "Action 1"), (rows[1] | {"cation": "a word"}, "odd.jsonl")):
        Path("odd.jsonl").write_text(f"{json.dumps(rows[0])}\n{json.dumps(other)}")
        with pytest.raises(ValueError, match=problem):
            read_pool("odd.jsonl")
