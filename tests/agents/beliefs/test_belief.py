import torch

from agents.beliefs import Belief


def test_a_deviation_is_drawn_by_the_root_unless_there_is_a_cheaper_way():
    root = torch.tensor([[1.0], [2.0]])
    belief, generator = Belief(torch.zeros(2), torch.ones(2), root=lambda: root), torch.Generator().manual_seed(3)
    drawn = belief.deviation(generator)
    assert torch.equal(drawn, root @ torch.randn(1, generator=torch.Generator().manual_seed(3)))
    quick = Belief(torch.zeros(2), torch.ones(2), root=lambda: root, deviate=lambda generator: torch.ones(2))
    assert quick.deviation(generator).tolist() == [1, 1]
