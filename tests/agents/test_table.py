"""Properties of every registered agent that plays on any graphs, beside those that the conformance kit checks."""

import functools
import inspect

import numpy as np
import pytest
import torch
from support.families import once_a_family
from support.play import go_on, play

import registry
from graph_bandit_env import GraphSet
from graph_bandit_lab import run_bandit
from graph_bandit_lab.design import AgentSpec


def small(name):
    """Settings with which a neural agent plays fifty rounds in a second."""
    if name.startswith("neural"):
        return {"width": 16, "epochs": 10}
    return {"width": 16, "steps": 5} if name.startswith(("gnn", "nn", "epsilon")) else {}


NAMES = [name for name in registry.list_agents() if registry.agent_needs(name) == "any"]
FORGETFUL = [
    f"{name}:forget={forget}"
    for name in ("gntk-ts", "gntk-ucb", "gntk-ei", "wl-ucb", "lin-ts")
    for forget in (30, 0.97)
]
BY_SHORT_LISTS = ["gntk-ei:short_list=2", "wl-ucb:short_list=2,forget=30", "gntk-ts:short_list=5"]
WARPED = [
    f"{name}warp=normal_scores"
    for name in (
        "gntk-ts:",
        "gntk-ei:short_list=2,",
        "wl-ucb:forget=30,similarity=gaussian,",
        "gnn-ei:",
        "nn-ts:fit=epochs,epochs=2,",
    )
]


VARIANTS = [*FORGETFUL, *BY_SHORT_LISTS, *WARPED]
every_agent = pytest.mark.parametrize("make", [*NAMES, *VARIANTS], indirect=True)
one_of_each_family = pytest.mark.parametrize("make", once_a_family([*NAMES, *VARIANTS]), indirect=True)


@pytest.fixture
def make(request):
    spec = AgentSpec.parse(request.param)

    def make():
        return registry.make_agent(spec.name, **small(spec.name), **spec.settings)

    make.name = spec.name
    return make


@pytest.mark.parametrize("make", once_a_family(registry.list_agents()), indirect=True)
def test_passes_the_conformance_kit(make):
    registry.check_agent(make, registry.agent_needs(make.name))


@pytest.mark.slow
@pytest.mark.parametrize("make", [*BY_SHORT_LISTS, *WARPED], indirect=True)  # those that forget: in test_forget.py
def test_variants_pass_the_conformance_kit(make):
    registry.check_agent(make)


@one_of_each_family
def test_a_run_resumed_at_round_100_equals_the_uninterrupted_one(make, small_env):
    whole = play(small_env(horizon=120), make(), 120, seed=4)
    env, agent = small_env(horizon=120), make()
    play(env, agent, 100, seed=4)
    resumed = make()
    resumed.reset(None, seed=4, graph_set=env.unwrapped.graph_set)
    resumed.load_state_dict(agent.state_dict())
    actions, rewards = go_on(env, resumed, 20, None, env.unwrapped.action_masks())
    assert np.array_equal(actions, whole[0][100:])
    assert np.array_equal(rewards, whole[1][100:])


@one_of_each_family
@pytest.mark.parametrize("resample_graphs", [False, "episode"])
def test_plays_where_the_number_of_graphs_varies(make, small_env, resample_graphs):
    env = small_env(num_graphs=(2, 9), resample_graphs=resample_graphs, horizon=5)
    for seed in range(3):  # with other numbers of graphs
        result = run_bandit(env, make(), seed=seed)
        assert result.status == "finished"
        assert result.actions.max() < len(env.unwrapped.graph_set)


@one_of_each_family
def test_never_plays_a_masked_action(make, small_env):
    actions, _ = play(small_env(actions_per_round=2, observe="indices"), make(), 30)  # or InvalidAction is raised
    assert len(actions) == 30


