"""`suggest --veto`, `--pin`, `--lift` and `--comment`."""

import json

import networkx as nx
import numpy as np
import pytest
from rdkit.Chem import MolFromSmiles
from rdkit.Chem.Descriptors import MolWt
from support.molecules import some_molecules
from support.tables import read, write

from graph_bandit_cli.main import main

MOLECULES = some_molecules(60)
NAMES = [f"m{k}" for k in range(len(MOLECULES))]
VALUES = MOLECULES.targets.tolist()
HEAVIEST = NAMES[int(np.argmax([MolWt(MolFromSmiles(text)) for text in MOLECULES.smiles]))]
RESULTS = [(NAMES[k], VALUES[k]) for k in range(0, 60, 6)]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("pool.csv", [("id", "smiles"), *zip(NAMES, MOLECULES.smiles, strict=True)])
    write("results.csv", [("id", "logp"), *RESULTS])


def suggest(*more, pool="pool.csv", code=0):
    given = ("--measured", "results.csv", "--n", "4", "--maximize", "logp", "--out", "out.csv")
    assert main(["suggest", pool, *given, *more]) == code
    return [row["id"] for row in read()]


def state():
    with open("out.campaign.json", encoding="utf-8") as file:
        return json.load(file)


@pytest.mark.parametrize("pool", ["pool.csv", "prepared"])
def test_another_takes_the_place_of_a_vetoed_suggestion_and_the_same_command_keeps_it(pool, capsys):
    if pool == "prepared":
        main(["prepare", "pool.csv", "--out", "prepared"])
    before = suggest(pool=pool)
    veto = ("--veto", f"{before[1]}=too greasy", "--by", "Ann")
    now = suggest(*veto, pool=pool)
    assert now[:3] == [before[0], *before[2:]]
    assert now[3] not in before
    assert f"Vetoed, and not suggested: {before[1]} (too greasy, by Ann)." in " ".join(capsys.readouterr().out.split())
    assert suggest(*veto, pool=pool) == suggest(pool=pool) == now
    assert len(state()["rounds"]) == 1
    assert state()["vetoed"] == [{"id": before[1], "reason": "too greasy", "by": "Ann", "round": 1}]


def test_a_veto_holds_after_the_pool_was_prepared_again_under_other_names():
    main(["prepare", "pool.csv", "--out", "prepared"])
    before = suggest(pool="prepared")
    suggest("--veto", before[0], pool="prepared")
    named = [f"x{k}" for k in range(60)]
    write("pool.csv", [("id", "smiles"), *zip(named, MOLECULES.smiles, strict=True)])
    write(
        "results.csv", [("id", "smiles", "logp"), *((f"x{k}", MOLECULES.smiles[k], VALUES[k]) for k in range(0, 60, 5))]
    )
    main(["prepare", "pool.csv", "--out", "again"])
    now = suggest("--forget", "--again", pool="again")
    assert before[0].replace("m", "x") not in now


def test_a_pinned_molecule_is_in_the_next_batch_and_stays_there(capsys):
    worst = min((k for k in range(60) if k % 6), key=VALUES.__getitem__)
    now = suggest("--pin", NAMES[worst])
    assert now[0] == NAMES[worst]
    assert f"Pinned, and suggested in any case: {NAMES[worst]}." in capsys.readouterr().out
    assert suggest("--pin", NAMES[worst]) == suggest() == now
    write("results.csv", [("id", "logp"), *RESULTS, (NAMES[worst], VALUES[worst])])
    assert NAMES[worst] not in suggest()


def test_a_pin_enters_a_batch_of_which_some_were_vetoed_and_another_graph_leaves_it():
    first, *rest = suggest()
    outside = next(name for name in NAMES if name not in {first, *rest, *(key for key, _ in RESULTS)})
    pinned = next(name for name in NAMES[::-1] if name not in {first, *rest, outside, *(key for key, _ in RESULTS)})
    now = suggest("--veto", outside, "--pin", pinned)
    assert now == [pinned, first, *rest[:2]]
    after = suggest("--veto", first)
    assert after[:3] == [pinned, *rest[:2]]
    assert first not in after
    assert suggest() == suggest("--pin", pinned) == after


