import numpy as np
import pytest
import torch
from support.graph_policies import (
    Gine,
    as_tensors,
    encoder_kwargs,
    graphs_with_edge_features,
    make_encoder,
    make_env,
    pad_more,
)
from support.graphs import ragged_graphs
from torch_geometric.data import Batch

from agents.padded import MeanNodeNetwork
from agents.padded.encoder import KEYS, graphs_on_offer, unpad_batch
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
    tensors = as_tensors(*observations)
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


def test_the_linear_reward_of_the_paper_is_a_linear_function_of_the_embedding():
    sizes = np.random.default_rng(0).integers(1, 12, 300)
    env = make_env(graphs=ragged_graphs(sizes), reward_model="linear")
    observation, _ = env.reset(seed=0)
    embeddings = make_encoder(observation, features_dim=128)(as_tensors(observation))[0].detach().double().numpy()
    means = env.unwrapped.mean_rewards
    fitted = embeddings @ np.linalg.lstsq(embeddings, means, rcond=1e-6)[0]
    assert np.abs(fitted - means).max() < 1e-3 * means.std()
