from types import SimpleNamespace

import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from support.posterior import from_scratch
from torch_geometric.data import Batch

import registry
from agents.beliefs.rewards.likelihood import Hyperparameters
from agents.kernel.columns import ColumnProcess, KernelColumns
from agents.kernel.gaussian_process import GaussianProcess
from agents.kernel.kernels import encode_network
from agents.kernel.priors import ColumnPrior, WholePrior
from agents.kernel.settings import KernelSettings, SubtreeSettings
from agents.kernel.subtrees import encode_subtrees
from graph_bandit_env import GraphSet

# Two of the graphs have no edges, and so look equal to a network.
pytestmark = pytest.mark.filterwarnings("ignore:.*look equal:agents.contract.BlindAgentWarning")

FEATURES = np.random.default_rng(0).normal(size=(12, 5))
UNIT = Hyperparameters(1.0, 0.1)
KERNEL = FEATURES @ FEATURES.T / 5  # singular: rank 5 on 12 graphs


def columns(asked=None):
    kernel = torch.tensor(KERNEL)

    def rows(slots):
        if asked is not None:
            asked.extend(slots.tolist())
        return kernel[slots]

    return KernelColumns(SimpleNamespace(rows=rows, diagonal=kernel.diagonal))


def observe(length):
    rng = np.random.default_rng(1)
    actions = rng.integers(0, 10, length)  # two graphs are never played
    return actions, rng.normal(size=length)


@pytest.mark.parametrize("noise", [1e-4, 0.1, 10.0])
def test_posterior_equals_one_solve_with_all_observations(noise):
    actions, rewards = observe(60)
    process = ColumnProcess(columns(), Hyperparameters(2.0, noise))
    for action, reward in zip(actions, rewards, strict=True):
        process.add(int(action), float(reward))
    mean, covariance = from_scratch(2 * KERNEL, noise, actions, rewards)
    np.testing.assert_allclose(process.mean, mean, atol=1e-8)
    np.testing.assert_allclose(process.variance, np.diag(covariance), atol=1e-8)


def test_rewards_told_at_once_tell_what_they_tell_one_by_one():
    counts, targets = torch.zeros(2, len(KERNEL), dtype=torch.float64)
    counts[3], targets[3], counts[5], targets[5] = 4, 2.0, 1, -1.0
    at_once, one_by_one = ColumnProcess(columns(), UNIT, counts, targets), ColumnProcess(columns(), UNIT)
    for action, reward in ((3, 1.0), (3, 3.0), (5, -1.0), (3, 2.5), (3, 1.5)):
        one_by_one.add(action, reward)
    torch.testing.assert_close(at_once.mean, one_by_one.mean)
    torch.testing.assert_close(at_once.variance, one_by_one.variance)


def test_a_column_is_computed_once():
    asked = []
    kernel = columns(asked)
    for process in (ColumnProcess(kernel, UNIT), ColumnProcess(kernel, Hyperparameters(3.0, 0.1))):
        for action in (2, 5, 2):
            process.add(action, 1.0)
    np.testing.assert_array_equal(kernel.columns(*[torch.tensor([5, 2])] * 2), KERNEL[[5, 2]][:, [5, 2]])
    assert asked == [2, 5]


def test_a_copy_goes_on_by_itself():
    process = ColumnProcess(columns(), UNIT)
    process.add(1, 1.0)
    other, before = process.copy(), process.mean
    other.add(2, 5.0)
    assert torch.equal(process.mean, before)
    assert not torch.equal(other.mean, before)


def test_a_process_with_the_state_of_another_goes_on_to_the_last_bit():
    process, other = (ColumnProcess(columns(), Hyperparameters(scale, 0.1)) for scale in (1.0, 5.0))
    for action in (3, 1, 3):
        process.add(action, 0.5 * action)
    other.load_state_dict(process.state_dict())
    for each in (process, other):
        each.add(7, -1.0)
    assert torch.equal(process.mean, other.mean)
    assert torch.equal(process.variance, other.variance)


