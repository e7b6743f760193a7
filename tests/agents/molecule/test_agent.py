"""Properties of every agent that needs molecules."""

import numpy as np
import pytest
import torch
from support.molecules import some_molecules

import registry
from agents.beliefs.rewards import make_targets
from agents.contract.protocol import BatchAgent
from agents.descriptors import compute_descriptors
from agents.molecule.parts import make_parts
from agents.process.likelihood import Rows, likelihood_of

MOLECULES = some_molecules()
NAMES = [name for name in registry.list_agents() if registry.agent_needs(name) == "molecules"]


one_of_them = pytest.mark.parametrize("make", ["molecule-ei"], indirect=True)


@pytest.fixture(params=NAMES)
def make(request):
    return lambda **changes: registry.make_agent(request.param, **changes)


@pytest.fixture
def env():
    return registry.make_environment(
        graphs=MOLECULES, reward_model=MOLECULES.targets, noise_std=0.1, horizon=30, observe="indices"
    )


def test_no_molecule_is_played_while_its_result_is_awaited_unless_too_few_others_are_left(make, env):
    agent = make()
    agent.reset(env.reset(seed=0)[0], seed=1, graph_set=MOLECULES)
    count = len(MOLECULES.targets)
    others = [4, count - 1]
    awaiting = [k for k in range(count) if k not in others]
    assert sorted(agent.select_awaiting(None, 2, awaiting + awaiting[:3])) == others
    assert sorted(agent.select_awaiting(None, 3, awaiting)) == sorted([*others, awaiting[0]])  # awaited the longest


def test_predictions_agree_with_what_was_measured_and_are_unsure_elsewhere(make):
    agent = make(noise_variance=1e-6, warp="none")
    agent.reset(None, graph_set=MOLECULES)
    others = np.arange(0, len(MOLECULES), 4)
    known = np.setdiff1d(np.arange(len(MOLECULES)), others)
    agent.update(None, known, MOLECULES.targets[known])
    assert isinstance(agent, BatchAgent)
    found = agent.predict()
    np.testing.assert_allclose(found.mean[known], MOLECULES.targets[known], atol=0.01)
    assert found.std[known].max() < 0.01 < found.std[others].min()
    assert found.noise_std == pytest.approx(1e-3)
    spread = np.abs(found.mean[others] - MOLECULES.targets[others])
    assert spread.mean() < 0.7 * np.abs(MOLECULES.targets[others] - MOLECULES.targets.mean()).mean()


def measured(name="molecule-ucb", **changes):
    """An agent that has measured the first six molecules."""
    agent = registry.make_agent(name, **changes)
    agent.reset(None, graph_set=MOLECULES)
    agent.update(None, np.arange(6), MOLECULES.targets[:6])
    return agent


def test_an_fantasized_measurement_is_the_mean_and_makes_all_others_surer():
    agent = measured(exploration_scale=2.0)
    before, fantasize = agent.belief(), agent.fantasize()
    fantasize(9)
    after = fantasize(11)
    every, found = torch.arange(len(MOLECULES)), agent.posterior
    whole = agent.posterior.kernel.columns(every, every).numpy()
    known = [*range(6), 9, 11]
    gain = np.linalg.solve(whole[np.ix_(known, known)] + found.noise * np.eye(8), whole[known])
    np.testing.assert_allclose(after.spread, 2.0 * np.sqrt(np.diag(whole - whole[:, known] @ gain)), rtol=1e-5)
    assert torch.equal(after.mean, before.mean)


def test_the_short_list_is_of_the_largest_means_and_two_standard_deviations_on_offer():
    agent = measured(short_list=4)
    told, mask = agent.predict(), torch.arange(len(MOLECULES)) % 2 == 0
    offered = np.flatnonzero(mask)
    bound = (told.mean + 2 * told.std)[offered]
    for count, size in ((2, 4), (4, 4), (5, 5)):
        expected = np.sort(offered[np.argsort(-bound)[:size]])
        assert agent._short_list(mask, count, torch.zeros(len(MOLECULES))).tolist() == expected.tolist()


def test_weights_and_noise_are_those_of_the_largest_marginal_likelihood():
    agent = measured()
    targets = make_targets(agent.history, standardize=True, warp="normal_scores")
    kernels, parts = make_parts(agent.settings, compute_descriptors(MOLECULES.smiles))
    rows = Rows.of(agent.history, targets)
    weights, noise, _ = likelihood_of(kernels, [part.weight for part in parts], 1.0, rows).fit()
    assert agent.posterior.kernel.weights.tolist() == pytest.approx(weights)
    assert agent.posterior.noise == pytest.approx(noise)


def test_shares_are_of_what_is_compared_and_add_up_to_one():
    agent = measured()
    shares = agent.shares()
    assert list(shares) == ["atom pairs", "ECFP", "torsions", "FCFP", "properties", "descriptors"]
    assert sum(shares.values()) == pytest.approx(1)
    weights = agent.posterior.kernel.weights
    assert shares["properties"] == pytest.approx(sum(weights[4:7]) / sum(weights))


@pytest.mark.slow
@one_of_them
def test_finds_the_best_molecule_sooner_than_random_play(make):
    """Thirteen of forty measured: random play finds the best in a third of the trials."""
    found = 0
    for seed in range(6):
        agent = make()
        agent.reset(None, seed=seed, graph_set=MOLECULES)
        measured = np.random.default_rng(seed).choice(len(MOLECULES), 3, replace=False).tolist()
        agent.update(None, measured, MOLECULES.targets[measured])
        for _ in range(5):
            mask = np.ones(len(MOLECULES), np.int8)
            mask[measured] = 0
            chosen = agent.select_batch(None, 2, mask)
            agent.update(None, chosen, MOLECULES.targets[chosen])
            measured += chosen
        found += int(MOLECULES.targets.argmax()) in measured
    assert found >= 4, found
