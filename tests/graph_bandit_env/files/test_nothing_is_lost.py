"""Two inputs that differ become different graphs, or are counted, or refused: by any door, in any form."""

import json

import networkx as nx
import pandas as pd
import pytest
import torch
from torch_geometric.data import Batch, Data, InMemoryDataset

from graph_bandit_campaign import Campaign
from graph_bandit_env import from_networkx, from_pyg_dataset
from graph_bandit_env.files import digest, read_pool
from graph_bandit_env.graphs import NotReadWarning

LINKS = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
ONES, WEIGHTS = [1.0] * 4, [0.1, 0.1, 0.9, 0.9]


def pyg(**attributes):
    given = {name: torch.tensor(value) if isinstance(value, list) else value for name, value in attributes.items()}
    return Data(**{"x": torch.ones(3, 2), "edge_index": LINKS} | given)


def adjacency(values):
    return pyg(
        edge_index=None, adj_t=torch.sparse_coo_tensor(LINKS, torch.tensor(values), (3, 3), check_invariants=True)
    )


def path(kind=nx.Graph, node=None, edge=None, names=(0, 1, 2), edges=((0, 1), (1, 2)), **attributes):
    graph = kind(**attributes)
    graph.add_nodes_from((name, {"x": 1.0, **(node or {})}) for name in names)
    graph.add_edges_from((names[u], names[v], *key, edge or {}) for u, v, *key in edges)
    return graph


PAIRS = {
    "adj_t": ("differ", adjacency(ONES), adjacency(WEIGHTS)),
    "edge_weight": ("differ", pyg(edge_weight=ONES), pyg(edge_weight=WEIGHTS)),
    "edge_attr beside edge_weight": (
        "differ",
        pyg(edge_weight=ONES, edge_attr=ONES),
        pyg(edge_weight=ONES, edge_attr=WEIGHTS),
    ),
    "edge_weight of some": ("refused", pyg(edge_weight=ONES), pyg()),
    "pos": ("counted", pyg(pos=[[0.0, 0.0]] * 3), pyg(pos=[[0.0, 1.0]] * 3)),
    "graph attribute": ("counted", pyg(charge=1), pyg(charge=2)),
    "digits": ("counted", pyg(x=[[2**24], [1], [1]]), pyg(x=[[2**24 + 1], [1], [1]])),
    "digits of float64": ("counted", *(pyg(x=torch.full((3, 1), 1 + e, dtype=torch.double)) for e in (0, 1e-9))),
    "weight": ("differ", path(edge={"weight": 1.0}), path(edge={"weight": 2.0})),
    "edge_attr": ("differ", path(edge={"edge_attr": [1.0, 2.0]}), path(edge={"edge_attr": [1.0, 3.0]})),
    "numbers as text": ("differ", path(edge={"weight": "1.5"}), path(edge={"weight": "2"})),
    "words": ("refused", path(edge={"weight": "strong"}), path(edge={"weight": "weak"})),
    "ragged": ("refused", path(node={"x": [1.0]}), path(node={"x": [1.0, 2.0]})),
    "other attribute of edges": ("counted", path(edge={"colour": {"red": 1}}), path(edge={"colour": {"blue": 1}})),
    "other attribute of nodes": ("counted", path(node={"charge": 1}), path(node={"charge": 2})),
    "other attribute of graphs": ("counted", path(season="dry"), path(season="wet")),
    "parallel edges": (
        "counted",
        path(nx.MultiGraph, edges=[(0, 1), (0, 1), (1, 2)]),
        path(nx.MultiGraph, edges=[(0, 1), (1, 2), (1, 2)]),
    ),
    "keys of edges": (
        "counted",
        path(nx.MultiGraph, edges=[(0, 1, "binds"), (1, 2, "binds")]),
        path(nx.MultiGraph, edges=[(0, 1, "cuts"), (1, 2, "cuts")]),
    ),
    "names of nodes": ("counted", path(names=("TP53", "EGFR", "KRAS")), path(names=("BRCA1", "MYC", "ALK"))),
    "directions": ("differ", path(nx.DiGraph), path(nx.DiGraph, edges=[(0, 1), (2, 1)])),
    "both equal": ("equal", path(), path()),
}


@pytest.mark.filterwarnings("ignore:2 of 2 graphs have parallel edges")
@pytest.mark.parametrize("door", ["python", "file"])
@pytest.mark.parametrize(("outcome", "first", "second"), PAIRS.values(), ids=PAIRS)
def test_inputs_that_differ_stay_different_or_are_counted_or_refused(tmp_path, door, outcome, first, second):
    is_pyg = isinstance(first, Data)
    if door == "python":
        given, read = [first, second], from_pyg_dataset if is_pyg else from_networkx
    elif is_pyg:
        given, read = tmp_path / "pool.pt", read_pool
        torch.save([first, second], given)
    else:
        given, read = tmp_path / "pool.jsonl", read_pool
        lines = [json.dumps(nx.node_link_data(graph, edges="edges")) for graph in (first, second)]
        given.write_text("\n".join(lines))
    if outcome == "refused":
        with pytest.raises(ValueError, match=r"Graph [01]|line [12]"):
            read(given)
    elif outcome == "counted":
        with pytest.warns(NotReadWarning, match="1 of 2 graphs"):
            read(given)
    else:
        one, other = (digest(read(given).take([k])) for k in (0, 1))
        assert (one == other) == (outcome == "equal")


