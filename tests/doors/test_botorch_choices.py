"""What acquisition functions of BoTorch choose from a pool, and what our rules do."""

import pytest
import torch
from botorch.acquisition import (
    LogExpectedImprovement,
    UpperConfidenceBound,
    qLogExpectedImprovement,
    qLogNoisyExpectedImprovement,
)
from botorch.acquisition.objective import GenericMCObjective
from botorch.optim import optimize_acqf_discrete
from botorch.sampling import ListSampler, SobolQMCNormalSampler
from support.measured import LINEAR, POOL, RANKED, VALUES, WEIGHTS, measured

from graph_bandit_bridges import CampaignPoints, campaign_model
from graph_bandit_campaign import Campaign, Goal


def best_mean(model, points):
    return model.posterior(points.measured.unsqueeze(1)).mean.max()


@pytest.mark.parametrize("agent", [LINEAR, RANKED])
def test_its_upper_bounds_choose_as_ours_do(agent):
    campaign = measured(agent)
    for _ in range(6):
        model, points = campaign_model(campaign, "targets"), CampaignPoints.of(campaign)
        chosen, _ = optimize_acqf_discrete(UpperConfidenceBound(model, beta=1.0), 1, points.choices)
        (asked,) = campaign.ask(1)
        assert points.names(chosen) == [asked.id]
        campaign.tell({asked.id: VALUES[asked.id]})


@pytest.mark.parametrize("agent", ["molecule-ei:warp=none", "molecule-ei"])
def test_its_expected_improvement_chooses_as_ours_does(agent):
    campaign = measured(agent)
    for _ in range(6):
        model, points = campaign_model(campaign, "targets"), CampaignPoints.of(campaign)
        rule = LogExpectedImprovement(model, best_f=best_mean(model, points))
        chosen, _ = optimize_acqf_discrete(rule, 1, points.choices)
        (asked,) = campaign.ask(1)
        assert points.names(chosen) == [asked.id]
        campaign.tell({asked.id: VALUES[asked.id]})


def test_graphs_that_are_measured_pending_failed_or_vetoed_are_not_among_the_choices():
    campaign = measured(keys=POOL.ids[:4])
    campaign.ask(2)
    campaign.tell({POOL.ids[38]: "failed"})
    campaign.annotate(POOL.ids[39], veto=True)
    points = CampaignPoints.of(campaign, [True] * 20 + [False] * 18 + [True] * 2)
    pending = set(campaign.state.pending)
    assert points.names(points.measured) == list(POOL.ids[:4])
    assert set(points.names(points.pending)) == pending
    assert points.names(points.choices) == [key for key in POOL.ids[4:20] if key not in pending]


def test_pending_graphs_change_the_choice_and_are_not_chosen():
    campaign = measured(RANKED)
    model, points = campaign_model(campaign), CampaignPoints.of(campaign)
    sampler = SobolQMCNormalSampler(torch.Size([256]), seed=0)
    settings = {"best_f": best_mean(model, points), "sampler": sampler}
    both, values = optimize_acqf_discrete(qLogExpectedImprovement(model, **settings), 2, points.choices)
    rule = qLogExpectedImprovement(model, X_pending=both[:1], **settings)
    chosen, value = optimize_acqf_discrete(rule, 1, points.choices, X_avoid=both[:1])
    assert points.names(chosen) == points.names(both[1:])
    assert value.item() == pytest.approx(values[1].item())


def measured_twice(agent, *goals):
    """A campaign with results of two goals, value and weight."""
    campaign = Campaign(POOL, agent, goals=goals)
    for key in POOL.ids[::4]:
        campaign.tell({key: VALUES[key]}, goal="value")
        campaign.tell({key: WEIGHTS[key]}, goal="weight")
    return campaign


def test_a_limit_is_an_outcome_constraint():
    campaign = measured_twice(LINEAR, Goal("value"), Goal("weight", "limit", high=20.0))
    model, points = campaign_model(campaign), CampaignPoints.of(campaign)
    rules = [
        qLogNoisyExpectedImprovement(
            model,
            points.measured,
            sampler=ListSampler(*(SobolQMCNormalSampler(torch.Size([256]), seed=k) for k in (0, 1))),
            objective=GenericMCObjective(lambda samples, X=None: samples[..., 0]),
            constraints=constraints,
            prune_baseline=False,
        )
        for constraints in (None, [lambda samples: samples[..., 1] - 20.0])
    ]
    free, limited = (points.names(optimize_acqf_discrete(rule, 1, points.choices)[0])[0] for rule in rules)
    predicted = campaign.predict()
    assert predicted[free].by_goal["weight"].mean > 22
    assert predicted[limited].by_goal["weight"].mean < 20
