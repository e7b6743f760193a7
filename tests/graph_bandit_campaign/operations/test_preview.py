"""What a pool holds, before a campaign begins."""

import json
from pathlib import Path

import networkx as nx
import pytest
from support.tables import write

from graph_bandit_campaign import PrepareSettings as Prepare
from graph_bandit_campaign import Source, prepare, preview_pool


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_table_is_described_with_each_row_that_is_bad():
    rows = [("id", "smiles", "price", "vendor"), ("a", "CCO", "3", "X"), ("b", "C(C", "4", "Y"), ("c", "OCC", "", "X")]
    write("pool.csv", [*rows, ("d", "CC[NH3+].[Cl-]", "cheap", "")])
    preview = preview_pool(Source(path=Path("pool.csv")))
    assert (preview.kind, preview.count, preview.bad_count) == ("molecules", 2, 1)
    assert preview.bad[0].startswith("pool.csv, line 3:")
    assert preview.first[0] == ("a", "CCO")
    columns = {column.name: (column.filled, column.numbers) for column in preview.columns}
    assert columns == {"price": (2, 1), "vendor": (2, 0)}
    assert any("merged" in note for note in preview.notes)
    assert any("parent: d" in note for note in preview.notes)


def test_other_graphs_are_counted():
    graphs = [nx.Graph([(0, 1)], id=name) for name in "abc"]
    for graph in graphs:
        nx.set_node_attributes(graph, [1.0], "x")
    Path("pool.jsonl").write_text("".join(json.dumps(nx.node_link_data(graph)) + "\n" for graph in graphs))
    preview = preview_pool(Source(path=Path("pool.jsonl")))
    assert (preview.kind, preview.count, preview.first) == ("graphs", 3, (("a", ""), ("b", ""), ("c", "")))


def test_a_prepared_pool_is_described():
    write("pool.csv", [("id", "smiles", "price"), ("a", "CCO", "3"), ("b", "CCN", "4")])
    prepare(Prepare(Path("pool.csv"), Path("prepared"), workers=None))
    preview = preview_pool(Source(path=Path("prepared")))
    assert (preview.count, [column.name for column in preview.columns]) == (2, ["price"])
