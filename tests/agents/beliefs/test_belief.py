import torch

from agents.beliefs import Belief


def test_without_a_root_graphs_are_independent():
    belief = Belief(torch.zeros(2), torch.tensor([2.0, 3.0]))
    assert belief.joint_root().tolist() == [[2.0, 0.0], [0.0, 3.0]]


def test_a_root_is_computed_when_it_is_asked():
    root = torch.tensor([[1.0], [2.0]])
    assert Belief(torch.zeros(2), torch.tensor([1.0, 2.0]), root=lambda: root).joint_root() is root
