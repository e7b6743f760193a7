import itertools
from collections import Counter

import networkx as nx
import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from torch_geometric.data import Batch, Data

from agents.process.parts.subtrees import Labelling, Subtrees, compare_patterns, count_patterns

SIZES = (5, 1, 7, 3, 6, 2)


def labelled_graphs(num_labels=3, edge_labels=0, seed=0, sizes=SIZES):
    """Random graphs whose nodes, and perhaps edges, are labelled by integers."""
    rng = np.random.default_rng(seed)
    graphs = ragged_graphs(sizes, seed=seed)
    for graph in graphs:
        graph.x = torch.from_numpy(rng.integers(0, num_labels, (len(graph.x), 1))).float()
        if edge_labels:
            sums = graph.edge_index.sum(0)  # the same in both directions
            graph.edge_attr = (sums % edge_labels).unsqueeze(1).float()
    return graphs


def read(graphs, iterations=1, bins=4, cosine=False):
    return Subtrees.of(Batch.from_data_list(graphs), iterations, bins, cosine=cosine)


def rows(subtrees, slots=None):
    every = torch.arange(len(subtrees.counts))
    return subtrees.columns(every if slots is None else slots, every)[0]


def counted(graphs, iterations):
    return read(graphs, iterations).counts


def labels_of(nodes, others, bins=2):
    """The labels of other nodes, by what is chosen for some."""
    first, second = (Batch.from_data_list([Data(x=x, edge_index=torch.zeros(2, 0).long())]) for x in (nodes, others))
    return Labelling.of(first, bins).of_nodes(second)


def cosine_by_networkx(graphs, iterations, edge_attr=None):
    counters = []
    for graph in graphs:
        drawn = nx.Graph()
        drawn.add_nodes_from((k, {"label": str(int(label))}) for k, label in enumerate(graph.x[:, 0]))
        for k, (u, v) in enumerate(graph.edge_index.T.tolist()):
            drawn.add_edge(u, v, bond="" if edge_attr is None else str(int(graph.edge_attr[k, 0])))
        hashes = nx.weisfeiler_lehman_subgraph_hashes(
            drawn, edge_attr, "label", iterations, digest_size=16, include_initial_labels=True
        )
        counters.append(Counter((depth, h) for own in hashes.values() for depth, h in enumerate(own)))
    inner = np.array([[sum(a[key] * b[key] for key in a) for b in counters] for a in counters], float)
    return inner / np.sqrt(np.outer(inner.diagonal(), inner.diagonal()))


@pytest.mark.parametrize("edge_labels", [0, 2])
@pytest.mark.parametrize("iterations", [1, 2, 3])
def test_the_kernel_is_the_cosine_between_counts_of_labels_refined_by_networkx(iterations, edge_labels):
    graphs = labelled_graphs(edge_labels=edge_labels)
    found = counted(graphs, iterations)
    expected = cosine_by_networkx(graphs, iterations, "bond" if edge_labels else None)
    np.testing.assert_allclose(compare_patterns(found, found), expected, rtol=1e-14)


def cosine_by_tuples(graphs, iterations):
    """Refine labels that are nested tuples, in which nothing can be mistaken for anything else."""
    counters = []
    for graph in graphs:
        labels = [("node", *map(float, row)) for row in graph.x]
        counter = Counter(labels)
        for _ in range(iterations):
            arriving = [[] for _ in labels]
            for (u, v), row in zip(graph.edge_index.T.tolist(), graph.edge_attr, strict=True):
                arriving[v].append((("edge", *map(float, row)), labels[u]))
            labels = [(own, tuple(sorted(pairs, key=repr))) for own, pairs in zip(labels, arriving, strict=True)]
            counter.update(labels)
        counters.append(counter)
    inner = np.array([[sum(a[key] * b[key] for key in a) for b in counters] for a in counters], float)
    return inner / np.sqrt(np.outer(inner.diagonal(), inner.diagonal()))


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_nodes_and_edges_may_share_their_labels(seed, columns):
    rng, graphs = np.random.default_rng(seed), ragged_graphs((3, 3, 4, 4, 2, 6, 3, 1), seed=seed)
    for graph in graphs:
        graph.x = torch.from_numpy(rng.integers(0, 2, (len(graph.x), columns))).float()
        graph.edge_attr = torch.from_numpy(rng.integers(0, 2, (graph.num_edges, columns))).float()
    found = counted(graphs, 2)
    np.testing.assert_allclose(compare_patterns(found, found), cosine_by_tuples(graphs, 2), rtol=1e-14)