@pytest.mark.parametrize("settings", [KernelSettings(), KernelSettings(kernel="empirical", width=8), SubtreeSettings()])
def test_the_diagonal_is_that_of_the_whole_kernel(settings):
    batch = Batch.from_data_list(ragged_graphs(sizes=(5, 1, 7, 3, 2, 4, 6, 2, 9)))
    encode = encode_subtrees if isinstance(settings, SubtreeSettings) else encode_network
    graphs = encode(settings, batch, seed=0)
    torch.testing.assert_close(graphs.diagonal(), graphs.rows().diagonal())
    slots = torch.tensor([4, 0])
    torch.testing.assert_close(graphs.rows(slots), graphs.rows()[slots])


GRAPHS = GraphSet.from_pyg(ragged_graphs(sizes=(5, 1, 7, 3, 2, 4, 6, 2, 9)))
REWARDS = np.random.default_rng(2).normal(size=len(GRAPHS))


def played(name, rounds=12, **settings):
    """An agent that was told the same rewards, whatever it would have chosen."""
    agent = registry.make_agent(name, output_scale=2.0, noise_variance=0.1, **settings)
    agent.reset(None, seed=0, graph_set=GRAPHS)
    for t in range(rounds):
        agent.update(None, 2 * t % 7, REWARDS[2 * t % 7])
    return agent


@pytest.mark.parametrize("forget", [None, 5, 0.8])
@pytest.mark.parametrize("name", ["gntk-ucb", "gntk-ei", "wl-ucb"])
def test_columns_give_the_belief_that_the_whole_kernel_gives(name, forget):
    columns, whole = (played(name, forget=forget, most_graphs=most) for most in (len(GRAPHS) - 1, len(GRAPHS)))
    assert isinstance(columns.prior, ColumnPrior)
    torch.testing.assert_close(columns.belief().mean, whole.belief().mean)
    torch.testing.assert_close(columns.belief().spread, whole.belief().spread)
    assert columns.select_batch(None, 4) == whole.select_batch(None, 4)
    columns.select_action(None)
    whole.select_action(None)
    mine, theirs = columns.insight(), whole.insight()
    assert mine.log_determinant == pytest.approx(theirs.log_determinant)
    assert np.isnan(mine.effective_dimension)


@pytest.mark.parametrize("forget", [None, 5, 0.8])
@pytest.mark.parametrize("warp", ["none", "normal_scores"])
@pytest.mark.parametrize("name", ["gntk-ucb", "gntk-greedy", "wl-ei"])
def test_rows_give_the_belief_that_a_root_gives(name, warp, forget, monkeypatch):
    known = {} if warp == "normal_scores" else {"noise_variance": 0.1}
    agents = []
    for rows in (0.0, 100.0):
        monkeypatch.setattr("agents.kernel.priors.ROWS", rows)
        agents.append(registry.make_agent(name, warp=warp, forget=forget, output_scale=2.0, **known))
        agents[-1].reset(None, seed=0, graph_set=GRAPHS)
        for t in range(12):
            agents[-1].update(None, 2 * t % 7, REWARDS[2 * t % 7])
    by_root, by_rows = agents
    assert isinstance(by_root.posterior, GaussianProcess)
    assert isinstance(by_rows.posterior, ColumnProcess)
    torch.testing.assert_close(by_rows.belief().mean, by_root.belief().mean)
    torch.testing.assert_close(by_rows.belief().spread, by_root.belief().spread)
    assert by_rows.select_batch(None, 4) == by_root.select_batch(None, 4)
    joint = [agent.belief().joint_root() for agent in agents]  # for a rule that needs it and does not say so
    torch.testing.assert_close(joint[1] @ joint[1].T, joint[0] @ joint[0].T)


def test_few_rewards_of_many_graphs_make_rows_and_more_make_a_root():
    agent = registry.make_agent("gntk-ucb", noise_variance=0.1)
    agent.reset(None, seed=0, graph_set=GRAPHS)
    forms = []
    for t in range(9):
        agent.update(None, t, REWARDS[t])
        forms.append(type(agent.posterior))
    assert len(GRAPHS) == 9
    assert forms == [ColumnProcess] * 7 + [GaussianProcess] * 2  # from the fit at t = 8 on


def test_joint_draws_have_a_root_from_the_first():
    agent = registry.make_agent("gntk-ts")
    agent.reset(None, seed=0, graph_set=GRAPHS)
    assert isinstance(agent.posterior, GaussianProcess)


