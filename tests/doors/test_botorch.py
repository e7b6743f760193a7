"""The posterior of a campaign as a model of BoTorch, whose acquisition functions choose from a pool."""

import re

import gymnasium as gym
import numpy as np
import pytest
import torch
from botorch.acquisition import qKnowledgeGradient
from botorch.sampling import IIDNormalSampler, SobolQMCNormalSampler
from support import ROOT
from support.measured import LINEAR, POOL, RANKED, dense_posterior, measured
from support.pages import blocks_of
from support.programs import run_program

import registry
from graph_bandit_bridges import PoolModel, campaign_model
from graph_bandit_campaign import Campaign
from graph_bandit_lab import run_bandit


def indices(*keys):
    return torch.tensor([POOL.ids.index(key) for key in keys], dtype=torch.float64).unsqueeze(1)


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


def test_batches_hold_what_each_group_of_graphs_has_alone():
    model = campaign_model(measured())
    groups = torch.randint(40, (2, 5, 3, 1), generator=torch.Generator().manual_seed(0)).double()
    together = model.posterior(groups)
    assert together.mean.shape == (2, 5, 3, 1)
    alone = model.posterior(groups[1, 4])
    torch.testing.assert_close(together.mean[1, 4], alone.mean)
    torch.testing.assert_close(together.distribution.covariance_matrix[1, 4], alone.distribution.covariance_matrix)


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


def test_an_agent_that_plays_in_an_environment_has_a_model_too():
    agent = registry.make_agent("gntk-ucb")
    run_bandit(gym.make("GraphActionBandit-v0", num_graphs=12, num_nodes=6, horizon=20), agent)
    posterior = PoolModel(agent).posterior(torch.arange(12).double().view(12, 1, 1))
    predicted = agent.predict()
    assert posterior.mean.flatten().numpy() == pytest.approx(predicted.mean, abs=1e-9)
    assert posterior.variance.sqrt().flatten().numpy() == pytest.approx(predicted.std, abs=1e-5)


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


def test_one_result_for_several_graphs_makes_a_batch_of_models():
    model, graphs = campaign_model(measured()), indices(*POOL.ids[1:4])
    later = model.condition_on_observations(graphs.unsqueeze(1), torch.tensor([[2.0]]).double())
    assert later.batch_shape == (3,)
    for k in range(3):
        alone = model.condition_on_observations(graphs[k : k + 1], torch.tensor([[2.0]]).double())
        mean = later.posterior(graphs.expand(3, 3, 1)).mean[k]
        torch.testing.assert_close(mean, alone.posterior(graphs).mean)


def test_results_with_less_noise_tell_more():
    model, graphs = campaign_model(measured()), indices(*POOL.ids[1:2])
    told, noise = torch.zeros(1, 1).double(), model.likelihood.noise.detach().view(1, 1)
    before = model.posterior(graphs).variance.item()
    for share in (0.0, 1.0, 4.0):
        later = model.condition_on_observations(graphs, told, share * noise)
        expected = 1 / (1 / before + 1 / (share * noise.item())) if share else 0.0  # precisions add up
        assert later.posterior(graphs).distribution.covariance_matrix.item() == pytest.approx(expected, abs=1e-9)
    default = model.condition_on_observations(graphs, told).posterior(graphs).variance
    given = model.condition_on_observations(graphs, told, noise).posterior(graphs).variance
    torch.testing.assert_close(default, given)


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


def test_refuses_an_agent_whose_graphs_change():
    agent, env = registry.make_agent("gntk-ucb"), gym.make("GraphActionBandit-v0", num_graphs=5, num_nodes=6)
    first, others = env.reset(seed=0)[0], env.reset(seed=1)[0]
    agent.reset(first)
    agent.select_action(others)
    with pytest.raises(ValueError, match="graphs change"):
        PoolModel(agent)


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
