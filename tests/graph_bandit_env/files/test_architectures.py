"""Architectures of NAS-Bench-Graph become the graphs that networkx makes of them."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pools import assert_equal_pools

from graph_bandit_env import from_networkx
from graph_bandit_env.files import from_architectures, holds_molecules, read_pool

NAMES = ("gcn", "gat", "sage", "gin", "cheb", "arma", "graph", "fc", "skip")
LINKS = [f"0{a}{b}{c}" for a in range(2) for b in range(3) for c in range(4)]


def reference(link, operations):
    """Make the graph with networkx."""
    kinds = ["input", *operations.split("|"), "output"]
    graph = nx.DiGraph(name=f"{link}|{operations}")
    for node, kind in enumerate(kinds):
        graph.add_node(node, x=[float(kind == name) for name in ("input", *NAMES, "output")])
    graph.add_edges_from((int(parent), k + 1) for k, parent in enumerate(link))
    graph.add_edges_from([(node, 5) for node in range(1, 5) if not list(graph.successors(node))])
    return graph


ARCHITECTURES = st.tuples(st.sampled_from(LINKS), st.tuples(*[st.sampled_from(NAMES)] * 4).map("|".join))


@given(st.lists(ARCHITECTURES, min_size=1, max_size=10, unique=True))
def test_any_architectures_are_the_graphs_of_networkx(architectures):
    links, operations = zip(*architectures, strict=True)
    expected = from_networkx([reference(*architecture) for architecture in architectures])
    assert_equal_pools(from_architectures(links, operations), expected)


@pytest.mark.parametrize(
    ("link", "operations"),
    [
        ("0024", "gcn|gat|fc|fc"),  # the parent of the fourth is the fourth
        ("1000", "gcn|gat|fc|fc"),
        ("00000", "gcn|gat|fc|fc"),
        ("", "gcn|gat|fc"),
        ("0000", "gcn|gat|fc"),
        ("0000", "gcn|gat|fc|mlp"),
    ],
)
def test_what_is_not_an_architecture_is_refused(link, operations):
    with pytest.raises(ValueError, match="Expected an architecture of NAS-Bench-Graph"):
        from_architectures([link], [operations])


def write(path, *rows, header="link,ops,valid_perf,name"):
    path.write_text("\n".join([header, *rows]), encoding="utf-8")
    return path


def test_a_table_is_read_with_any_column_as_target(tmp_path):
    path = write(tmp_path / "nets.csv", "0013,gcn|gat|fc|skip,0.7,a", "11,gin|gin|fc|arma,,b")
    pool = read_pool(path, "valid_perf")
    expected = from_architectures(["0013", "0011"], ["gcn|gat|fc|skip", "gin|gin|fc|arma"], [0.7, np.nan])
    assert_equal_pools(pool, expected)
    assert pool.ids == ("0013|gcn|gat|fc|skip", "0011|gin|gin|fc|arma")
    assert read_pool(path, identifier="name").ids == ("a", "b")
    assert not holds_molecules(path)


def test_a_table_with_smiles_is_one_of_molecules(tmp_path):
    path = write(tmp_path / "both.csv", "0013,gcn|gat|fc|skip,CCO", header="link,ops,smiles")
    assert holds_molecules(path)
    assert read_pool(path).ids == ("CCO",)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["0013,gcn|gat|fc|skip,1,a", "0013,gcn,1,b"], "nets.csv, line 3: Expected an architecture"),
        (["0013,gcn|gat|fc|skip,high,a"], "nets.csv, line 2: expected a number in `valid_perf`"),
        (["0013,gcn|gat|fc|skip,,a"], "Expected measured values in `valid_perf` of .*nets.csv. Got none"),
        ([], "Expected at least one graph in .*nets.csv"),
    ],
)
def test_a_bad_row_is_named(tmp_path, rows, expected):
    with pytest.raises(ValueError, match=expected):
        read_pool(write(tmp_path / "nets.csv", *rows), "valid_perf")
