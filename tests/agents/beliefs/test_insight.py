import pytest
import torch

from agents.beliefs import Belief, Greedy, ThompsonSampling
from agents.beliefs.insight import make_insight
from agents.beliefs.rewards import Standardised

BELIEF = Belief(torch.tensor([1.0, -2.0]), torch.tensor([0.5, 3.0]))


@pytest.mark.parametrize(("rule", "sampled"), [(ThompsonSampling(), [12.0, 6.0]), (Greedy(), None)])
def test_insight_is_in_units_of_the_reward(rule, sampled):
    index, variance = torch.tensor([1.0, -2.0]), torch.tensor([7.0, 8.0])
    insight = make_insight(
        BELIEF, index, rule, Standardised(10.0, 2.0), variance, log_determinant=3.0, effective_dimension=4.0
    )
    assert insight.mean.tolist() == [12.0, 6.0]
    assert insight.spread.tolist() == [1.0, 6.0]
    assert (insight.sampled if sampled is None else insight.sampled.tolist()) == sampled
    assert (insight.variance.tolist(), insight.log_determinant, insight.effective_dimension) == ([7.0, 8.0], 3.0, 4.0)
