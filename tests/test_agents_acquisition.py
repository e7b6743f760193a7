import pytest
import torch

from agents.neural.acquisition import ThompsonSampling

MASK = torch.ones(2, dtype=torch.bool)


def test_thompson_draws_have_the_mean_and_the_spread_as_standard_deviation():
    generator = torch.Generator().manual_seed(0)
    mean, spread = torch.tensor([1.0, -2.0]).double(), torch.tensor([0.5, 4.0]).double()
    drawn = torch.stack([ThompsonSampling()(mean, spread, MASK, generator) for _ in range(20_000)])
    assert drawn.mean(0).tolist() == pytest.approx([1.0, -2.0], abs=0.1)
    assert drawn.std(0).tolist() == pytest.approx([0.5, 4.0], rel=0.02)
    assert torch.corrcoef(drawn.T)[0, 1].item() == pytest.approx(0, abs=0.03)


def test_thompson_without_spread_is_greedy():
    mean = torch.tensor([1.0, -2.0]).double()
    assert torch.equal(ThompsonSampling()(mean, torch.zeros(2).double(), MASK, torch.Generator()), mean)