def test_an_edge_a_to_a_node_b_is_not_an_edge_b_to_a_node_a():
    leaves, to_centre = torch.arange(1, 4), torch.tensor([[1, 2, 3], [0, 0, 0]])
    stars = [
        Data(
            x=torch.cat([torch.zeros(1), leaves]).unsqueeze(1).float(),
            edge_index=torch.cat([to_centre, to_centre.flip(0)], dim=1),
            edge_attr=torch.cat([leaves.roll(by), torch.zeros(3)]).unsqueeze(1).float(),
        )
        for by in (1, 2)
    ]
    found = counted(stars, 1)
    assert compare_patterns(found, found)[0, 1] == pytest.approx(7 / 8)  # all but the centre with what arrives there


@pytest.mark.parametrize("iterations", [1, 3])
def test_the_gaussian_is_that_of_the_distances_between_the_counts(iterations):
    dense = counted(labelled_graphs(), iterations).table.toarray()
    square = ((dense[:, None] - dense) ** 2).sum(-1)
    found = read(labelled_graphs(), iterations)
    assert np.median(np.append(square[square > 0], found.square_width)) == found.square_width
    np.testing.assert_allclose(rows(found), np.exp(-square / (2 * found.square_width)), rtol=1e-12)
    np.testing.assert_array_equal(found.diagonal(torch.arange(len(SIZES)))[0], np.diag(rows(found)))


def test_graphs_met_one_by_one_are_like_graphs_met_at_once():
    graphs = ragged_graphs(SIZES)
    first = read(graphs[:3], iterations=2, bins=3)
    grown = first.exchange(torch.tensor([2, 0]), Batch.from_data_list(graphs[3:])).exchange(torch.tensor([4, 1]), None)
    batch = Batch.from_data_list([graphs[5], graphs[0]])
    alone = count_patterns(batch, first.labelling.of_nodes(batch), first.labelling.of_edges(batch), 2)
    other = first.exchange(torch.tensor([]).long(), batch)
    for found, expected in zip(grown.known(), other.known(), strict=True):
        assert torch.equal(found, expected)
    used = np.unique(grown.counts.table.indices)
    np.testing.assert_array_equal(grown.counts.patterns[used], alone.patterns)
    np.testing.assert_array_equal(grown.counts.table[:, used].toarray(), alone.table.toarray())


def test_bins_hold_equally_many_nodes_and_each_feature_is_a_label_of_its_own():
    nodes = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    labels = labels_of(nodes, nodes, bins=4)
    for column, values in zip(labels.T, nodes.T, strict=True):
        found = [values[torch.from_numpy(column == label)] for label in np.unique(column)]
        assert [len(held) for held in found] == [10] * 4
        edges = sorted((float(held.min()), float(held.max())) for held in found)
        assert all(low[1] < high[0] for low, high in itertools.pairwise(edges))
    assert len(np.unique(labels)) == 12  # the first bin of one feature is not that of another


def test_labels_of_later_graphs_are_read_by_the_bins_of_the_first():
    nodes = torch.tensor([[0.5], [1.5], [2.5], [3.5]])
    low, _, _, high = labels_of(nodes, nodes)
    assert labels_of(nodes, torch.tensor([[-9.0], [9.0]])).tolist() == [low.tolist(), high.tolist()]


def test_labels_are_numbers_of_splitmix64():
    """The first three of the published generator from seed 0: a label is a hash of the bits of a feature."""
    bits = np.arange(3, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    labels = labels_of(torch.zeros(1, 1), torch.from_numpy(bits.view(np.float64)).unsqueeze(1))
    assert labels[:, 0].tolist() == [16294208416658607535, 7960286522194355700, 487617019471545679]


def arrows(links, count=3):
    return Data(x=torch.ones(count, 1), edge_index=torch.tensor(links, dtype=torch.int64).reshape(-1, 2).T)


def compare(*graphs):
    subtrees = Subtrees.of(Batch.from_data_list(graphs), iterations=2, bins=4, directed=True)
    every = torch.arange(len(graphs))
    return subtrees.columns(every, every)[0]


def test_arrows_that_are_turned_make_another_graph_and_another_order_of_nodes_does_not():
    from_one, to_one = arrows([(0, 1), (0, 2)]), arrows([(1, 0), (2, 0)])
    renamed = arrows([(2, 0), (2, 1)])
    similarity = compare(from_one, to_one, renamed)
    assert similarity[0, 1] < 1
    assert similarity[0, 2] == 1
