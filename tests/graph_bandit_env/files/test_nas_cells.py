"""Cells of NAS-Bench-201 become the graphs that networkx makes of them."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.pools import assert_equal_pools

from graph_bandit_env import from_networkx
from graph_bandit_env.files import from_nas_cells, read_pool

NAMES = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")
CELL = "|avg_pool_3x3~0|+|nor_conv_1x1~0|skip_connect~1|+|nor_conv_1x1~0|skip_connect~1|none~2|"
EMPTY = "|none~0|+|none~0|none~1|+|none~0|none~1|none~2|"


def write_cell(names):
    return "|{}~0|+|{}~0|{}~1|+|{}~0|{}~1|{}~2|".format(*names)


def reference(cell):
    """Make the graph with networkx: operations are nodes, joined where one begins at the tensor where another ends."""
    kinds = {}
    for target, group in enumerate(cell.split("+"), start=1):
        for item in group.strip("|").split("|"):
            name, source = item.split("~")
            kinds[int(source), target] = name
    pairs = list(kinds)
    kinds = {pair: name for pair, name in kinds.items() if name != "none"} | {(-1, 0): "input", (3, 4): "output"}
    graph = nx.DiGraph(name=cell)
    for pair, kind in kinds.items():
        one_hot = [float(kind == name) for name in ("input", "output", *NAMES[1:])]
        graph.add_node(pair, x=one_hot + [float(pair == other) for other in pairs])
    graph.add_edges_from((a, b) for a, b in itertools.permutations(kinds, 2) if a[1] == b[0])
    return graph


@given(st.lists(st.tuples(*[st.sampled_from(NAMES)] * 6).map(write_cell), min_size=1, max_size=10, unique=True))
def test_any_cells_are_the_graphs_of_networkx(cells):
    graphs = [reference(cell) for cell in cells]
    assert_equal_pools(from_nas_cells(cells), from_networkx(graphs))
    assert_equal_pools(from_nas_cells(cells, directed=False), from_networkx(map(nx.Graph, graphs)))


def test_an_empty_cell_has_its_input_and_its_output_only():
    (graph,) = from_nas_cells([EMPTY])
    assert graph.nodes.sum(axis=0).tolist() == [1.0, 1.0] + [0.0] * 10
    assert graph.edge_links.shape == (0, 2)


@settings(max_examples=20)
@given(st.text(max_size=5), st.integers(0, len(CELL)))
def test_what_is_not_a_cell_is_refused(piece, place):
    text = CELL[:place] + piece + CELL[place + 1 :]
    if text != CELL:
        with pytest.raises(ValueError, match="Expected a cell of NAS-Bench-201 with operations none, skip_connect"):
            from_nas_cells([text])


def test_a_missing_cell_is_refused():
    with pytest.raises(ValueError, match="Got nan"):
        from_nas_cells([float("nan")])


def write(path, *rows):
    path.write_text("\n".join(["arch,cellstr,accuracy", *rows]), encoding="utf-8")
    return path


def test_a_table_of_cells_is_read_with_any_column_as_target(tmp_path):
    path = write(tmp_path / "cells.csv", f"7,{CELL},69.5", f"8,{EMPTY},")
    pool = read_pool(path, "accuracy")
    assert_equal_pools(pool, from_nas_cells([CELL, EMPTY], [69.5, np.nan]))
    assert pool.ids == (CELL, EMPTY)
    assert read_pool(path, "arch", identifier="arch").ids == ("7", "8")
    assert read_pool(path, "arch").targets.tolist() == [7.0, 8.0]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([f"7,{CELL},69.5", "8,|none~0|,1"], r"cells.csv, line 3: Expected a cell .* Got '\|none~0\|'"),
        ([f"7,{CELL},high"], "cells.csv, line 2: expected a number in `accuracy`"),
        ([f"7,{CELL},1", f"8,{CELL},1"], "all different"),
        ([f"7,{CELL},1,2"], "cells.csv, line 2: expected 3 cells"),
        ([f"7,{CELL},"], "Expected measured values in `accuracy` of .*cells.csv. Got none"),
        ([], "Expected at least one graph in .*cells.csv"),
    ],
)
def test_a_bad_row_is_named(tmp_path, rows, expected):
    with pytest.raises(ValueError, match=expected):
        read_pool(write(tmp_path / "cells.csv", *rows), "accuracy")


def test_a_table_of_cells_is_directed_unless_one_says_no(tmp_path):
    path = write(tmp_path / "cells.csv", f"7,{CELL},69.5")
    assert read_pool(path).directed
    assert read_pool(path, directed=True).directed
    assert_equal_pools(read_pool(path, directed=False), from_nas_cells([CELL], directed=False))
