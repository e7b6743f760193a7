"""The posterior of a campaign as a model of BoTorch, whose acquisition functions choose from a pool."""

import re

import numpy as np
import pytest
import torch
from botorch.acquisition import (
    LogExpectedImprovement,
    UpperConfidenceBound,
    qKnowledgeGradient,
    qLogExpectedImprovement,
    qLogNoisyExpectedImprovement,
    qUpperConfidenceBound,
)
from botorch.acquisition.multi_objective.logei import qLogNoisyExpectedHypervolumeImprovement
from botorch.optim import optimize_acqf_discrete
from botorch.sampling import IIDNormalSampler, SobolQMCNormalSampler
from support import ROOT
from support.molecules import some_molecules
from support.pages import blocks_of
from support.programs import run_program

import registry
from graph_bandit_bridges import CampaignPoints, PoolModel, campaign_model
from graph_bandit_campaign import Campaign, Goal

POOL = some_molecules(40)
VALUES = dict(zip(POOL.ids, POOL.targets.tolist(), strict=True))
WEIGHTS = {key: float(len(text)) for key, text in zip(POOL.ids, POOL.smiles, strict=True)}
LINEAR, RANKED = "molecule-ucb:warp=none", "molecule-ucb"


def measured(agent=LINEAR, keys=POOL.ids[::4], **settings):
    """A campaign with some results."""
    campaign = Campaign(POOL, agent, **settings)
    campaign.tell_many({key: VALUES[key] for key in keys})
    return campaign


def indices(*keys):
    return torch.tensor([POOL.ids.index(key) for key in keys], dtype=torch.float64).unsqueeze(1)


def best_mean(model, points):
    return model.posterior(points.measured.unsqueeze(1)).mean.max()


def dense_posterior(agent, index):
    """Mean and covariance of targets in textbook form, with the inverse matrix."""
    posterior = agent.posterior
    graphs = torch.as_tensor(index)
    kernel = posterior.kernel.columns(graphs, graphs).numpy()
    cross = posterior.kernel.columns(posterior.seen, graphs).numpy()
    inverse = np.linalg.inv(
        posterior.kernel.columns(posterior.seen, posterior.seen).numpy()
        + np.diag(posterior.noise / posterior.counts.double().numpy())
    )
    return cross.T @ inverse @ posterior.targets.numpy(), kernel - cross.T @ inverse @ cross


# --- Posterior


@pytest.mark.parametrize("maximize", [True, False])
@pytest.mark.parametrize("agent", [LINEAR, RANKED, "gp-ucb:warp=normal_scores", "gntk-ucb"])
def test_means_and_standard_deviations_are_those_of_the_campaign(agent, maximize):
    campaign = measured(agent, maximize=maximize)
    posterior = campaign_model(campaign).posterior(indices(*POOL.ids).unsqueeze(1))
    expected = campaign.predict()
    sign = 1 if maximize else -1  # the model is of rewards
    means, stds = ([getattr(expected[key], what) for key in POOL.ids] for what in ("mean", "std"))
    np.testing.assert_allclose(sign * posterior.mean.flatten().numpy(), means, rtol=0, atol=1e-9)
    np.testing.assert_allclose(posterior.variance.sqrt().flatten().numpy(), stds, rtol=0, atol=1e-9)


def test_the_joint_covariance_is_that_of_the_textbook():
    campaign, index = measured(), [0, 3, 7, 11, 30]
    posterior = campaign_model(campaign).posterior(torch.tensor(index).double().unsqueeze(1))
    mean, covariance = dense_posterior(campaign.model(), index)
    unit, location = campaign.model().targets.unit, campaign.model().targets.location
    assert posterior.distribution.covariance_matrix.numpy() == pytest.approx(unit**2 * covariance, abs=1e-7)
    assert posterior.mean.flatten().numpy() == pytest.approx(location + unit * mean, abs=1e-7)


