import pytest
import torch

from agents.beliefs.belief import Belief
from agents.beliefs.rules import (
    CountBonus,
    EpsilonGreedy,
    Greedy,
    PhasedElimination,
    ThompsonSampling,
    UpperConfidenceBound,
)


def belief(mean, spread, root=None):
    mean, spread = (torch.tensor(values, dtype=torch.float64) for values in (mean, spread))
    return Belief(mean, spread, root=lambda: root)


def everything(size):
    return torch.ones(size, dtype=torch.bool)


def draws(rule, belief, count=20_000):
    generator = torch.Generator().manual_seed(0)
    return torch.stack([rule(belief, everything(len(belief.mean)), generator) for _ in range(count)])


def test_independent_draws_have_the_mean_and_the_spread_as_standard_deviation():
    drawn = draws(ThompsonSampling(), belief([1.0, -2.0], [0.5, 4.0]))
    assert drawn.mean(0).tolist() == pytest.approx([1.0, -2.0], abs=0.1)
    assert drawn.std(0).tolist() == pytest.approx([0.5, 4.0], rel=0.02)
    assert torch.corrcoef(drawn.T)[0, 1].item() == pytest.approx(0, abs=0.03)


def test_joint_draws_have_the_joint_covariance():
    root = torch.tensor([[1.0, 0.0, 0.0], [0.8, 0.6, 0.0]]).double()
    drawn = draws(ThompsonSampling("joint"), belief([1.0, -2.0], [9.0, 9.0], root))
    assert drawn.mean(0).tolist() == pytest.approx([1.0, -2.0], abs=0.03)
    torch.testing.assert_close(torch.cov(drawn.T), root @ root.T, atol=0.03, rtol=0)


def test_upper_confidence_bound_adds_the_spread():
    index = UpperConfidenceBound()(belief([1.0, -2.0], [0.5, 4.0]), everything(2), torch.Generator())
    assert index.tolist() == [1.5, 2.0]


def test_greedy_trusts_the_mean():
    assert Greedy()(belief([1.0, -2.0], [0.5, 4.0]), everything(2), torch.Generator()).tolist() == [1.0, -2.0]


def test_epsilon_greedy_ties_everything_as_often_as_it_says():
    drawn = draws(EpsilonGreedy(0.2), belief([1.0, -2.0], [0.5, 4.0]), 5000)
    assert ((drawn == 0).all(1)).double().mean().item() == pytest.approx(0.2, abs=0.02)
    assert torch.equal(drawn[(drawn != 0).any(1)][0], torch.tensor([1.0, -2.0]).double())


@pytest.mark.parametrize("epsilon", [-0.01, 1.01, float("nan")])
def test_epsilon_is_a_probability(epsilon):
    with pytest.raises(ValueError, match="`epsilon` to be between 0 and 1"):
        EpsilonGreedy(epsilon)


def test_the_bonus_of_ucb1_grows_with_the_logarithm_of_the_round():
    rule = CountBonus()
    found = draws(rule, belief([1.0, -2.0], [0.5, 4.0]), 3).tolist()
    bonus = [1.1774100225154747, 1.4823038073675112, 1.6651092223153956]  # sqrt(2 log t) at t = 2, 3, 4
    assert found == [pytest.approx([1 + 0.5 * b, -2 + 4 * b]) for b in bonus]
    twin = CountBonus()
    twin.load_state_dict(rule.state_dict())
    assert twin == rule != CountBonus()


def test_elimination_plays_the_most_uncertain_graph_that_may_be_the_best():
    rule = PhasedElimination()
    index = rule(belief([0.0, 1.0, -9.0], [0.8, 0.3, 2.0]), everything(3), torch.Generator())
    assert index.tolist() == [0.8, 0.3, -torch.inf]
    assert rule.candidates.tolist() == [True, True, False]


def test_an_eliminated_graph_stays_out_and_the_set_is_never_empty():
    rule, generator = PhasedElimination(), torch.Generator().manual_seed(0)
    before = everything(6)
    for _ in range(50):
        mean, spread = torch.randn(6, generator=generator), torch.rand(6, generator=generator)
        rule(Belief(mean.double(), spread.double(), root=torch.Tensor), everything(6), generator)
        assert not (rule.candidates & ~before).any()
        assert rule.candidates.any()
        before = rule.candidates
    assert before.sum() < 6


def test_where_no_candidate_is_on_offer_the_best_upper_bound_is_played():
    rule = PhasedElimination()
    mask = torch.tensor([False, True, True])
    index = rule(belief([5.0, 0.0, 1.0], [0.1, 0.5, 0.1]), mask, torch.Generator())
    assert rule.candidates.tolist() == [True, False, False]
    assert index[mask].tolist() == pytest.approx([0.5, 1.1])


def test_doubling_eliminates_after_episodes_of_doubling_length():
    rule, rounds_with_a_loss = PhasedElimination("doubling"), []
    for round_ in range(16):
        best = [float(k < 16 - round_) for k in range(16)]  # one more graph looks bad each round
        before = None if rule.candidates is None else rule.candidates.sum().item()
        rule(belief(best, [0.1] * 16), everything(16), torch.Generator())
        if before is not None and rule.candidates.sum().item() < before:
            rounds_with_a_loss.append(round_)
    assert rounds_with_a_loss == [1, 3, 7, 15]


def test_elimination_goes_on_where_it_stood():
    rule, twin = PhasedElimination("doubling"), PhasedElimination("doubling")
    for mean in ([0.0, 1.0, -9.0], [0.0, 1.0, 5.0]):
        rule(belief(mean, [0.5] * 3), everything(3), torch.Generator())
    twin.load_state_dict(rule.state_dict())
    index = [one(belief([9.0, 0.0, 0.0], [0.5] * 3), everything(3), torch.Generator()) for one in (rule, twin)]
    assert torch.equal(*index)
    assert twin.rounds == rule.rounds == 3


def test_on_another_set_all_graphs_are_candidates_and_the_first_round_eliminates():
    rule = PhasedElimination("doubling")
    for _ in range(5):
        rule(belief([0.0, 1.0, -9.0], [0.1] * 3), everything(3), torch.Generator())
    rule.forget_graphs()
    rule(belief([-9.0, 0.0, 1.0, 0.9], [0.1] * 4), everything(4), torch.Generator())
    assert rule.candidates.tolist() == [False, False, True, True]
    assert rule.rounds == 6
