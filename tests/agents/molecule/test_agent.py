"""Properties of every agent that needs molecules."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from support.families import once_a_family
from support.molecules import some_molecules
from support.play import go_on, play

import registry
from agents.beliefs.rewards import make_targets
from agents.contract.protocol import BatchAgent
from agents.molecule.parts import make_parts
from agents.traits import compute_traits
from agents.process.likelihood import MixtureLikelihood
from graph_bandit_env import from_smiles

MOLECULES = some_molecules()
NAMES = [name for name in registry.list_agents() if registry.agent_needs(name) == "molecules"]


one_of_them = pytest.mark.parametrize("make", once_a_family(NAMES), indirect=True)


@pytest.fixture(params=NAMES)
def make(request):
    return lambda **changes: registry.make_agent(request.param, **changes)


@pytest.fixture
def env():
    return registry.make_environment(
        graphs=MOLECULES, reward_model=MOLECULES.targets, noise_std=0.1, horizon=30, observe="indices"
    )


def test_there_are_such_agents():
    assert set(NAMES) == {"molecule-ts", "molecule-ucb", "molecule-ei", "molecule-greedy"}


def test_no_molecule_is_played_while_its_result_is_awaited_unless_too_few_others_are_left(make, env):
    agent = make()
    agent.reset(env.reset(seed=0)[0], seed=1, graph_set=MOLECULES)
    count = len(MOLECULES.targets)
    others = [4, count - 1]
    awaiting = [k for k in range(count) if k not in others]
    assert sorted(agent.select_awaiting(None, 2, awaiting + awaiting[:3])) == others
    assert sorted(agent.select_awaiting(None, 3, awaiting)) == sorted([*others, awaiting[0]])  # awaited the longest


@one_of_them
def test_a_resumed_run_equals_the_uninterrupted_one(make, env):
    whole = play(env, make(), 14, seed=4)
    agent, resumed = make(), make()
    play(env, agent, 10, seed=4)
    resumed.reset(None, seed=4, graph_set=MOLECULES)
    resumed.load_state_dict(agent.state_dict())
    actions, rewards = go_on(env, resumed, 4, None, env.unwrapped.action_masks())
    assert np.array_equal(actions, whole[0][10:])
    assert np.array_equal(rewards, whole[1][10:])


def test_a_batch_holds_different_molecules_that_are_on_offer(make):
    agent = make(short_list=5)
    agent.reset(None, graph_set=MOLECULES)
    mask = np.arange(len(MOLECULES)) % 2
    for _ in range(2):
        chosen = agent.select_batch(None, 8, mask)
        assert len(set(chosen)) == 8
        assert mask[chosen].all()
        agent.update(None, chosen, MOLECULES.targets[chosen])


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


def test_predictions_move_with_the_unit_of_the_measurements(make):
    told = []
    for unit in (1.0, 1000.0):
        agent = make()
        agent.reset(None, graph_set=MOLECULES)
        agent.update(None, np.arange(10), 5 + unit * MOLECULES.targets[:10])
        told.append(agent.predict())
    np.testing.assert_allclose(told[1].mean - 5, 1000 * (told[0].mean - 5), rtol=1e-4)
    np.testing.assert_allclose(told[1].std, 1000 * told[0].std, rtol=1e-4)


@one_of_them
def test_weights_are_learnt_again_when_enough_was_measured(make, monkeypatch):
    learnt, fit = [], MixtureLikelihood.fit
    monkeypatch.setattr(
        MixtureLikelihood, "fit", lambda self, *known: learnt.append(len(self._targets)) or fit(self, *known)
    )
    agent = make(refit_growth=0.5)
    agent.reset(None, graph_set=MOLECULES)
    for action in range(8):
        agent.update(None, action, float(action))
    assert learnt == [2, 3, 5, 8]
    agent.update(None, [0] * 4, [2.0] * 4)  # repeated measurements tell the noise
    assert learnt == [2, 3, 5, 8, 8]


def test_equal_results_tell_nothing_of_the_weights(make):
    agent, other = make(), make()
    for player in (agent, other):
        player.reset(None, graph_set=MOLECULES)
    agent.update(None, range(12), [4.0] * 12)
    assert agent.shares() == other.shares()
    agent.update(None, 20, 7.0)
    other.update(None, [*range(12), 20], [*[4.0] * 12, 7.0])
    assert agent.shares() == other.shares()


def test_one_wrong_number_does_not_make_repeated_measurements_sure():
    rng = np.random.default_rng(0)
    actions = np.repeat(np.arange(20), 2)
    values = np.repeat(np.linspace(4, 8, 20), 2) + 0.3 * rng.normal(size=40)
    agent = registry.make_agent("molecule-ucb")
    agent.reset(None, graph_set=MOLECULES)
    agent.update(None, [*actions, 25], [*values, 1000.0])
    assert agent.predict().noise_std == pytest.approx(0.3, rel=0.5)


def measured(name="molecule-ucb", **changes):
    """An agent that has measured the first six molecules."""
    agent = registry.make_agent(name, **changes)
    agent.reset(None, graph_set=MOLECULES)
    agent.update(None, np.arange(6), MOLECULES.targets[:6])
    return agent


def test_an_imagined_measurement_is_the_mean_and_makes_all_others_surer():
    agent = measured(exploration_scale=2.0)
    before, imagine = agent.belief(), agent.imagine()
    imagine(9)
    after = imagine(11)
    every, found = torch.arange(len(MOLECULES)), agent.posterior
    whole = agent.posterior.kernel.columns(every, every).numpy()
    known = [*range(6), 9, 11]
    gain = np.linalg.solve(whole[np.ix_(known, known)] + found.noise * np.eye(8), whole[known])
    np.testing.assert_allclose(after.spread, 2.0 * np.sqrt(np.diag(whole - whole[:, known] @ gain)), rtol=1e-5)
    assert torch.equal(after.mean, before.mean)


def test_the_spread_of_a_belief_is_nu_standard_deviations_and_so_is_its_root():
    agent = measured(exploration_scale=2.0)
    belief, covariance = agent.belief(), 4.0 * agent.posterior.covariance(torch.arange(len(MOLECULES)))
    torch.testing.assert_close(belief.spread, covariance.diagonal().sqrt())
    torch.testing.assert_close(belief.joint_root() @ belief.joint_root().T, covariance)


def test_the_short_list_is_of_the_largest_means_and_two_standard_deviations_on_offer():
    agent = measured(short_list=4)
    told, mask = agent.predict(), torch.arange(len(MOLECULES)) % 2 == 0
    offered = np.flatnonzero(mask)
    bound = (told.mean + 2 * told.std)[offered]
    for count, size in ((2, 4), (4, 4), (5, 5)):
        expected = np.sort(offered[np.argsort(-bound)[:size]])
        assert agent._short_list(mask, count, torch.zeros(len(MOLECULES))).tolist() == expected.tolist()


def test_before_any_result_the_belief_is_that_of_a_unit_of_variance():
    agent = registry.make_agent("molecule-ucb")
    agent.reset(None, graph_set=MOLECULES)
    told = agent.predict()
    np.testing.assert_array_equal(told.mean, 0.0)
    assert (told.std**2).mean() == pytest.approx(1.0)
    assert told.noise_std == pytest.approx(0.1)


def test_weights_and_noise_are_those_of_the_largest_marginal_likelihood():
    agent = measured()
    targets = make_targets(agent.history, standardize=True, warp="normal_scores")
    parts = make_parts(agent.settings, compute_traits(MOLECULES.smiles))
    kernels, medians = [part.kernel for part in parts], [part.weight for part in parts]
    weights, noise = MixtureLikelihood.of_history(kernels, medians, 1.0, agent.history, targets).fit()
    assert agent.posterior.kernel.weights == pytest.approx(weights)
    assert agent.posterior.noise == pytest.approx(noise)


def test_shares_are_of_what_is_compared_and_add_up_to_one():
    agent = measured()
    shares = agent.shares()
    assert list(shares) == ["atom pairs", "neighbourhoods", "torsions", "roles of atoms", "properties", "descriptors"]
    assert sum(shares.values()) == pytest.approx(1)
    weights = agent.posterior.kernel.weights
    assert shares["properties"] == pytest.approx((weights[4] + weights[5]) / sum(weights))


def test_columns_of_the_users_own_that_tell_all_are_used():
    told = {}
    for columns in (None, MOLECULES.targets[:, None] ** 3):
        molecules = SimpleNamespace(to_pyg=MOLECULES.to_pyg, smiles=MOLECULES.smiles, columns=columns)
        agent = registry.make_agent("molecule-greedy")
        agent.reset(None, graph_set=molecules)
        agent.update(None, np.arange(0, 40, 4), MOLECULES.targets[::4])
        told[columns is None] = np.corrcoef(agent.predict().mean, MOLECULES.targets)[0, 1]
    assert told[False] > told[True]
    assert told[False] > 0.9
    assert agent.shares()["own columns"] > 0.3


def test_a_state_belongs_to_its_columns():
    agents = []
    for columns in (np.zeros((40, 1)), np.arange(40.0)[:, None]):
        agents.append(registry.make_agent("molecule-ucb"))
        molecules = SimpleNamespace(to_pyg=MOLECULES.to_pyg, smiles=MOLECULES.smiles, columns=columns)
        agents[-1].reset(None, graph_set=molecules)
    with pytest.raises(ValueError, match="graphs"):
        agents[0].load_state_dict(agents[1].state_dict())


def test_molecules_imagined_again_and_again_keep_a_spread_that_is_a_number():
    imagine = measured(noise_variance=1e-16, warp="none").imagine()
    for _ in range(2):
        spreads = [imagine(action).spread for action in range(len(MOLECULES))]
    assert all((spread >= 0).all() for spread in spreads)


def test_molecules_that_are_being_measured_are_not_on_offer():
    with pytest.raises(ValueError, match="Expected a number of graphs from 1 to 38"):
        measured().select_batch(None, 39, None, [4, 9])


def test_the_last_molecule_on_offer_is_played(make):
    agent = make()
    agent.reset(None, graph_set=MOLECULES)
    assert agent.select_action(None, np.arange(len(MOLECULES)) == 7) == 7


def test_leaves_the_global_generators_and_threads_alone(make, env):
    torch.manual_seed(1)
    states, threads = torch.get_rng_state(), torch.get_num_threads()
    play(env, make(), 3)
    assert torch.equal(torch.get_rng_state(), states)
    assert torch.get_num_threads() == threads


def test_before_any_result_a_batch_is_of_all_sizes(make):
    chains = from_smiles(["C" * length for length in range(1, 41)])
    sizes = set()
    for seed in range(5):
        agent = make(short_list=8)
        agent.reset(None, seed=seed, graph_set=chains)
        sizes |= {action // 10 for action in agent.select_batch(None, 4)}
    assert sizes == {0, 1, 2, 3}


def test_equal_repeated_measurements_of_near_copies_do_not_break_the_covariance(make):
    chains = ["C" * length for length in range(1, 9)]
    molecules = from_smiles([*chains, "[13CH4]", *(f"[13CH3]{chain}" for chain in chains)])
    agent = make()
    agent.reset(None, graph_set=molecules)
    actions = np.tile(np.arange(len(molecules)), 3)
    agent.update(None, actions, np.sin(actions % len(molecules)))
    assert np.isfinite(agent.predict().std).all()


def test_refuses_graphs_that_are_no_molecules(make, small_env):
    observation, _ = small_env().reset(seed=0)
    with pytest.raises(TypeError, match="Expected molecules: pass `graph_set=`"):
        make().reset(observation)


@pytest.mark.parametrize("count", [0, len(MOLECULES) + 1, 1.5, True])
def test_refuses_a_batch_of_more_than_there_is(make, count):
    agent = make()
    agent.reset(None, graph_set=MOLECULES)
    with pytest.raises(ValueError, match="Expected a number of graphs from 1 to"):
        agent.select_batch(None, count)


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


def test_hallucinated_choices_spread_over_the_pool():
    """Near copies of one molecule: after the first of them, the others are no longer uncertain."""
    alike = ["CCCCCCCCCCCC", "CCCCCCCCCCCCC", "CCCCCCCCCCCCCC", "c1ccccc1", "O=S(=O)(N)c1ccncc1"]
    agent = registry.make_agent("molecule-ucb", exploration_scale=5.0)
    agent.reset(None, seed=0, graph_set=from_smiles(alike))
    assert {3, 4} <= set(agent.select_batch(None, 3))
    assert set(agent.select_batch(None, 2, pending=[1])) == {3, 4}