def test_batches_hold_what_each_group_of_graphs_has_on_its_own(monkeypatch):
    monkeypatch.setattr("graph_bandit_bridges.botorch.MOST", 7)  # so that they are computed a few at a time
    model = campaign_model(measured())
    groups = torch.randint(40, (2, 5, 3, 1), generator=torch.Generator().manual_seed(0)).double()
    together = model.posterior(groups)
    assert together.mean.shape == (2, 5, 3, 1)
    for k in range(2):
        for j in range(5):
            alone = model.posterior(groups[k, j])
            torch.testing.assert_close(together.mean[k, j], alone.mean)
            covariance = together.distribution.covariance_matrix[k, j]
            torch.testing.assert_close(covariance, alone.distribution.covariance_matrix)


def test_noise_of_one_more_result_is_added_where_it_is_asked_for():
    campaign = measured()
    model, graphs = campaign_model(campaign), indices(*POOL.ids[:3])
    without, with_noise = model.posterior(graphs), model.posterior(graphs, observation_noise=True)
    noise = campaign.predict()[POOL.ids[0]].noise_std ** 2
    added = with_noise.distribution.covariance_matrix - without.distribution.covariance_matrix
    assert added.numpy() == pytest.approx(noise * np.eye(3), abs=1e-12)
    assert model.likelihood.noise.item() == pytest.approx(noise)
    given = model.posterior(graphs, observation_noise=torch.full((3, 1), 0.25).double())
    assert (given.variance - without.variance).flatten().numpy() == pytest.approx(0.25)


def test_samples_of_rewards_that_are_modelled_by_ranks_have_the_moments_of_the_posterior():
    posterior = campaign_model(measured(RANKED)).posterior(indices(*POOL.ids[1:4]))
    samples = posterior.rsample(torch.Size([200_000])).squeeze(-1)
    assert samples.mean(0).numpy() == pytest.approx(posterior.mean.flatten().numpy(), abs=0.01)
    assert samples.std(0).numpy() == pytest.approx(posterior.variance.sqrt().flatten().numpy(), rel=0.01)


# --- More results


def test_further_results_condition_the_posterior_as_the_textbook_says():
    campaign = measured()
    model, agent = campaign_model(campaign), campaign.model()
    graphs = indices(*POOL.ids[1:6])
    told = torch.tensor([[1.5], [-0.5]]).double()
    after = model.condition_on_observations(graphs[:2], told).posterior(graphs)
    mean, covariance = dense_posterior(agent, graphs.flatten().long())
    location, unit = agent.targets.location, agent.targets.unit
    mean, covariance = location + unit * mean, unit**2 * covariance
    inner = np.linalg.inv(covariance[:2, :2] + unit**2 * agent.result_noise * np.eye(2))
    gain = covariance[:, :2] @ inner
    assert after.mean.flatten().numpy() == pytest.approx(mean + gain @ (told.flatten().numpy() - mean[:2]), abs=1e-7)
    expected = covariance - gain @ covariance[:2]
    assert after.distribution.covariance_matrix.numpy() == pytest.approx(expected, abs=1e-7)


def test_results_one_after_the_other_are_as_if_told_at_once():
    model, graphs = campaign_model(measured(RANKED)), indices(*POOL.ids[1:6])
    told = torch.tensor([[0.5], [2.5]]).double()
    one_by_one = model.condition_on_observations(graphs[:1], told[:1]).condition_on_observations(graphs[1:2], told[1:])
    at_once = model.condition_on_observations(graphs[:2], told)
    torch.testing.assert_close(one_by_one.posterior(graphs).mean, at_once.posterior(graphs).mean)
    torch.testing.assert_close(one_by_one.posterior(graphs).variance, at_once.posterior(graphs).variance)
    assert (at_once.posterior(graphs).variance[:2] < model.posterior(graphs).variance[:2]).all()


def test_what_is_expected_after_a_result_is_what_is_expected_now():
    """The law of total expectation: means after imagined results scatter around the mean before them."""
    model, graphs = campaign_model(measured()), indices(*POOL.ids[1:6])
    sampler = SobolQMCNormalSampler(torch.Size([4096]), seed=0)
    later = model.fantasize(graphs[:2], sampler)
    assert later.batch_shape == (4096,)
    means = later.posterior(graphs.expand(4096, 5, 1)).mean
    assert means.mean(0).flatten().numpy() == pytest.approx(model.posterior(graphs).mean.flatten().numpy(), abs=0.01)
    explained = model.posterior(graphs).variance - later.posterior(graphs).variance[0]
    assert means.var(0).flatten().numpy() == pytest.approx(explained.flatten().numpy(), rel=0.05)


