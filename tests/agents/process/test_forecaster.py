"""Bounds of values under fantasized results."""

import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from support.molecules import some_molecules

import registry
from agents.beliefs.rewards import predict_chosen
from agents.descriptors import compute_descriptors
from agents.molecule.parts import make_parts
from graph_bandit_env.graphs import as_graph_set


def trained(**settings):
    molecules = some_molecules(30)
    agent = registry.make_agent("molecule-ucb", **settings)
    agent.reset(None, seed=0, graph_set=molecules)
    agent.update(None, np.arange(12), molecules.targets[:12])
    return agent


@pytest.mark.parametrize("warp", ["none", "normal_scores"])
def test_a_result_that_equals_its_mean_narrows_the_bounds_of_the_others_as_the_covariance_says(warp):
    agent = trained(warp=warp, exploration_scale=1.5)
    index, pending = [3, 17, 20, 29], [15, 25]
    bounds = agent.fantasize_bounds(index, pending)
    every = torch.tensor([*index, *pending])
    mean, covariance = agent.posterior.mean_and_variance(every)[0], agent.posterior.covariance(every)
    noise = agent.posterior.noise
    for played in ([4, 5], [4, 5, 1]):
        low, high = bounds(None if len(played) == 2 else 1)
        cross, within = covariance[:, played], covariance[played][:, played]
        inner = within + noise * torch.eye(len(played), dtype=torch.float64)
        left = (covariance - cross @ torch.linalg.solve(inner, cross.T)).diagonal()[:4].sqrt()
        np.testing.assert_allclose(agent.targets.of(torch.from_numpy(low)), mean[:4] - 1.5 * left, atol=1e-9)
        np.testing.assert_allclose(agent.targets.of(torch.from_numpy(high)), mean[:4] + 1.5 * left, atol=1e-9)


def test_what_is_chosen_counts_the_molecules_with_results_and_changes_nothing():
    agent, other = trained(), trained()
    chosen, plain = agent.predict_chosen(4, 30), agent.predict()
    mean, variance = agent.posterior.mean_and_variance(torch.arange(30))
    expected = predict_chosen(agent.targets, mean, variance.sqrt(), agent.result_noise, 12, 4, 30)
    for name in ("mean", "std", "noise_std"):
        np.testing.assert_allclose(getattr(chosen, name), getattr(expected, name))
    np.testing.assert_allclose(chosen.interval(), expected.interval())
    assert (np.diff(chosen.interval(), axis=0) > np.diff(plain.interval(), axis=0)).all()
    agent.update(None, 1, some_molecules(30).targets[1])  # a repeat is no other molecule
    assert agent.select_batch(None, 4) != []
    other.update(None, 1, some_molecules(30).targets[1])
    np.testing.assert_array_equal(agent.predict().mean, other.predict().mean)


@pytest.mark.parametrize("told", [0, 3, 9])
@pytest.mark.parametrize("name", ["gp-ts", "gntk-ts", "lin-ts"])
def test_a_joint_draw_of_a_whole_set_is_that_of_the_root(name, told):
    """Whether rewards were added one by one or conditioned on at once."""
    agent = registry.make_agent(name, exploration_scale=0.7)
    agent.reset(None, graph_set=as_graph_set(ragged_graphs((5, 4, 7, 6, 3, 8))))
    for k in range(told):
        agent.update(None, k % 4, float(np.sin(k)))
    belief = agent.belief()
    root, normal = belief.joint_root(), torch.Generator().manual_seed(5)
    expected = root @ torch.randn(root.shape[1], generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    torch.testing.assert_close(belief.deviation(normal), expected)
    covariance = 0.49 * agent.posterior.covariance(torch.arange(6))
    torch.testing.assert_close(root @ root.T, covariance, rtol=1e-6, atol=1e-8)


MOLECULES = some_molecules()
VALUES = MOLECULES.targets
KNOWN = np.arange(0, 40, 2)
ASKED = [1, 4, 39, 0]


def taught(bounds=False, **settings):
    agent = registry.make_agent("molecule-ucb", **settings)
    agent.reset(None, seed=3, graph_set=MOLECULES)
    if bounds:  # of molecule 5 on both sides, and of a measured one
        agent.update_bounds(None, [5, 5, 2, 7], [0.5, 3.0, VALUES[2] - 1, 2.0], [True, False, True, True])
    agent.update(None, KNOWN, VALUES[KNOWN])
    return agent


@pytest.fixture(params=[True, False], ids=["bounds", "results"])
def agent(request):
    return taught(request.param)


def test_parts_and_pulls_both_add_up_to_the_score_whose_value_is_the_predicted_median(agent):
    told = agent.explain(ASKED)
    score = sum(told.parts.values())
    np.testing.assert_allclose(told.contributions.sum(0), score, rtol=1e-9)
    median = agent.targets.to_rewards(torch.from_numpy(score))
    np.testing.assert_allclose(median, agent.predict().quantiles(0.5)[ASKED], rtol=1e-9)


def test_they_are_those_of_the_whole_matrix(agent):
    posterior, every = agent.posterior, torch.arange(len(MOLECULES))
    seen, noise = posterior.seen.numpy(), posterior.noise
    names, kernels = [], []
    plain, parts = make_parts(agent.settings, compute_descriptors(MOLECULES.smiles))
    every_part = plain.columns(every, every).transpose(0, 1).numpy()
    for part, weight, kernel in zip(parts, posterior.kernel.weights.tolist(), every_part, strict=True):
        names.append(part.name)
        kernels.append(weight * kernel)
    counts, targets = posterior.counts.numpy(), posterior.targets.numpy()
    inverse = np.linalg.inv(sum(kernels)[np.ix_(seen, seen)] + np.diag(noise / counts))
    told = agent.explain(ASKED)
    assert list(told.parts) == list(dict.fromkeys(names))
    for name, term in told.parts.items():
        of_name = sum(kernel for other, kernel in zip(names, kernels, strict=True) if other == name)
        np.testing.assert_allclose(term, of_name[np.ix_(ASKED, seen)] @ inverse @ targets, atol=1e-7)
    terms = targets[:, None] * (inverse @ sum(kernels)[np.ix_(seen, ASKED)])
    assert told.seen.tolist() == sorted(set(seen.tolist()))
    for molecule, contributions in zip(told.seen, told.contributions, strict=True):
        np.testing.assert_allclose(contributions, terms[seen == molecule].sum(0), atol=1e-7)
