"""Agents × properties: cheap laws for every registered agent, costly ones for one agent of a family."""

import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs

import registry
from agents import LARGEST_REWARD
from agents.contract import BatchAgent
from graph_bandit_env import from_smiles
from graph_bandit_env.graphs import as_graph_set
from graph_bandit_lab import run_bandit
from graph_bandit_lab.design import AgentSpec

VARIANTS = [
    *("gntk-ts:forget=5", "gntk-ei:forget=0.9", "lin-ucb:forget=1"),
    "wl-ucb:short_list=2,forget=5",
    *("gntk-ts:warp=normal_scores", "gnn-ei:warp=normal_scores", "nn-ts:fit=epochs,epochs=2,warp=normal_scores"),
    *(
        "gnn-ts:covariance=diagonal",
        "gnn-ts:history=frozen",
        "gnn-ts:gradients_at=initial",
        "gnn-ts:start=initial,depth=3",
    ),
]
COSTLY = [
    *("gnn-ts", "neural-ts", "exp3"),
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("molecule-ucb", "gp-ucb", "gntk-ts:forget=5")),
]
FAMILIES = (
    *("gnn-ei:warp=normal_scores", "nn-pe", "neural-ucb", "epsilon-greedy", "gntk-ts:forget=5", "gp-ei", "lin-ucb"),
    *("wl-ucb:short_list=2,forget=5", "squarecb", "ucb1", "gaussian-ts", "exp3", "random"),
)
one_of_each_family = pytest.mark.parametrize("make", FAMILIES, indirect=True)


@pytest.fixture
def make(request):
    spec = AgentSpec.parse(request.param)
    small = {"width": 8, "steps": 3} if spec.name.startswith(("gnn", "nn", "epsilon")) else {}
    small = {"width": 8, "epochs": 4} if spec.name.startswith("neural") else small
    small = {"refit_growth": 1.0} if spec.name.startswith(("gp", "molecule")) else small

    def make():
        return registry.make_agent(spec.name, **small, **spec.settings)

    make.name = spec.name
    return make


@pytest.mark.parametrize("make", [*registry.list_agents(), *VARIANTS], indirect=True)
def test_repeats_itself_resumes_and_keeps_to_the_mask(make):
    molecules = registry.agent_needs(make.name) == "molecules"
    graphs = from_smiles(["CCO", "c1ccccc1", "CCN", "C"]) if molecules else as_graph_set(ragged_graphs())
    players = [make(), make(), make()]
    for agent, seed in zip(players, (3, 3, 9), strict=True):
        agent.reset(None, seed=seed, graph_set=graphs)
    agent, twin, resumed = players
    for players in ([agent, twin], [agent, twin, resumed]):
        for t in range(5):
            actions = {player.select_action(None, [1, 1, 0, 1]) for player in players}
            assert len(actions) == 1
            assert actions <= {0, 1, 3}
            for player in players:
                player.update(None, min(actions), t + min(actions) / 3)
        resumed.load_state_dict(agent.state_dict())
    assert agent.select_action(None, [0, 0, 1, 0]) == 2


@pytest.mark.parametrize("make", COSTLY, indirect=True)
def test_follows_the_protocol(make):
    registry.check_agent(make, registry.agent_needs(make.name))


@one_of_each_family
def test_plays_where_the_number_of_graphs_varies_and_some_are_masked(make, small_env):
    env = small_env(num_graphs=(3, 9), actions_per_round=2, horizon=5)  # an action that is masked ends the run
    for seed in range(2):
        assert run_bandit(env, make(), seed=seed).status == "finished"


@one_of_each_family
@pytest.mark.parametrize(
    "settings", [{"num_graphs": 1}, {"num_nodes": 1, "edge_prob": 0.0}, {"reward_model": [1.0] * 6, "noise_std": 0.0}]
)
def test_plays_where_there_is_little_to_learn(make, small_env, settings):
    assert run_bandit(small_env(**settings, horizon=6), make()).status == "finished"


@pytest.mark.parametrize("make", FAMILIES[:-1], indirect=True)
@pytest.mark.parametrize("rewards", [(1, -1, 1, 1), (1, 1 - 1e-15, 1 - 1e-13, 1), (1e-300, 3e-300, -1e-300, 1e-300)])
def test_learns_from_extreme_rewards_without_a_nan(make, rewards, graphs):
    agent = make()
    agent.reset(None, seed=0, graph_set=as_graph_set(graphs))
    for action, reward in zip((0, 1, 0, 2), rewards, strict=True):
        agent.update(None, action, LARGEST_REWARD * reward)
        assert agent.select_action(None) in range(4)
    if isinstance(agent, BatchAgent):
        prediction = agent.predict()
        assert np.isfinite([*prediction.mean, *prediction.std, prediction.noise_std]).all()


def regret_of(make):
    environment = {"num_graphs": 12, "num_nodes": 10, "feature_dim": 3, "horizon": 40, "reward_scale": "unit"}
    env = registry.make_environment(**environment, observe="indices")
    return sum(run_bandit(env, make(), seed=seed).regret.sum() for seed in range(21, 24))


@pytest.mark.parametrize("make", ["gnn-ts", "gntk-ei"], indirect=True)
def test_regret_is_below_random_play(make):
    assert regret_of(make) <= 0.9 * regret_of(lambda: registry.make_agent("random"))


@pytest.mark.parametrize("make", ["gnn-ts", "gntk-ucb", "gp-ucb"], indirect=True)
def test_does_not_depend_on_the_number_of_threads(make, small_env):
    played = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        played.append(run_bandit(small_env(num_graphs=12, num_nodes=16, horizon=6), make(), seed=2).actions)
        assert torch.get_num_threads() == threads
    torch.set_num_threads(1)
    assert np.array_equal(*played)
