import torch

from agents.beliefs import Belief


def test_without_a_root_graphs_are_independent():
    belief = Belief(torch.zeros(2), torch.tensor([2.0, 3.0]))
    assert belief.joint_root().tolist() == [[2.0, 0.0], [0.0, 3.0]]


def test_a_root_is_computed_when_it_is_asked():
    root = torch.tensor([[1.0], [2.0]])
    assert Belief(torch.zeros(2), torch.tensor([1.0, 2.0]), root=lambda: root).joint_root() is root


def test_a_deviation_is_drawn_by_the_root_unless_there_is_a_cheaper_way():
    root = torch.tensor([[1.0], [2.0]])
    belief, generator = Belief(torch.zeros(2), torch.ones(2), root=lambda: root), torch.Generator().manual_seed(3)
    drawn = belief.deviation(generator)
    assert torch.equal(drawn, root @ torch.randn(1, generator=torch.Generator().manual_seed(3)))
    quick = Belief(torch.zeros(2), torch.ones(2), root=lambda: root, deviate=lambda generator: torch.ones(2))
    assert quick.deviation(generator).tolist() == [1, 1]
