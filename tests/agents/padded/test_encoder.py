import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Dict
from support.graph_policies import (
    FORMS,
    Gine,
    as_tensors,
    encoder_kwargs,
    graphs_with_edge_features,
    make_encoder,
    make_env,
    pad_more,
    stack,
)
from support.graphs import ragged_graphs
from torch import nn
from torch_geometric.data import Batch
from torch_geometric.nn import GCN, GCNConv, global_mean_pool

from agents.padded import GraphSetEncoder, MeanNodeNetwork
from agents.padded.batches import KEYS, graphs_on_offer, unpad_batch
from graph_bandit_env import GraphSet
from graph_bandit_env.wrappers import unpad


def observe(graphs=None, **settings):
    return make_env(graphs=graphs, **settings).reset(seed=0)[0]


def draw_observations(seed, count=3):
    """Observations of one shape with other graphs in each, and random masks."""
    rng = np.random.default_rng(seed)
    sizes = [(1, *rng.integers(1, 9, 4)) for _ in range(count)]
    made = [observe(graphs_with_edge_features(n, seed=seed + k)) for k, n in enumerate(sizes)]
    nodes, edges = (max(one[key].shape[-2 if key == "x" else -1] for one in made) for key in ("x", "edge_index"))
    made = [pad_more(o, 1, nodes - o["x"].shape[1], edges - o["edge_index"].shape[2]) for o in made]
    for one in made:
        one["mask"][:] = rng.integers(0, 2, len(one["mask"]))
    return made


@pytest.mark.parametrize("seed", range(5))
def test_unpadding_is_that_of_a_plain_loop(seed):
    observations = draw_observations(seed)
    graphs = [g for o in observations for g, on in zip(unpad(o), o["mask"], strict=False) if on and g.num_nodes]
    assert any(graph.num_edges == 0 for graph in graphs)
    expected = Batch.from_data_list(graphs)
    tensors = {key: torch.as_tensor(array).float() for key, array in stack(*observations).items()}
    found = unpad_batch(tensors, graphs_on_offer(tensors))
    assert found.num_graphs == len(graphs)
    for key in KEYS:
        assert found[key].dtype == expected[key].dtype
        assert torch.equal(found[key], expected[key])


def test_graphs_not_on_offer_cost_nothing_and_are_zero():
    observation = observe()
    observation["mask"][[0, 2]] = 0
    encoder, seen = make_encoder(observation), []
    encoder.network.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].num_graphs))
    features = encoder(as_tensors(observation))[0]
    assert seen == [2]
    assert not features[[0, 2]].any()
    assert features[[1, 3], :-1].any(dim=1).all()
    assert features[:, -1].tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("form", FORMS)
def test_a_network_gets_the_directions_of_edges(form):
    graphs = GraphSet([torch.randn(3, 2)] * 3, [[[0, 1]], [[1, 0], [2, 1]], [[0, 2]]], directed=True)
    env = make_env(form, graphs)
    encoder, seen = make_encoder(env.reset(seed=0)[0], **encoder_kwargs(env)), []
    encoder.network.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].edge_index))
    encoder(as_tensors(env.reset(seed=0)[0]))
    assert torch.equal(seen[-1], graphs.to_batch().edge_index)


@pytest.mark.parametrize("network", [MeanNodeNetwork, Gine])
def test_more_padding_changes_no_bit_of_an_embedding(network):
    observation = observe()
    larger = pad_more(observation, graphs=3, nodes=4, edges=9)
    found = make_encoder(larger, network=network)(as_tensors(larger))[0]
    assert torch.equal(found[:4], make_encoder(observation, network=network)(as_tensors(observation))[0])
    assert not found[4:].any()


@pytest.mark.parametrize("network", [MeanNodeNetwork, Gine])
@pytest.mark.parametrize("graphs", [graphs_with_edge_features(), ragged_graphs()], ids=["edge features", "none"])
def test_both_forms_of_observation_give_the_same_embeddings(network, graphs):
    found = []
    for form in ("padded", "indices"):
        env = make_env(form, graphs)
        observation, _ = env.reset(seed=0)
        encoder = make_encoder(observation, **encoder_kwargs(env, network=network))
        found.append(encoder(as_tensors(observation)))
    assert torch.equal(*found)


def test_a_held_set_is_embedded_once_for_many_observations():
    env = make_env("indices", actions_per_round=2)
    observation, _ = env.reset(seed=0)
    encoder, seen = make_encoder(observation, **encoder_kwargs(env)), []
    encoder.network.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].num_graphs))
    features = encoder({key: torch.as_tensor(a) for key, a in stack(*[observation] * 64).items()})
    assert features.shape == (64, 4, 65)
    assert seen == [4]
    assert torch.equal(features[..., :-1].any(dim=-1), features[..., -1].bool())


def test_a_held_set_moves_with_the_weights_and_is_no_weight():
    env = make_env("indices")
    encoder = make_encoder(env.reset(seed=0)[0], **encoder_kwargs(env))
    assert {f"graph_set_{key}" for key in KEYS} == dict(encoder.named_buffers()).keys()
    assert not [name for name in encoder.state_dict() if "graph_set" in name]


