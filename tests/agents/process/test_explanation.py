"""What the agents for molecules say of their predictions: what each part and each result adds."""

import numpy as np
import pytest
import torch
from support.molecules import some_molecules
from support.posterior import EXACT

import registry
from agents.contract import Explainer
from agents.molecule.parts import make_parts
from agents.molecule.traits import compute_traits

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


@pytest.mark.parametrize("name", registry.list_agents())
def test_molecule_agents_say_what_their_predictions_are_sums_of(name):
    assert isinstance(registry.make_agent(name), Explainer) == name.startswith(EXACT)


def test_parts_and_pulls_both_add_up_to_the_score_whose_value_is_the_predicted_median(agent):
    told = agent.explain(ASKED)
    score = sum(told.parts.values())
    np.testing.assert_allclose(told.pulls.sum(0), score, rtol=1e-9)
    median = agent.targets.to_rewards(torch.from_numpy(score))
    np.testing.assert_allclose(median, agent.predict().quantiles(0.5)[ASKED], rtol=1e-9)


def test_they_are_those_of_the_whole_matrix(agent):
    posterior, every = agent.posterior, torch.arange(len(MOLECULES))
    seen, noise = posterior.seen.numpy(), posterior.noise
    names, kernels = [], []
    parts = make_parts(agent.settings, compute_traits(MOLECULES.smiles))
    for part, weight in zip(parts, posterior.kernel.weights, strict=True):
        names.append(part.name)
        kernels.append(weight * part.kernel.columns(every, every).numpy())
    counts, targets = posterior.counts.numpy(), posterior.targets.numpy()
    inverse = np.linalg.inv(sum(kernels)[np.ix_(seen, seen)] + np.diag(noise / counts))
    told = agent.explain(ASKED)
    assert list(told.parts) == list(dict.fromkeys(names))
    for name, term in told.parts.items():
        of_name = sum(kernel for other, kernel in zip(names, kernels, strict=True) if other == name)
        np.testing.assert_allclose(term, of_name[np.ix_(ASKED, seen)] @ inverse @ targets, atol=1e-7)
    terms = targets[:, None] * (inverse @ sum(kernels)[np.ix_(seen, ASKED)])
    assert told.seen.tolist() == sorted(set(seen.tolist()))
    for molecule, pulls in zip(told.seen, told.pulls, strict=True):
        np.testing.assert_allclose(pulls, terms[seen == molecule].sum(0), atol=1e-7)


def test_a_copy_of_a_measured_molecule_owes_its_prediction_to_that_result():
    told = taught(warp="none", noise_variance=1e-6).explain([4])
    largest = np.abs(told.pulls[:, 0]).argmax()
    assert told.seen[largest] == 4
    assert told.pulls[largest, 0] == pytest.approx(told.pulls.sum(), rel=0.01)


@pytest.mark.parametrize("warp", ["normal_scores", "none"])
def test_a_better_result_is_a_larger_score_on_either_scale(warp):
    told = taught(warp=warp).explain(KNOWN.tolist())
    assert told.by_rank == (warp == "normal_scores")
    assert np.corrcoef(sum(told.parts.values()), VALUES[KNOWN])[0, 1] > 0.8


def test_without_results_there_is_nothing_to_say():
    agent = registry.make_agent("molecule-ucb")
    agent.reset(None, graph_set=MOLECULES)
    told = agent.explain([0, 3])
    assert told.pulls.shape == (0, 2)
    assert not any(term.any() for term in told.parts.values())


def test_it_changes_no_choice(agent):
    other = registry.make_agent("molecule-ucb")
    other.reset(None, seed=3, graph_set=MOLECULES)
    other.load_state_dict(agent.state_dict())
    agent.explain(range(40))
    assert agent.select_batch(None, 5) == other.select_batch(None, 5)


@pytest.mark.parametrize("index", [-1, 40])
def test_it_refuses_what_is_no_molecule(agent, index):
    with pytest.raises(ValueError, match="from 0 to 39"):
        agent.explain([0, index])
