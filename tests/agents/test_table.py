"""Properties of every registered agent that plays on any graphs."""

import inspect

import numpy as np
import pytest
import torch
from support.play import go_on, play

import registry
from agents.contract.protocol import Agent
from graph_bandit_env import GraphSet
from graph_bandit_lab import run_bandit
from graph_bandit_lab.design import AgentSpec


def small(name):
    """Settings with which a neural agent plays fifty rounds in a second."""
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


@pytest.fixture(params=[*NAMES, *FORGETFUL, *BY_SHORT_LISTS, *WARPED])
def make(request):
    spec = AgentSpec.parse(request.param)

    def make():
        return registry.make_agent(spec.name, **small(spec.name), **spec.settings)

    make.name = spec.name
    return make


def test_is_an_agent(make):
    assert isinstance(make(), Agent)


def test_equal_seeds_give_bitwise_equal_actions_and_rewards(make, small_env):
    first, again = (play(small_env(), make(), 30, seed=4) for _ in range(2))
    assert np.array_equal(first[0], again[0])
    assert np.array_equal(first[1], again[1])


def test_another_reset_forgets_everything(make, small_env):
    agent = make()
    first, again = (play(small_env(), agent, 10, seed=4) for _ in range(2))
    assert np.array_equal(first[0], again[0])


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


@pytest.mark.parametrize("resample_graphs", [False, "episode"])
def test_plays_where_the_number_of_graphs_varies(make, small_env, resample_graphs):
    env = small_env(num_graphs=(2, 9), resample_graphs=resample_graphs, horizon=5)
    for seed in range(3):  # with other numbers of graphs
        result = run_bandit(env, make(), seed=seed)
        assert result.status == "finished"
        assert result.actions.max() < len(env.unwrapped.graph_set)


def test_plays_the_only_action_that_is_left(make, small_env):
    observation, _ = small_env().reset(seed=0)
    agent = make()
    agent.reset(observation, seed=0)
    assert [agent.select_action(observation, mask) for mask in np.eye(6, dtype=np.int8)] == list(range(6))


def test_never_plays_a_masked_action(make, small_env):
    actions, _ = play(small_env(actions_per_round=2, observe="indices"), make(), 30)  # or InvalidAction is raised
    assert len(actions) == 30


def test_actions_are_python_integers(make, small_env):
    observation, info = small_env().reset(seed=0)
    agent = make()
    agent.reset(observation)
    assert type(agent.select_action(observation, info["action_mask"])) is int


@pytest.mark.parametrize(("action", "reward"), [(0, float("nan")), (6, 0.0), ([0, 1], [1.0, float("inf")])])
def test_refuses_a_bad_reward_and_keeps_its_state(make, small_env, action, reward):
    agent, twin = make(), make()
    for one in (agent, twin):
        play(small_env(), one, 3)
    with pytest.raises(ValueError, match="Expected"):
        agent.update(None, action, reward)
    for _ in range(3):
        chosen = [one.select_action(None) for one in (agent, twin)]
        assert chosen[0] == chosen[1]
        for one in (agent, twin):
            one.update(None, chosen[0], 0.5)


def test_takes_many_results_at_once_before_any_choice(make, small_env):
    observation, _ = small_env().reset(seed=0)
    agent = make()
    agent.reset(observation)
    agent.update(observation, np.array([0, 1, 1]), np.array([0.5, 1.0, 2.0]))
    assert agent.select_action(observation) in range(6)


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


def test_plays_on_graphs_of_different_sizes(make, graphs, small_env):
    env = registry.make_environment(graphs=GraphSet.from_pyg(graphs), reward_model=[0.0, 1.0, 2.0, 3.0], horizon=12)
    assert set(play(env, make(), 12)[0]) <= {0, 1, 2, 3}


def test_leaves_the_global_generators_alone(make, small_env):
    torch.manual_seed(1)
    np.random.seed(1)  # noqa: NPY002 - it is this generator that must stay untouched
    states = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    play(small_env(), make(), 5)
    assert torch.equal(torch.get_rng_state(), states[0])
    assert np.array_equal(np.random.get_state()[1], states[1])  # noqa: NPY002


def test_never_asks_for_info(make):
    for method in ("reset", "select_action", "update"):
        assert not {"info", "env", "means", "regret"} & set(inspect.signature(getattr(make(), method)).parameters)


@pytest.mark.parametrize("seed", [None, -1, 1.5])
def test_refuses_a_seed_that_is_none(make, small_env, seed):
    observation, _ = small_env().reset(seed=0)
    with pytest.raises(ValueError, match="`seed` to be an integer >= 0"):
        make().reset(observation, seed=seed)


def test_refuses_a_set_without_graphs(make):
    with pytest.raises(ValueError, match="Expected graphs"):
        make().reset(())


def test_refuses_the_state_of_another_agent(make, small_env):
    agent = make()
    play(small_env(), agent, 3)
    for state in ({}, {"identity": {"settings": {"other": 1}, "graphs": ""}}):
        with pytest.raises(ValueError, match="Expected"):
            agent.load_state_dict(state)


# Nodes without edges tell little of the reward, and greedy play keeps to what it has once believed.
WORSE = {"random": 1.0, "nn-greedy": 1.0}


def test_regret_is_below_random_play(make, small_env):
    ours = theirs = 0.0
    for seed in range(21, 27):
        env = small_env(num_graphs=12, num_nodes=10, horizon=60, reward_scale="unit", observe="indices")
        ours += run_bandit(env, make(), seed=seed).regret.sum()
        theirs += run_bandit(env, registry.make_agent("random"), seed=seed).regret.sum()
    assert ours <= theirs * WORSE.get(make.name, 0.8)


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


def test_does_not_depend_on_the_number_of_threads(make, small_env):
    played = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        played.append(play(small_env(num_graphs=20, num_nodes=24), make(), 12, seed=2))
        assert torch.get_num_threads() == threads
    torch.set_num_threads(1)
    assert np.array_equal(played[0][0], played[1][0])