def test_the_linear_reward_of_the_paper_is_a_linear_function_of_the_embedding():
    sizes = np.random.default_rng(0).integers(1, 12, 300)
    env = make_env(graphs=ragged_graphs(sizes), reward_model="linear")
    observation, _ = env.reset(seed=0)
    embeddings = make_encoder(observation, features_dim=128)(as_tensors(observation))[0].detach().double().numpy()
    means = env.unwrapped.mean_rewards
    fitted = embeddings @ np.linalg.lstsq(embeddings, means, rcond=1e-6)[0]
    assert np.abs(fitted - means).max() < 1e-3 * means.std()


def test_learning_reaches_every_weight_of_the_network():
    observation = observe()
    encoder = make_encoder(observation, network=Gine)
    encoder(as_tensors(observation)).square().sum().backward()
    assert all(weight.grad is not None and weight.grad.any() for weight in encoder.parameters())


def test_where_nothing_is_on_offer_everything_is_zero():
    observation = observe()
    observation["mask"][:] = 0
    assert not make_encoder(observation, network=Gine)(as_tensors(observation)).any()


def test_lazy_layers_get_their_sizes():
    class Lazy(nn.Module):
        def __init__(self, feature_dim, edge_feature_dim, out_dim):
            super().__init__()
            self.conv = GCNConv(-1, out_dim)

        def forward(self, batch):
            return global_mean_pool(self.conv(batch.x, batch.edge_index), batch.batch)

    encoder = make_encoder(observe(), network=Lazy)
    assert [tuple(weight.shape) for weight in encoder.parameters()] == [(64,), (64, 4)]
    assert encoder.network.training


def returning(outputs):
    class Wrong(nn.Module):
        def __init__(self, *dims):
            super().__init__()

        def forward(self, batch):
            return outputs(batch)

    return Wrong


@pytest.mark.parametrize(
    ("outputs", "got"),
    [
        (lambda batch: batch.x, r"\(3, 4\)"),
        (lambda batch: torch.zeros(batch.num_graphs), r"\(2,\)"),
        (lambda batch: torch.zeros(batch.num_graphs, 64, dtype=torch.int64), r"\(2, 64\)"),
        (lambda batch: [batch], "list"),
    ],
)
def test_a_network_of_the_wrong_shape_is_refused_at_the_door(outputs, got):
    with pytest.raises(ValueError, match=rf"Expected a network that .* here `\(2, 64\)`. Got `{got}`. End it with"):
        make_encoder(observe(), network=returning(outputs))


def test_what_makes_no_module_is_refused():
    with pytest.raises(TypeError, match="Expected `network` to make a torch module. Got int"):
        make_encoder(observe(), network=lambda *dims: 3)


@pytest.mark.parametrize(
    "space", [Box(0, 1, (3,)), Dict({"mask": Box(0, 1, (3,))}), gym.make("GraphActionBandit-v0").observation_space]
)
def test_other_observations_are_refused_and_the_wrappers_named(space):
    with pytest.raises(TypeError, match="Expected the .* `graph_bandit_env.wrappers.PaddedGraphSet` or `GraphSetInd"):
        GraphSetEncoder(space)


@pytest.mark.parametrize(
    ("form", "graph_set", "error", "message"),
    [
        ("indices", None, ValueError, "Expected `graph_set`, .*features_extractor_kwargs"),
        ("indices", GraphSet.from_pyg(ragged_graphs((2, 3))), ValueError, "a `graph_set` of 4 graphs. Got 2"),
        ("indices", ragged_graphs(), TypeError, r"Expected `graph_set` to have `to_pyg\(\)`. Got list"),
        ("padded", GraphSet.from_pyg(ragged_graphs()), ValueError, "Expected no `graph_set`"),
    ],
)
def test_a_graph_set_is_given_where_observations_have_none_and_only_there(form, graph_set, error, message):
    with pytest.raises(error, match=message):
        make_encoder(make_env(form).reset(seed=0)[0], graph_set=graph_set)


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (MeanNodeNetwork(4, 2, 64), "Got a module. Give the function that makes one"),
        (lambda d, e, out: GCN(d, 8, 1, out), "`forward` takes one `Batch`. Got GCN"),
    ],
    ids=["a module", "of nodes and edges"],
)
def test_networks_in_other_forms_are_refused_with_what_to_do(network, message):
    with pytest.raises(TypeError, match=message):
        GraphSetEncoder(make_env().observation_space, network=network)


@pytest.mark.parametrize("form", FORMS)
def test_numbers_that_are_no_masks_are_refused(form):
    env = make_env(form)
    observation, _ = env.reset(seed=0)
    encoder, tensors = make_encoder(observation, **encoder_kwargs(env)), as_tensors(observation)
    with pytest.raises(ValueError, match="Expected masks of zeros and ones"):
        encoder({**tensors, "mask": 0.5 * tensors["mask"]})


@pytest.mark.parametrize("form", FORMS)
def test_masks_of_any_type_are_read_alike(form):
    env = make_env(form, actions_per_round=2)
    observation, _ = env.reset(seed=0)
    encoder, tensors = make_encoder(observation, **encoder_kwargs(env)), as_tensors(observation)
    found = [encoder({**tensors, "mask": tensors["mask"].to(kind)}) for kind in (torch.bool, torch.int8, torch.float64)]
    assert found[0][..., -1].sum() == 2
    assert all(torch.equal(one, found[0]) for one in found)