def test_a_veto_of_a_molecule_by_a_new_name_or_another_row_of_it_counts():
    rows = [*zip(NAMES, MOLECULES.smiles, strict=True), ("twin", MOLECULES.smiles[1])]
    write("pool.csv", [("id", "smiles"), *rows])
    assert suggest("--pin", "twin")[0] == "m1"
    assert suggest("--pin", "twin")[0] == "m1"
    before = suggest()
    write("pool.csv", [("id", "smiles"), *((f"x{name}", text) for name, text in rows)])
    write("results.csv", [("id", "logp"), *((f"x{name}", value) for name, value in RESULTS)])
    now = suggest("--veto", f"x{before[1]}", "--forget")
    assert f"x{before[1]}" not in {*now, *state()["pending"]}


def test_smiles_are_ids_of_a_pool_without_names_and_may_be_vetoed():
    write("pool.csv", [("smiles",), *((text,) for text in MOLECULES.smiles)])
    write("results.csv", [("smiles", "logp"), *((MOLECULES.smiles[k], VALUES[k]) for k in range(0, 60, 6))])
    before = suggest()
    vetoed = next(text for text in before if "=" in text)
    now = suggest("--veto", f"{vetoed}=E = Z is not known")
    assert vetoed not in now
    assert state()["vetoed"][0] == {"id": vetoed, "reason": "E = Z is not known", "by": "", "round": 1}


def test_another_number_of_molecules_is_another_question_and_keeps_nothing():
    before = suggest()
    suggest("--veto", before[0])
    given = ("--measured", "results.csv", "--n", "1", "--maximize", "logp", "--out", "out.csv")
    assert main(["suggest", "pool.csv", *given]) == 0
    assert len(read()) == 1


def test_a_lifted_veto_lets_a_molecule_come_back():
    before = suggest()
    suggest("--veto", before[0])
    assert before[0] not in suggest()
    assert before[0] in suggest("--lift", before[0], "--undo")
    assert "vetoed" not in state()


def test_comments_are_kept_and_a_veto_is_a_state_of_the_predictions(capsys):
    before = suggest()
    suggest("--comment", f"{before[0]}=looks odd = ask Bo", "--veto", before[1], "--predictions", "all.csv")
    assert f"Comments: {before[0]}: looks odd = ask Bo." in " ".join(capsys.readouterr().out.split())
    assert state()["comments"] == [{"id": before[0], "text": "looks odd = ask Bo", "by": "", "round": 1}]
    assert {row["id"]: row["state"] for row in read("all.csv")}[before[1]] == "vetoed"


def test_a_library_of_products_knows_them_too():
    main(["library", "--products", "--out", "products"])
    arguments = ["suggest", "products/library.toml", "--maximize", "logp", "--n", "3", "--out", "out.csv"]
    assert main(arguments) == 0
    before = [row["id"] for row in read()]
    assert main([*arguments, "--veto", before[0]]) == 0
    now = [row["id"] for row in read()]
    assert now[:2] == before[1:]
    assert now[2] not in before


def test_other_graphs_can_be_vetoed_too():
    with open("graphs.jsonl", "w", encoding="utf-8") as file:
        for k in range(12):
            graph = nx.path_graph(3 + k)
            graph.graph["id"] = f"g{k}"
            nx.set_node_attributes(graph, float(k), "x")
            file.write(f"{json.dumps(nx.node_link_data(graph))}\n")
    write("results.csv", [("id", "logp"), ("g0", 1.0), ("g5", 2.0), ("g9", 2.5)])
    before = suggest(pool="graphs.jsonl")
    now = suggest("--veto", before[2], pool="graphs.jsonl")
    assert set(now) >= {*before} - {before[2]}
    assert before[2] not in now


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--veto", "m99"), "the id of a molecule"),
        (("--veto", "m0"), "not measured yet"),
        (("--pin", "m0"), "can be suggested"),
        (("--veto", "m1", "--pin", "m1"), "once in"),
        (("--pin", HEAVIEST, "--require", "mw<250"), f"`{HEAVIEST}` does not meet the limits"),
    ],
)
def test_marks_that_cannot_be_are_refused_and_nothing_is_written(arguments, text, capsys):
    before = suggest()
    saved = state()
    capsys.readouterr()
    assert suggest(*arguments, code=1) == before
    assert text in " ".join(capsys.readouterr().err.split())
    assert state() == saved


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--comment", "m1"), "ID=TEXT"),
        (("--by", "Ann"), "--veto` or `--comment"),
    ],
)
def test_marks_that_say_nothing_are_refused_at_the_door(arguments, text, capsys):
    with pytest.raises(SystemExit):
        suggest(*arguments)
    assert text in " ".join(capsys.readouterr().err.split())