@every_agent
def test_refuses_bad_rewards_and_keeps_its_state(make, small_env):
    agent, twin = make(), make()
    for one in (agent, twin):
        play(small_env(), one, 3)
    for action, reward in ((0, float("nan")), (6, 0.0), ([0, 1], [1.0, float("inf")])):
        with pytest.raises(ValueError, match="Expected"):
            agent.update(None, action, reward)
    for _ in range(3):
        chosen = [one.select_action(None) for one in (agent, twin)]
        assert chosen[0] == chosen[1]
        for one in (agent, twin):
            one.update(None, chosen[0], 0.5)


@one_of_each_family
@pytest.mark.filterwarnings("ignore:.*look equal:agents.contract.BlindAgentWarning")  # without edges, or one feature
@pytest.mark.parametrize(
    "settings",
    [
        {"num_graphs": 1},
        {"num_nodes": 1},
        {"edge_prob": 0.0},
        {"reward_model": [1.0] * 6, "noise_std": 0.0},
        {"feature_dim": 1},
        {"noise": "rademacher", "noise_std": 100.0},
    ],
)
def test_plays_where_there_is_little_to_learn(make, small_env, settings):
    actions, rewards = play(small_env(**settings), make(), 12)
    assert len(actions) == 12
    assert np.isfinite(rewards).all()


@one_of_each_family
def test_plays_on_graphs_of_different_sizes(make, graphs, small_env):
    env = registry.make_environment(graphs=GraphSet.from_pyg(graphs), reward_model=[0.0, 1.0, 2.0, 3.0], horizon=12)
    assert set(play(env, make(), 12)[0]) <= {0, 1, 2, 3}


@every_agent
def test_never_asks_for_info(make):
    for method in ("reset", "select_action", "update"):
        assert not {"info", "env", "means", "regret"} & set(inspect.signature(getattr(make(), method)).parameters)


@every_agent
def test_refuses_a_seed_that_is_none(make, small_env):
    observation, _ = small_env().reset(seed=0)
    for seed in (None, -1, 1.5):
        with pytest.raises(ValueError, match="`seed` to be an integer >= 0"):
            make().reset(observation, seed=seed)


@every_agent
def test_refuses_a_set_without_graphs(make):
    with pytest.raises(ValueError, match="Expected graphs"):
        make().reset(())


@every_agent
def test_refuses_the_state_of_another_agent(make, small_env):
    agent = make()
    play(small_env(), agent, 3)
    for state in ({}, {"identity": {"settings": {"other": 1}, "graphs": ""}}):
        with pytest.raises(ValueError, match="Expected"):
            agent.load_state_dict(state)


# Nodes without edges tell little of the reward, and greedy play keeps to what it has once believed.
# Exponential weights need many more rounds than these.
WORSE = {"random": 1.0, "nn-greedy": 1.0, "exp3": 1.05}


@functools.cache
def regret_of_random_play():
    return regret_of(lambda: registry.make_agent("random"))


def regret_of(make):
    environment = {"num_graphs": 12, "num_nodes": 10, "feature_dim": 3, "horizon": 60, "reward_scale": "unit"}
    env = registry.make_environment(**environment, observe="indices")
    return sum(run_bandit(env, make(), seed=seed).regret.sum() for seed in range(21, 27))


@one_of_each_family
def test_regret_is_below_random_play(make):
    assert regret_of(make) <= regret_of_random_play() * WORSE.get(make.name, 0.8)


@every_agent
def test_refuses_to_go_on_without_a_reset(make):
    uses = (
        lambda agent: agent.select_action(None),
        lambda agent: agent.update(None, 0, 1.0),
        lambda agent: agent.state_dict(),
        lambda agent: agent.load_state_dict({}),
    )
    for use in uses:
        with pytest.raises(RuntimeError, match="Expected `reset` first"):
            use(make())


@one_of_each_family
def test_does_not_depend_on_the_number_of_threads(make, small_env):
    played = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        played.append(play(small_env(num_graphs=20, num_nodes=24), make(), 12, seed=2))
        assert torch.get_num_threads() == threads
    torch.set_num_threads(1)
    assert np.array_equal(played[0][0], played[1][0])
