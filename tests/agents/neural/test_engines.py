"""Agents play by every engine; on a machine with a GPU, there too."""

import numpy as np
import pytest
import torch
from support.play import play
from torch_geometric.nn import GCN, global_mean_pool

import registry

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


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


@pytest.mark.parametrize("form", [{}, {"history": "frozen"}, {"gradients_at": "initial"}, {"depth": 3}])
def test_features_that_are_made_again_give_the_play_of_features_that_are_held(small_env, monkeypatch, form):
    held = play(small_env(), registry.make_agent("gnn-ts", width=16, steps=5, sampling="joint", **form), 20)
    monkeypatch.setattr("gntk.engines.features.HELD_BYTES", 0)
    monkeypatch.setattr("gntk.engines.features.BLOCK_BYTES", 8 * 2 * 64)  # two graphs at a time
    made = play(small_env(), registry.make_agent("gnn-ts", width=16, steps=5, sampling="joint", **form), 20)
    assert np.array_equal(held[0], made[0])
