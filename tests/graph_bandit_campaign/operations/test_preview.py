"""What a pool holds, before a campaign begins."""

import json
from pathlib import Path

import networkx as nx
import pytest
from support.tables import write

from graph_bandit_campaign import Place, Source, prepare, preview_pool, preview_results
from graph_bandit_campaign import PrepareSettings as Prepare
from graph_bandit_cli.main import main


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_table_is_described_with_each_row_that_is_bad():
    rows = [("id", "smiles", "price", "vendor"), ("a", "CCO", "3", "X"), ("b", "C(C", "4", "Y"), ("c", "OCC", "", "X")]
    write("pool.csv", [*rows, ("d", "CC[NH3+].[Cl-]", "cheap", "")])
    preview = preview_pool(Source(path=Path("pool.csv")))
    assert (preview.kind, preview.count, preview.bad_count) == ("molecules", 2, 1)
    assert preview.bad[0].startswith("pool.csv, line 3:")
    assert (preview.columns, preview.first[0]) == (rows[0], rows[1])
    assert (preview.numbers, preview.taken) == (("price",), {"smiles": "smiles", "id": "id"})
    assert any("merged" in note for note in preview.notes)
    assert any("parent: d" in note for note in preview.notes)


def test_other_graphs_are_counted():
    graphs = [nx.Graph([(0, 1)], id=name) for name in "abc"]
    for graph in graphs:
        nx.set_node_attributes(graph, [1.0], "x")
    Path("pool.jsonl").write_text("".join(json.dumps(nx.node_link_data(graph)) + "\n" for graph in graphs))
    preview = preview_pool(Source(path=Path("pool.jsonl")))
    assert (preview.kind, preview.count, preview.first) == ("graphs", 3, (("a",), ("b",), ("c",)))


def test_a_prepared_pool_is_described():
    write("pool.csv", [("id", "smiles", "price"), ("a", "CCO", "3"), ("b", "CCN", "4")])
    prepare(Prepare(Path("pool.csv"), Path("prepared"), workers=None))
    preview = preview_pool(Source(path=Path("prepared")))
    assert (preview.count, preview.columns) == (2, ("price",))


def test_results_are_shown_row_by_row_with_what_is_wrong_and_what_was_known(tmp_path):
    write("pool.csv", [("id", "smiles"), ("a", "CCO"), ("b", "CCN"), ("c", "CCCl"), ("d", "CCCO")])
    write("known.csv", [("id", "y"), ("a", 1), ("b", 2)])
    command = ["suggest", "pool.csv", "--measured", "known.csv", "--maximize", "y", "--n", "1", "--out", "out.csv"]
    assert main([*command, "--agent", "random"]) == 0
    rows = [
        ("Name", "Y", "note"),
        ("a", "1,5", ""),
        ("b", "2", ""),
        ("c", "n.d.", ""),
        ("d", "much", ""),
        ("nobody", "3", ""),
    ]
    write("plate.csv", rows, ";")
    shown = preview_results(Place(tmp_path / "out.campaign.json", workers=None), Path("plate.csv"), {"id": "Name"})
    assert (shown.taken, shown.columns) == ({"id": "Name", "smiles": "", "y": "Y"}, ("Name", "Y", "note"))
    said = [(row.id, row.smiles, dict(row.values), bool(row.problem), dict(row.before)) for row in shown.rows]
    assert said[:2] == [("a", "CCO", {"y": "1.5"}, False, {"y": "1"}), ("b", "CCN", {"y": "2"}, False, {})]
    said = [(row.where, row.id, dict(row.values), bool(row.problem)) for row in shown.rows[2:]]
    assert said == [
        ("plate.csv, line 6", "nobody", {"y": "3"}, True),
        ("plate.csv, line 4", "c", {"y": "n.d."}, True),  # which says that there is none
        ("plate.csv, line 5", "d", {"y": "much"}, True),
    ]


def test_a_table_without_the_columns_that_are_looked_for_says_which_it_has(tmp_path):
    write("pool.csv", [("id", "smiles"), ("a", "CCO"), ("b", "CCN")])
    assert main(["suggest", "pool.csv", "--maximize", "y", "--n", "1", "--out", "out.csv", "--agent", "random"]) == 0
    write("plate.csv", [("Compound", "IC50"), ("a", 1)])
    shown = preview_results(Place(tmp_path / "out.campaign.json", workers=None), Path("plate.csv"))
    assert (shown.columns, shown.taken["y"], shown.rows) == (("Compound", "IC50"), "", ())
    write("odd.csv", [("Compound", "Structure of it"), ("a", "CCO")])
    preview = preview_pool(Source(path=Path("odd.csv")))
    assert (preview.columns, preview.count) == (("Compound", "Structure of it"), 0)
    assert preview.problem