def test_the_knowledge_gradient_is_the_expected_rise_of_the_largest_mean():
    model, few = campaign_model(measured()), indices(*POOL.ids[:6])
    gain = qKnowledgeGradient(model, num_fantasies=512)
    later = model.fantasize(few[1:2], IIDNormalSampler(torch.Size([512]), seed=1))
    best = later.posterior(few.view(6, 1, 1, 1).expand(6, 512, 1, 1)).mean.squeeze().argmax(0)
    solutions = few[best].unsqueeze(1)  # the graph of the largest mean after each imagined result
    gain.sampler = IIDNormalSampler(torch.Size([512]), seed=1)
    value = gain(torch.cat([few[1:2], solutions.squeeze(1)]).unsqueeze(0))
    posterior = model.posterior(few)
    mean, covariance = posterior.mean.flatten().numpy(), posterior.distribution.covariance_matrix.numpy()
    noise = model.likelihood.noise.item()
    slope = covariance[:, 1] / np.sqrt(covariance[1, 1] + noise)
    draws = np.random.default_rng(0).normal(size=(100_000, 1))
    assert value.item() == pytest.approx((mean + draws * slope).max(1).mean(), abs=0.03)


# --- Choices


@pytest.mark.parametrize("agent", [LINEAR, RANKED])
def test_its_upper_bounds_choose_as_ours_do(agent):
    campaign = measured(agent)
    for _ in range(6):
        model, points = campaign_model(campaign, "targets"), CampaignPoints.of(campaign)
        chosen, _ = optimize_acqf_discrete(UpperConfidenceBound(model, beta=1.0), 1, points.choices)
        (asked,) = campaign.ask(1)
        assert points.names(chosen) == [asked.id]
        campaign.tell(asked.id, VALUES[asked.id])


@pytest.mark.parametrize("agent", ["molecule-ei:warp=none", "molecule-ei"])
def test_its_expected_improvement_chooses_as_ours_does(agent):
    campaign = measured(agent)
    for _ in range(6):
        model, points = campaign_model(campaign, "targets"), CampaignPoints.of(campaign)
        rule = LogExpectedImprovement(model, best_f=best_mean(model, points))
        chosen, _ = optimize_acqf_discrete(rule, 1, points.choices)
        (asked,) = campaign.ask(1)
        assert points.names(chosen) == [asked.id]
        campaign.tell(asked.id, VALUES[asked.id])


def test_a_batch_of_upper_bounds_is_ours_if_each_choice_counts_as_measured_at_its_mean():
    campaign = measured(RANKED)
    model, points = campaign_model(campaign, "targets"), CampaignPoints.of(campaign)
    chosen, left = [], points.choices
    for _ in range(5):
        (new,), _ = optimize_acqf_discrete(UpperConfidenceBound(model, beta=1.0), 1, left)
        chosen += points.names(new)
        model = model.condition_on_observations(new.unsqueeze(0), model.posterior(new.unsqueeze(0)).mean)
        left = left[(left != new).squeeze(1)]
    assert chosen == [each.id for each in campaign.ask(5)]


def test_improvement_by_samples_is_that_in_closed_form():
    campaign = measured()
    model, points = campaign_model(campaign), CampaignPoints.of(campaign)
    best, choices = best_mean(model, points), points.choices.unsqueeze(1)
    sampler = SobolQMCNormalSampler(torch.Size([1024]), seed=0)
    sampled = qLogExpectedImprovement(model, best, sampler=sampler)(choices).exp()
    exact = LogExpectedImprovement(model, best)(choices).exp()
    near = exact > exact.max() / 10
    assert sampled[near].detach().numpy() == pytest.approx(exact[near].detach().numpy(), rel=0.1)
    assert sampled.argmax() == exact.argmax()


