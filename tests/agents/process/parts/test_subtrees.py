import itertools
from collections import Counter

import networkx as nx
import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from torch_geometric.data import Batch, Data

import registry
from agents.kernel import SubtreeSettings
from agents.process.parts.subtrees import Labelling, Subtrees, compare_patterns, count_patterns
from graph_bandit_env import GraphSet

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


def test_the_agents_have_a_version_of_their_own_since_labels_of_edges_are_told_from_those_of_nodes():
    assert registry.make_agent("wl-ucb").algorithm == registry.make_agent("gntk-ucb").algorithm + 1 == 5


@pytest.mark.parametrize("iterations", [1, 3])
def test_the_gaussian_is_that_of_the_distances_between_the_counts(iterations):
    counts = counted(labelled_graphs(), iterations)
    patterns = np.unique(counts.patterns)
    dense = np.zeros((len(SIZES), len(patterns)))
    for k in range(len(SIZES)):
        own = slice(counts.offsets[k], counts.offsets[k + 1])
        dense[k, np.searchsorted(patterns, counts.patterns[own])] = counts.counts[own]
    square = ((dense[:, None] - dense) ** 2).sum(-1)
    found = read(labelled_graphs(), iterations)
    assert np.median(np.append(square[square > 0], found.square_width)) == found.square_width
    np.testing.assert_allclose(rows(found), np.exp(-square / (2 * found.square_width)), rtol=1e-12)
    np.testing.assert_array_equal(found.diagonal(torch.arange(len(SIZES)))[0], np.diag(rows(found)))


def test_equal_graphs_have_a_gaussian_of_one():
    found = read(labelled_graphs(sizes=(4,)) * 3)
    assert found.square_width == 1.0
    np.testing.assert_array_equal(rows(found), np.ones((3, 3)))


def test_a_gaussian_tells_a_graph_from_two_copies_of_it():
    once, *_ = labelled_graphs()
    twice = Data(x=once.x.repeat(2, 1), edge_index=torch.cat([once.edge_index, once.edge_index + len(once.x)], dim=1))
    cosine, gaussian = (rows(read([once, twice], cosine=cosine))[0, 1].item() for cosine in (True, False))
    assert cosine == pytest.approx(1.0)
    assert gaussian == pytest.approx(np.exp(-0.5))


def test_the_width_is_that_of_the_graphs_of_reset_for_graphs_met_later():
    graphs = labelled_graphs()
    all_at_once = read(graphs[:3])
    later = all_at_once.exchange(torch.tensor([2, 0]), Batch.from_data_list(graphs[3:]))
    assert later.square_width == all_at_once.square_width


def test_an_entry_is_the_same_number_in_any_company():
    counts = counted(labelled_graphs(), 2)
    whole = compare_patterns(counts, counts)
    some, few = np.array([4, 0, 2]), np.array([5, 2])
    assert torch.equal(compare_patterns(counts.take(some), counts.take(few)), whole[some][:, few])


def test_graphs_met_one_by_one_are_like_graphs_met_at_once():
    graphs = ragged_graphs(SIZES)
    first = read(graphs[:3], iterations=2, bins=3)
    grown = first.exchange(torch.tensor([2, 0]), Batch.from_data_list(graphs[3:])).exchange(torch.tensor([4, 1]), None)
    batch = Batch.from_data_list([graphs[5], graphs[0]])
    alone = count_patterns(batch, first.labelling.of_nodes(batch), first.labelling.of_edges(batch), 2)
    for name in ("patterns", "counts", "offsets"):
        np.testing.assert_array_equal(getattr(grown.counts, name), getattr(alone, name))


def test_the_order_of_nodes_and_edges_changes_nothing():
    (graph,) = labelled_graphs(sizes=(7,))
    order = torch.tensor([3, 0, 6, 1, 5, 2, 4])
    place = order.argsort()
    other = graph.clone()
    other.x, other.edge_index = graph.x[order], place[graph.edge_index].flip(1)
    same, moved = counted([graph], 3), counted([other], 3)
    np.testing.assert_array_equal(same.patterns, moved.patterns)
    np.testing.assert_array_equal(same.counts, moved.counts)


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


def test_integers_are_labels_as_they_are_and_zero_has_no_sign():
    nodes = torch.tensor([[0.0, 1.0], [1.0, 0.0], [-0.0, 1.0]])
    first, second, third = labels_of(nodes, nodes)[:, 0].tolist()
    assert first == third != second


