"""The posterior of a campaign as a model of BoTorch, whose acquisition functions choose from a pool."""

import numpy as np
import pytest
import torch
from support import ROOT
from support.measured import LINEAR, POOL, RANKED, dense_posterior, measured
from support.pages import blocks_of
from support.programs import run_program

from graph_bandit_bridges import campaign_model


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


# --- Refusals, and programs


@pytest.mark.parametrize("X", [[[40.0]], [[-1.0]], [[0.5]], [[float("nan")]], [[0.0, 1.0]], [0.0]])
def test_refuses_what_is_no_index_of_a_graph(X):
    with pytest.raises(ValueError, match="Expected `X`"):
        campaign_model(measured()).posterior(torch.tensor(X).double())


def test_the_example_runs(tmp_path):
    done = run_program(ROOT / "examples" / "botorch_pool.py", "--rounds", "2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "the best of all 72 is 3.13" in done.stdout


def test_the_guide_runs(capsys):
    (block,) = (
        one for one in blocks_of(ROOT / "docs/guides/integrations.md") if one.language == "py" and "botorch" in one.text
    )
    exec(compile(block.text, "integrations.md", "exec"), {})
    assert capsys.readouterr().out.strip()