FORMS = {
    "graphml": nx.write_graphml,
    "gexf": nx.write_gexf,
    "gml": nx.write_gml,
    "json": lambda graph, file: file.write_text(json.dumps(nx.node_link_data(graph, edges="links"))),
    "array.json": lambda graph, file: file.write_text(json.dumps([nx.node_link_data(graph, edges="edges")], indent=1)),
    "array.jsonl": lambda graph, file: file.write_text(json.dumps([nx.node_link_data(graph, edges="edges")])),
}


@pytest.mark.parametrize(("form", "write"), FORMS.items(), ids=FORMS)
def test_files_of_graphs_are_read_with_all_that_is_on_every_node_and_edge(tmp_path, form, write):
    graph = nx.Graph(y=2.5)
    graph.add_nodes_from(
        [
            ("a", {"kind": "bus", "load": 1.0}),
            ("b", {"kind": "gen", "load": 2.0}),
            ("c", {"kind": "bus", "load": 3.0, "far": 4.0}),
        ]
    )
    graph.add_edges_from([("a", "b", {"weight": 1.5}), ("b", "c", {"weight": 2.5})])
    write(graph, tmp_path / f"network.{form}")
    with pytest.warns(NotReadWarning, match="`far` of nodes"):
        pool = read_pool(tmp_path / f"network.{form}", None if form == "gexf" else "y")
    assert pool[0].nodes.tolist() == [[1.0, 0.0, 1.0], [0.0, 1.0, 2.0], [1.0, 0.0, 3.0]]
    assert sorted(pool[0].edges.ravel().tolist()) == [1.5, 1.5, 2.5, 2.5]
    assert form == "gexf" or pool.targets.tolist() == [2.5]  # its files hold no attributes of graphs


def test_a_folder_of_graphs_is_one_pool_whose_ids_are_the_names_of_files(tmp_path):
    for k, name in enumerate(("north", "south")):
        nx.write_graphml(path(edge={"weight": float(k)}), tmp_path / f"{name}.graphml")
    pool = read_pool(tmp_path)
    assert (pool.ids, [graph.edges.ravel().tolist() for graph in pool]) == (("north", "south"), [[0.0] * 4, [1.0] * 4])


def test_a_folder_of_a_tu_dataset_is_read_as_pyg_reads_it(tmp_path):
    (tmp_path / "raw").mkdir()
    for part, text in {
        "A": "1, 2\n2, 1\n3, 4\n4, 3\n",
        "graph_indicator": "1\n1\n2\n2\n",
        "graph_labels": "1\n-1\n",
        "node_labels": "0\n1\n1\n1\n",
        "edge_attributes": "0.5\n0.5\n2\n2\n",
        "node_positions": "0\n0\n0\n0\n",
    }.items():
        (tmp_path / "raw" / f"KKI_{part}.txt").write_text(text)
    with pytest.warns(NotReadWarning, match="KKI_node_positions"):
        pool = read_pool(tmp_path, "y")
    assert [graph.nodes.tolist() for graph in pool] == [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]]
    assert [graph.edges.ravel().tolist() for graph in pool] == [[0.5, 0.5], [2.0, 2.0]]
    assert pool.targets.tolist() == [1.0, 0.0]


def dataset():
    made = InMemoryDataset()
    made.data, made.slices = made.collate([pyg(), pyg()])
    return made


POOLS = {
    "networkx": lambda folder: [path(name="a"), path(name="b")],
    "SMILES": lambda folder: ["CCO", "CCN"],
    "DataFrame": lambda folder: pd.DataFrame({"smiles": ["CCO", "CCN"], "id": [7, 8]}),
    "path": lambda folder: write_text(folder / "pool.csv", "smiles\nCCO\nCCN\n"),
    "text of a path": lambda folder: str(write_text(folder / "pool.smi", "CCO a\nCCN b\n")),
    "PyG": lambda folder: [pyg(), pyg()],
    "dataset": lambda folder: dataset(),
    "Batch": lambda folder: Batch.from_data_list([pyg(), pyg()]),
}


def write_text(file, text):
    file.write_text(text)
    return file


@pytest.mark.parametrize("make", POOLS.values(), ids=POOLS)
def test_a_campaign_begins_with_what_people_have(tmp_path, make):
    campaign = Campaign(make(tmp_path))
    (first,) = campaign.ask()
    campaign.tell([(first.id, 1.0), (first.id, 1.0)])
    assert [result.value for result in campaign.state.measured] == [1.0]


@pytest.mark.parametrize("given", [[3, 4], [], 7, ["CCO", path()], "nowhere.csv", pd.DataFrame({"a": [1]})])
def test_what_makes_no_pool_is_refused_at_once(given):
    with pytest.raises((ValueError, TypeError, FileNotFoundError)):
        Campaign(given)
