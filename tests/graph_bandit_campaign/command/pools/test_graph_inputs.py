"""`suggest` on files of graphs that are not molecules."""

import json

import networkx as nx
import pytest
import torch
from support.tables import read, write
from torch_geometric.data import Data

from graph_bandit_cli.main import main

GRAPHS = [nx.connected_watts_strogatz_graph(6 + k % 5, 4, 0.1 * (k % 7), seed=k) for k in range(14)]
SCORES = [nx.average_clustering(graph) for graph in GRAPHS]
AGENT = ("--agent", "gnn-greedy:width=16,steps=20")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_lines()
    write("results.csv", [("id", "score"), *((f"net-{k}", SCORES[k]) for k in range(6))])
    return tmp_path


def write_lines(graphs=GRAPHS):
    lines = []
    for k, graph in enumerate(graphs):
        for node in graph:
            graph.nodes[node]["x"] = [graph.degree[node] / 4, 1.0]
        graph.graph = {"id": f"net-{k}", "score": SCORES[k]}
        lines.append(json.dumps(nx.node_link_data(graph, edges="edges")))
    with open("nets.jsonl", "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


def suggest(*more, pool="nets.jsonl", measured=("--measured", "results.csv"), agent=AGENT):
    return main(["suggest", pool, *measured, "--n", "2", "--maximize", "score", "--out", "out.csv", *agent, *more])


def test_a_page_of_graphs_draws_none_and_speaks_of_no_molecules(capsys):
    assert suggest("--html", "out.html") == 0
    assert not [name for name in read("out.csv")[0] if name.startswith(("smiles", "nearest", "reasons"))]
    with open("out.html", encoding="utf-8") as file:
        page = file.read()
    assert page.count('<div class="card"') == 2
    assert '<div class="structure"' not in page
    assert "olecule" not in page + capsys.readouterr().out


def test_edges_of_pyg_graphs_in_one_direction_need_a_word(capsys):
    torch.save([Data(x=torch.full((2, 1), float(k)), edge_index=torch.tensor([[0], [1]])) for k in range(4)], "nets.pt")
    assert suggest(pool="nets.pt", measured=()) == 1
    assert "`directed=True`" in capsys.readouterr().err
    assert suggest("--directed", "False", pool="nets.pt", measured=()) == 0
    assert suggest("--directed", "True", pool="nets.pt", measured=()) == 1
    assert "`--directed False`" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    [["--forbid", "pains"], ["--features", "x"], ["--most-atoms", "9"]],
)
def test_what_needs_molecules_is_refused(options, capsys):
    assert suggest(*options) == 1
    assert options[0] in capsys.readouterr().err


def test_an_id_that_is_given_to_another_graph_is_refused(capsys):
    assert suggest() == 0
    write_lines([GRAPHS[1], GRAPHS[0], *GRAPHS[2:]])
    assert suggest() == 1
    assert "`net-0`" in capsys.readouterr().err