def test_noisy_improvement_is_that_over_the_best_of_the_graphs_with_results():
    campaign = measured()
    model, points = campaign_model(campaign), CampaignPoints.of(campaign)
    sampler = SobolQMCNormalSampler(torch.Size([1024]), seed=0)
    rule = qLogNoisyExpectedImprovement(model, points.measured, sampler=sampler, prune_baseline=False)
    values = rule(points.choices.unsqueeze(1)).exp().detach().numpy()
    location, unit = campaign.model().targets.location, campaign.model().targets.unit
    everything = torch.cat([points.measured, points.choices]).flatten().long()
    mean, covariance = dense_posterior(campaign.model(), everything)
    count = len(points.measured)
    draws = np.random.default_rng(0).multivariate_normal(mean, covariance, size=20_000, method="eigh") * unit + location
    gains = np.maximum(draws[:, count:] - draws[:, :count].max(1, keepdims=True), 0).mean(0)
    assert values.argmax() == gains.argmax()
    near = gains > gains.max() / 4
    assert values[near] == pytest.approx(gains[near], rel=0.15)


def test_graphs_that_are_measured_pending_failed_or_vetoed_are_not_among_the_choices():
    campaign = measured(keys=POOL.ids[:4])
    campaign.ask(2)
    campaign.tell_failed(POOL.ids[38])
    campaign.veto(POOL.ids[39])
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


def test_a_batch_may_be_the_whole_pool():
    campaign = measured(keys=POOL.ids[:36])
    points = CampaignPoints.of(campaign)
    rule = qUpperConfidenceBound(campaign_model(campaign), beta=1.0)
    chosen, _ = optimize_acqf_discrete(rule, 4, points.choices)
    assert sorted(points.names(chosen)) == sorted(POOL.ids[36:])


def test_several_goals_are_a_list_of_models():
    goals = [Goal("value"), Goal("weight", "minimize")]
    campaign = Campaign(POOL, LINEAR, goals=goals)
    for key in POOL.ids[::4]:
        campaign.tell(key, VALUES[key], goal="value")
        campaign.tell(key, WEIGHTS[key], goal="weight")
    model, points = campaign_model(campaign), CampaignPoints.of(campaign)
    posterior = model.posterior(points.measured.unsqueeze(1))
    assert posterior.mean.shape == (10, 1, 2)
    predicted = campaign.predict()
    for k, key in enumerate(points.names(points.measured)):
        by_goal = predicted[key].by_goal
        assert posterior.mean[k, 0].tolist() == pytest.approx([by_goal["value"].mean, -by_goal["weight"].mean])
    rule = qLogNoisyExpectedHypervolumeImprovement(
        model, torch.tensor([-3.0, -60.0]).double(), points.measured, prune_baseline=False
    )
    chosen, _ = optimize_acqf_discrete(rule, 3, points.choices)
    assert len(set(points.names(chosen))) == 3


# --- Refusals, and programs


@pytest.mark.parametrize("X", [[[40.0]], [[-1.0]], [[0.5]], [[float("nan")]], [[0.0, 1.0]], [0.0]])
def test_refuses_what_is_no_index_of_a_graph(X):
    with pytest.raises(ValueError, match="Expected `X`"):
        campaign_model(measured()).posterior(torch.tensor(X).double())


def test_refuses_another_output_and_other_units():
    with pytest.raises(ValueError, match="output 0"):
        campaign_model(measured()).posterior(indices(POOL.ids[0]), output_indices=[1])
    with pytest.raises(ValueError, match="`units`"):
        campaign_model(measured(), "logits")


def test_refuses_an_agent_without_an_exact_process_or_without_graphs():
    with pytest.raises(ValueError, match=re.escape("exact Gaussian process")):
        PoolModel(Campaign(POOL, "random").model())
    with pytest.raises(RuntimeError, match="reset"):
        PoolModel(registry.make_agent("molecule-ucb"))


def test_the_example_runs(tmp_path):
    done = run_program(ROOT / "examples" / "botorch_pool.py", "--rounds", "2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "the best of all 72 is 3.13" in done.stdout


def test_the_guide_runs(capsys):
    (block,) = (
        one
        for one in blocks_of(ROOT / "docs/guides/other_libraries.md")
        if one.language == "py" and "botorch" in one.text
    )
    exec(compile(block.text, "other_libraries.md", "exec"), {})
    assert capsys.readouterr().out.strip()