def test_labels_are_numbers_of_splitmix64():
    """The first three of the published generator from seed 0: a label is a hash of the bits of a feature."""
    bits = np.arange(3, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    labels = labels_of(torch.zeros(1, 1), torch.from_numpy(bits.view(np.float64)).unsqueeze(1))
    assert labels[:, 0].tolist() == [16294208416658607535, 7960286522194355700, 487617019471545679]


@pytest.mark.filterwarnings("ignore:.*look equal:agents.contract.BlindAgentWarning")  # two fall into the same bins
@pytest.mark.parametrize(
    ("unit", "labels", "expected"),
    [
        (1.0, False, "f26c1d7fa1ebef33"),
        (0.1, False, "15ffc613e6007b45"),
        (1.0, True, "675267c0ea4f513c"),  # another one until version 4
        (0.1, True, "6457334c18bce267"),
    ],
    ids=["integers", "bins", "integers and labelled edges", "bins and labelled edges"],
)
def test_graphs_are_known_by_the_same_hash_as_ever(unit, labels, expected):
    """Or saved states would be refused."""
    path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    graphs = [
        Data(
            x=unit * torch.tensor([[k, 1.0], [2, 3], [5, k]]),
            edge_index=path,
            edge_attr=torch.tensor([[2.0], [2], [k], [k]]) if labels else None,
        )
        for k in range(3)
    ]
    agent = registry.make_agent("wl-ucb", bins=3)
    agent.reset(None, seed=0, graph_set=GraphSet.from_pyg(graphs))
    assert agent.state_dict()["identity"]["graphs"][:16] == expected


def test_no_graphs_have_no_rows():
    counts = counted(labelled_graphs(), 1)
    assert compare_patterns(counts.take(np.zeros(0, np.int64)), counts).shape == (0, len(SIZES))


@pytest.mark.parametrize("settings", [{"bins": 2}, {"bins": 256}, {"iterations": 100}])
def test_settings_at_the_edge_are_allowed(settings):
    assert vars(SubtreeSettings(**settings)).items() >= settings.items()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bins": 1}, "`bins` to be from 2 to 256. Got 1"),
        ({"bins": 257}, "`bins` to be from 2 to 256. Got 257"),
        ({"iterations": 101}, "`iterations` to be from 1 to 100. Got 101"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        registry.make_agent("wl-ts", **settings)


@pytest.mark.parametrize("name", ["wl-ts", "wl-ucb"])
def test_the_agent_learns_a_reward_that_counts_labels(name):
    graphs = labelled_graphs(num_labels=3, sizes=(6,) * 40)
    rewards = [float((graph.x == 2).sum()) for graph in graphs]
    agent = registry.make_agent(name)
    agent.reset(None, seed=0, graph_set=GraphSet.from_pyg(graphs))
    for _ in range(30):
        action = agent.select_action(None)
        agent.update(None, action, rewards[action])
    assert rewards[agent.select_action(None)] == max(rewards)


def test_a_label_of_an_edge_counts_whatever_is_shown_beside_it():
    graphs = labelled_graphs(edge_labels=2)
    odd = graphs[0].clone()
    odd.edge_attr = odd.edge_attr + 0.5
    known, everything = read(graphs), torch.arange(len(graphs))
    alone, beside = (
        rows(known.exchange(everything, Batch.from_data_list(new)), torch.tensor([len(graphs)]))
        for new in ([graphs[0]], [graphs[0], odd])
    )
    assert torch.equal(alone[0], beside[0, : len(graphs) + 1])


def test_an_edge_with_a_single_feature_of_one_has_no_label():
    graphs = labelled_graphs()
    plain = counted(graphs, 2)
    for graph in graphs:
        graph.edge_attr = torch.ones(graph.num_edges, 1)
    assert torch.equal(compare_patterns(counted(graphs, 2), plain), compare_patterns(plain, plain))


def test_a_state_is_refused_where_other_graphs_would_get_other_labels():
    graphs = ragged_graphs(SIZES)
    scaled = [Data(x=10 * graph.x, edge_index=graph.edge_index) for graph in graphs]
    first, second = (registry.make_agent("wl-ucb") for _ in range(2))
    first.reset(None, seed=0, graph_set=GraphSet.from_pyg(graphs))
    second.reset(None, seed=0, graph_set=GraphSet.from_pyg(scaled))
    with pytest.raises(ValueError, match="other graphs"):
        second.load_state_dict(first.state_dict())


def test_graphs_of_yes_and_no_are_labelled():
    (graph,) = labelled_graphs(num_labels=2, sizes=(7,))
    other = Data(x=graph.x.bool(), edge_index=graph.edge_index)
    assert torch.equal(compare_patterns(counted([graph], 1), counted([other], 1)), torch.ones(1, 1).double())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x": torch.full((3, 4), torch.nan)}, "finite node features"),
        ({"x": torch.zeros(0, 4), "edge_index": torch.zeros(2, 0).long()}, "at least one node in each"),
        ({"edge_index": torch.tensor([[-1], [0]])}, "edges between nodes"),
    ],
)
def test_graphs_that_cannot_be_read_are_refused_at_reset_and_later(changes, message):
    good, bad = ragged_graphs((5, 3))
    bad.update(changes)
    with pytest.raises(ValueError, match=message):
        read([bad])
    known = read([good])
    with pytest.raises(ValueError, match=message):
        known.exchange(torch.tensor([0]), Batch.from_data_list([bad]))


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


def test_a_path_of_arrows_differs_from_arrows_that_meet():
    similarity = compare(arrows([(0, 1), (1, 2)]), arrows([(0, 1), (2, 1)]))
    assert similarity[0, 1] < 1
