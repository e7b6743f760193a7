"""`suggest` on files of graphs that are not molecules."""

import csv
import json

import networkx as nx
import pytest
import torch
from support.tables import read, write
from torch_geometric.data import Data

from graph_bandit_campaign.file import CampaignFile
from graph_bandit_cli.main import main

GRAPHS = [nx.connected_watts_strogatz_graph(6 + k % 5, 4, 0.1 * (k % 7), seed=k) for k in range(14)]
SCORES = [nx.average_clustering(graph) for graph in GRAPHS]
GOALS = ("--maximize", "score", "--minimize", "size", "--n", "2", "--out", "two.csv", "--overwrite")
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


def test_a_file_of_graphs_is_a_pool_whose_values_are_not_used(capsys):
    assert suggest(measured=()) == 0
    first = read("out.csv")
    assert {row["predicted_score"] for row in first} == {""}
    assert suggest("--html", "out.html", "--predictions", "all.csv") == 0
    suggested, rows = read("out.csv"), read("all.csv")
    assert list(suggested[0])[:3] == ["rank", "id", "predicted_score"]
    assert not [name for name in suggested[0] if name.startswith(("smiles", "nearest", "reasons"))]
    assert [row["id"] for row in rows] == [f"net-{k}" for k in range(len(GRAPHS))]
    states = {row["id"]: row["state"] for row in rows}
    assert [states[f"net-{k}"] for k in range(6)] == ["measured"] * 6
    assert {states[row["id"]] for row in suggested} == {"suggested"}
    assert "14 graphs, 6 measurements" in capsys.readouterr().out
    with open("out.html", encoding="utf-8") as file:
        page = file.read()
    assert page.count('<div class="structure"') == 2
    assert "nodes, " in page
    assert "olecule" not in page


def test_the_default_agent_is_that_of_other_graphs_and_says_what_it_compares(capsys):
    assert suggest("--html", "out.html", agent=()) == 0
    with open("out.html", encoding="utf-8") as file:
        page = file.read()
    for shown in (page, capsys.readouterr().out):
        assert "Shares of what the model compares" in shown
        assert "olecule" not in shown
    with open("out.campaign.json", encoding="utf-8") as file:
        assert json.load(file)["agent"] == "gp-ucb:warp=normal_scores"