@pytest.mark.parametrize("rounds", [1, 8])
def test_an_agent_with_the_whole_kernel_goes_on_from_its_state_in_either_form(rounds):
    agent, other = (
        played("gntk-ucb", rounds=rounds),
        registry.make_agent("gntk-ucb", output_scale=2.0, noise_variance=0.1),
    )
    other.reset(None, seed=5, graph_set=GRAPHS)
    other.load_state_dict(agent.state_dict())
    for one in (agent, other):
        one.update(None, 8, 1.0)
    assert type(agent.posterior) is type(other.posterior)
    assert torch.equal(agent.belief().mean, other.belief().mean)
    assert torch.equal(agent.belief().spread, other.belief().spread)


@pytest.mark.parametrize("name", ["gntk-ei", "wl-ucb"])
def test_an_agent_by_columns_goes_on_from_its_state_to_the_last_bit(name):
    agent, other = (
        played(name, most_graphs=3),
        registry.make_agent(name, output_scale=2.0, noise_variance=0.1, most_graphs=3),
    )
    other.reset(None, seed=5, graph_set=GRAPHS)
    other.load_state_dict(agent.state_dict())
    for one in (agent, other):
        one.update(None, 8, 1.0)
    assert torch.equal(agent.belief().mean, other.belief().mean)
    assert agent.select_action(None) == other.select_action(None)


def test_hyperparameters_are_those_of_the_whole_kernel_but_for_the_prior_variance():
    agents = [registry.make_agent("gntk-ucb", most_graphs=most) for most in (3, 9)]
    for agent in agents:
        agent.reset(None, seed=0, graph_set=GRAPHS)
        agent.update(None, np.arange(9), REWARDS)
    assert agents[0].fitted.noise == pytest.approx(agents[1].fitted.noise)
    assert agents[0].fitted.scale == pytest.approx(agents[1].fitted.scale)


def test_graphs_that_stand_for_all_are_evenly_spaced(monkeypatch):
    monkeypatch.setattr("agents.kernel.priors.SAMPLE", 3)
    graphs = encode_network(KernelSettings(), GRAPHS.to_batch(), seed=0)
    torch.testing.assert_close(ColumnPrior(graphs).sample(), graphs.rows()[[0, 3, 6]][:, [0, 3, 6]])


@pytest.mark.parametrize("at_once", [0, 3, 9])
def test_other_targets_are_exact_where_noise_is_small(at_once):
    rng = np.random.default_rng(2)
    features = rng.normal(size=(9, 20))
    kernel, fitted = features @ features.T / 20, Hyperparameters(100.0, 1e-8)
    prior = WholePrior(torch.tensor(kernel), draws_jointly=False)
    actions = [*range(9), 3, 3, 7]
    counts = torch.tensor(np.bincount(actions, minlength=9))
    before = torch.bincount(torch.tensor(actions[:at_once], dtype=torch.int64), minlength=9)
    process = ColumnProcess(prior, fitted, before, torch.zeros(9, dtype=torch.float64))
    for action in actions[at_once:]:
        process.add(action, 0.0)
    targets = rng.normal(size=9)
    process.retarget(counts.double(), torch.tensor(targets))
    mean, _ = from_scratch(100 * kernel, 1e-8, actions, targets[actions])
    np.testing.assert_allclose(process.mean, mean, atol=1e-8)


@pytest.mark.parametrize(
    "change",
    [
        {"root": torch.eye(3, dtype=torch.float64)},
        {"root": torch.eye(9, dtype=torch.float64)},
        {"rows": torch.zeros(4, 9, dtype=torch.float64)},
        {"played": torch.tensor([9])},
        {"scale": -1.0},
    ],
)
def test_a_state_whose_parts_do_not_belong_together_is_refused_and_changes_nothing(change):
    agent = played("gntk-ucb", rounds=1)
    before = agent.belief()
    with pytest.raises(ValueError, match="one that does not fit"):
        agent.load_state_dict(agent.state_dict() | change)
    assert torch.equal(agent.belief().mean, before.mean)
    assert torch.equal(agent.belief().spread, before.spread)
