"""Every engine computes the same; on a machine with a GPU, there too."""

from dataclasses import dataclass

import pytest
import torch
from support.graphs import ragged_graphs
from support.play import play
from torch_geometric.data import Batch
from torch_geometric.nn import GCN, global_mean_pool

import registry
from agents.neural import engines, features
from agents.neural.engines import CompiledEngine, TorchEngine, choose_engine, read_device
from agents.neural.network import PaperNetwork
from agents.neural.settings import NeuralSettings
from gntk import Batches, GraphMLP, aggregate_neighbours

GRAPHS = aggregate_neighbours(Batch.from_data_list(ragged_graphs(sizes=(5, 1, 7, 3, 6)))).to(torch.float32)
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
INDEX = torch.tensor([3, 0, 4])


def weights_of(depth, device="cpu"):
    return [weight.detach().to(device) for weight in GraphMLP(4, 8, depth, zero_start=False).weights]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("depth", [2, 3])
def test_torch_computes_what_the_cpu_computes(device, batched, depth, monkeypatch):
    monkeypatch.setattr(engines, "BLOCK_BYTES", 8 * 2 * 112)  # two graphs at a time
    plain = choose_engine(GRAPHS, depth, "cpu")
    engine = TorchEngine(GRAPHS, torch.device(device), batched)
    weights, there = weights_of(depth), weights_of(depth, device)
    size = sum(weight.numel() for weight in weights)
    expected, found = plain.values_and_features(weights, INDEX), engine.values_and_features(there, INDEX)
    torch.testing.assert_close(found[0], expected[0])
    torch.testing.assert_close(engine.values(there)[INDEX], expected[0])
    assert engine.values_and_features(there, INDEX[:0])[1].shape == (0, size)
    torch.testing.assert_close(found[1].double().square().sum(1), expected[1].double().square().sum(1))
    one = torch.ones(size)
    torch.testing.assert_close(engine.values_and_squares(there, one), plain.values_and_squares(weights, one))
    batches = Batches.of_size(torch.tensor([0, 3, 3, 2]), torch.randn(4), 2)
    moved = engine.descend(there, there, batches, 0.1, 0.01)
    expected = plain.descend(weights, weights, batches, 0.1, 0.01)
    torch.testing.assert_close([weight.cpu() for weight in moved], expected)


def test_the_compiled_engine_is_chosen_where_it_can_be():
    assert isinstance(choose_engine(GRAPHS, 2, "cpu"), CompiledEngine)
    assert isinstance(choose_engine(GRAPHS, 3, "cpu"), TorchEngine)


@pytest.mark.parametrize("name", ["cuda:99", "abacus", "meta"])
def test_a_device_that_is_not_here_is_refused_with_those_that_are(name):
    with pytest.raises(ValueError, match="torch can use here: cpu.*Got '" + name):
        read_device(name)


@pytest.mark.parametrize("device", DEVICES)
def test_agents_play_on_a_device_and_their_states_come_back_to_the_cpu(device, small_env):
    class Module(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = GCN(3, 8, 2, 1)

        def forward(self, batch):
            return global_mean_pool(self.net(batch.x, batch.edge_index), batch.batch).squeeze(-1)

    for settings in ({"width": 16, "depth": 2}, {"width": 16, "depth": 3}, {"network": Module}):
        agent = registry.make_agent("gnn-ts", steps=3, device=device, **settings)
        actions, _ = play(small_env(), agent, 5)
        assert len(actions) == 5
        assert all(weight.device.type == "cpu" for weight in agent.state_dict()["weights"])


def test_a_device_that_is_not_here_is_refused_at_the_door():
    with pytest.raises(ValueError, match="Expected `device`"):
        registry.make_agent("gnn-ts", device="cuda:99")


@dataclass
class Round:
    mean: torch.Tensor
    spread: torch.Tensor
    root: torch.Tensor
    chosen: int
    action: int
    reward: float


def watch(env, agent, told=()):
    """Let an agent play twenty rounds, or hear of those that another has played; return what it believed in each."""
    observation, _ = env.reset(seed=0)
    agent.reset(observation, seed=0)
    rounds = []
    for round_ in range(20):
        belief, chosen = agent.belief(), agent.select_action(observation)
        action, reward = (told[round_].action, told[round_].reward) if told else (chosen, env.step(chosen)[1])
        agent.update(observation, action, reward)
        rounds.append(Round(belief.mean, belief.spread, belief.joint_root(), chosen, action, reward))
    return rounds


@pytest.mark.parametrize("form", [{}, {"history": "frozen"}, {"gradients_at": "initial"}, {"depth": 3}])
def test_features_that_are_made_again_give_the_beliefs_of_features_that_are_held(small_env, monkeypatch, form):
    """Blocks of other sizes add up in another order, so beliefs agree to rounding, and plays where margins are wide.

    Each graph has features of its own by the compiled loops; by torch they come from products over a block, so that
    the kernel is off by the rounding of float32. Let P be the prior covariance and G the gain. The posterior moves by
    (I - G) dP (I - G)^T, about as much as the prior; a symmetric root by at most the square root of that.
    """
    held = watch(small_env(), registry.make_agent("gnn-ucb", width=16, steps=5, **form))
    monkeypatch.setattr(features, "HELD_BYTES", 0)
    monkeypatch.setattr(engines, "BLOCK_BYTES", 8 * 2 * 64)  # two graphs at a time
    made = watch(small_env(), registry.make_agent("gnn-ucb", width=16, steps=5, **form), told=held)
    prior = held[0].spread.square().max().item()
    error = 4 * torch.finfo(torch.float32).eps * prior if "depth" in form else 1e-12 * prior
    wide = 0
    for expected, found in zip(held, made, strict=True):
        torch.testing.assert_close(found.mean, expected.mean, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(found.spread.square(), expected.spread.square(), rtol=0, atol=error)
        torch.testing.assert_close(found.root, expected.root, rtol=0, atol=error**0.5)
        best, second = (expected.mean + expected.spread).topk(2).values
        if best - second > 0.02:
            wide += 1
            assert found.chosen == expected.chosen
    assert wide >= 10


def test_made_and_held_features_agree_to_more_than_single_precision():
    network = PaperNetwork(GRAPHS, NeuralSettings(width=512), seed=0)
    index = torch.arange(network.num_graphs)
    held = features.HeldFeatures(*network.values_and_features(network.initial, index))
    made = features.MadeFeatures(network, network.initial)
    precision = torch.rand(network.num_features, dtype=torch.float64)
    torch.testing.assert_close(made.squares(precision), held.squares(precision), rtol=1e-12, atol=0)
    torch.testing.assert_close(made.kernel(), held.kernel(), rtol=1e-12, atol=0)
    assert torch.equal(made.values, held.values)


def test_making_some_features_makes_no_value_of_other_graphs(monkeypatch):
    """Or every block of a large pool would cost a pass over all of it."""
    engine = TorchEngine(GRAPHS, torch.device("cpu"), batched=False)
    expected = engine.values_and_features(weights_of(3), INDEX)[1]
    monkeypatch.setattr(engine, "values", lambda weights: pytest.fail("a pass over all graphs"))
    assert torch.equal(engine.features(weights_of(3), INDEX), expected)