def test_the_same_question_gets_the_same_answer_and_other_results_make_another_round(folder):
    assert suggest() == 0
    first = read("out.csv")
    assert suggest() == 0
    assert read("out.csv") == first
    with open("results.csv", "a", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([(first[0]["id"], 0.5), (first[1]["id"], "failed")])
    assert suggest() == 0
    state = CampaignFile(folder / "out.campaign.json").read()
    assert [len(suggested) for suggested in state.rounds] == [2, 2]
    assert len(state.measured) == 7
    assert state.failed == (first[1]["id"],)


def test_values_of_graphs_of_pyg_are_not_taken_for_results(capsys):
    graphs = []
    for k, graph in enumerate(GRAPHS):
        links = torch.tensor(list(nx.DiGraph(graph).edges)).T
        x = torch.tensor([[graph.degree[node] / 4, 1.0] for node in graph])
        graphs.append(Data(x=x, edge_index=links, y=torch.tensor([SCORES[k]]), name=f"net-{k}"))
    torch.save(graphs, "nets.pt")
    assert suggest("--id", "name", pool="nets.pt") == 0
    assert "6 measurements, the values in nets.pt are not used as results" in capsys.readouterr().out
    assert suggest(pool="nets.pt") == 1
    assert "Its ids are like `0`; `--id` names others" in capsys.readouterr().err


def test_edges_of_pyg_graphs_in_one_direction_need_a_word(capsys):
    torch.save([Data(x=torch.full((2, 1), float(k)), edge_index=torch.tensor([[0], [1]])) for k in range(4)], "nets.pt")
    assert suggest(pool="nets.pt", measured=()) == 1
    assert "`directed=True` keeps the directions" in capsys.readouterr().err
    assert suggest("--directed", "False", pool="nets.pt", measured=()) == 0
    assert suggest("--directed", "True", pool="nets.pt", measured=()) == 1
    said = capsys.readouterr().err
    assert "to be the same graph as in earlier rounds" in said
    assert said.endswith("If the campaign began with undirected graphs, give `--directed False`.\n")


def test_molecules_have_no_directions(capsys):
    write("pool.csv", [("id", "smiles"), ("a", "CCO"), ("b", "CCN")])
    assert suggest("--directed", "True", pool="pool.csv", measured=(), agent=()) == 1
    assert (
        "Expected no `--directed True` for molecules, whose bonds have no direction. Got pool.csv"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    "options",
    [["--forbid", "pains"], ["--features", "x"], ["--trust-ids"], ["--most-atoms", "9"]],
)
def test_what_needs_molecules_is_refused(options, capsys):
    assert suggest(*options) == 1
    assert f"Expected molecules for {options[0]}. nets.jsonl holds other graphs" in capsys.readouterr().err


def test_limits_are_on_results_and_prices_are_one(capsys):
    assert suggest("--require", "mw<500") == 1
    assert "Expected limits on columns of the results" in capsys.readouterr().err
    assert suggest("--price", "cost") == 1
    assert "Expected molecules for --price cost." in capsys.readouterr().err


def test_several_goals_limits_on_results_and_a_budget_need_no_molecules(capsys):
    rows = [(f"net-{k}", SCORES[k], len(GRAPHS[k]), k % 3) for k in range(6)]
    write("results.csv", [("id", "score", "size", "rings"), *rows])
    assert suggest("--require", "rings<2", agent=()) == 0  # a result here, and a property of molecules alone
    priced = ("--price", "3", "--budget", "7", "--predictions", "all.csv", "--html", "out.html")
    assert suggest("--require", "size<=9", *priced, "--overwrite", "--forget", agent=()) == 0
    assert "a budget of 7: 1 is left" in capsys.readouterr().out
    assert {"predicted_score", "predicted_size", "probability_in_range_size"} <= set(read("out.csv")[0])
    assert main(["suggest", "nets.jsonl", "--measured", "results.csv", *priced, *GOALS]) == 0
    assert {"predicted_score", "predicted_size", "probability_of_front"} <= set(read("all.csv")[0])
    with open("out.html", encoding="utf-8") as file:
        page = file.read()
    assert "on the front" in page
    assert "olecule" not in page


def test_a_file_of_molecules_is_not_written_for_other_graphs(capsys):
    assert suggest("--predictions", "all.SDF") == 1
    assert "Expected molecules for `--predictions all.SDF`. nets.jsonl holds other" in capsys.readouterr().err


def test_agents_that_need_molecules_are_refused(capsys):
    assert suggest(agent=("--agent", "molecule-ucb")) == 1
    assert "needs molecules" in capsys.readouterr().err


def test_an_id_that_is_given_to_another_graph_is_refused(capsys):
    assert suggest() == 0
    write_lines([GRAPHS[1], GRAPHS[0], *GRAPHS[2:]])
    assert suggest() == 1
    assert "`net-0` to be the same graph as in earlier rounds" in capsys.readouterr().err


def test_a_graph_without_results_may_change_or_leave():
    assert suggest() == 0
    suggested = {row["id"] for row in read("out.csv")}
    last = next(k for k in range(13, 0, -1) if f"net-{k}" not in suggested)
    write_lines([*GRAPHS[:last], GRAPHS[0], *GRAPHS[last + 1 :]])
    assert suggest() == 0


def test_a_result_of_an_unknown_graph_is_refused(capsys):
    write("results.csv", [("id", "score"), ("net-3", 0.5), ("Net-4", 0.5), ("net-99", 1.0)])
    assert suggest() == 1
    told = capsys.readouterr().err
    assert "line 3: the pool has no `Net-4`, and the agent cannot learn from a graph that it lacks. Did you" in told
    assert "line 4: the pool has no `net-99`" in told
