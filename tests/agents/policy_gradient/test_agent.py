"""The agent `sb3-ppo`: what it does beside what every agent does (test_agents_table.py)."""

import numpy as np
import pytest
import torch
from stable_baselines3 import PPO
from support.graphs import ragged_graphs
from support.play import go_on, play

import registry
from agents.contract.protocol import DivergedError
from agents.policy_gradient.online import observe, seeded_global_generators
from graph_bandit_env import GraphSet

GRAPHS = ragged_graphs(sizes=(5, 4, 7, 6, 7))


def told(graphs, actions, rewards, **settings):
    agent = registry.make_agent("sb3-ppo", **{"rollout": 4, **settings})
    agent.reset(None, seed=3, graph_set=GraphSet.from_pyg(graphs))
    for action, reward in zip(actions, rewards, strict=True):
        agent.update(None, action, reward)
    return agent


def probabilities(agent, mask=None):
    return torch.from_numpy(agent.action_probabilities(None, mask).values)


def test_permuting_the_graph_set_permutes_the_probabilities():
    order, actions = np.array([2, 0, 4, 3, 1]), np.array([3, 0, 3, 1, 0, 3, 2, 2])
    rewards = np.linspace(-1, 1, 8)
    agent = told(GRAPHS, actions, rewards)
    permuted = told([GRAPHS[k] for k in order], np.argsort(order)[actions], rewards)
    torch.testing.assert_close(probabilities(permuted), probabilities(agent)[order], rtol=1e-4, atol=1e-4)


def test_a_full_rollout_changes_the_policy_and_nothing_before_it_does():
    three = told(GRAPHS, [0, 1, 2], [1.0, 2.0, 3.0])
    assert torch.equal(probabilities(three), probabilities(told(GRAPHS, [], [])))
    three.update(None, 2, 3.0)
    assert not torch.equal(probabilities(three), probabilities(told(GRAPHS, [], [])))
    assert three.rounds == []


def test_what_paid_becomes_more_likely():
    before = probabilities(told(GRAPHS, [], []))
    after = probabilities(told(GRAPHS, [0, 1, 2, 3] * 4, [0.0, 5.0, 0.0, 0.0] * 4))
    assert after[1] > 2 * before[1]


def test_units_of_the_rewards_do_not_matter():
    actions, rewards = [0, 1, 2, 3] * 2, np.array([0.3, 1.0, 0.1, 0.4] * 2)
    small, large = told(GRAPHS, actions, rewards), told(GRAPHS, actions, 7.0 + 1000 * rewards)
    torch.testing.assert_close(probabilities(small), probabilities(large), rtol=1e-4, atol=1e-5)


def test_a_masked_graph_has_no_probability():
    agent = told(GRAPHS, [0, 1, 2, 3], [1.0, 2.0, 0.0, 1.0])
    masked = probabilities(agent, [1, 0, 1, 0, 0])
    assert masked[[1, 3, 4]].tolist() == [0, 0, 0]
    assert masked.sum().item() == pytest.approx(1)


def test_the_rounds_keep_the_mask_and_the_probability_of_their_choice():
    agent = told(GRAPHS, [], [])
    mask = np.array([1, 0, 1, 0, 1])
    expected = probabilities(agent, mask)
    action = agent.select_action(None, mask)
    agent.update(None, action, 1.0)
    assert agent.rounds[0].mask == (1, 0, 1, 0, 1)
    assert agent.rounds[0].log_probability == pytest.approx(expected[action].log().item())


def test_a_result_that_was_not_chosen_counts_as_a_choice_among_all():
    agent = told(GRAPHS, [], [])
    chosen = agent.select_action(None, np.array([1, 0, 1, 0, 1]))
    other = next(k for k in range(5) if k != chosen)
    agent.update(None, other, 1.0)
    assert agent.rounds[0].mask == (1, 1, 1, 1, 1)
    assert agent.rounds[0].action == other


def test_a_choice_that_waits_for_its_reward_is_part_of_the_state(small_env):
    env = small_env(horizon=40)
    agent = registry.make_agent("sb3-ppo")
    play(env, agent, 11, seed=1)
    agent.select_action(None, [1, 1, 0, 0, 1, 0])
    twin = registry.make_agent("sb3-ppo")
    twin.reset(None, seed=9, graph_set=env.unwrapped.graph_set)
    twin.load_state_dict(agent.state_dict())
    for one in (agent, twin):
        one.update(None, 0, 1.0)
    assert agent.rounds == twin.rounds
    masks = env.unwrapped.action_masks()
    assert np.array_equal(go_on(env, agent, 9, None, masks)[0], go_on(small_env_at(env), twin, 9, None, masks)[0])


def small_env_at(env):
    """A bandit on the same graphs, whose noise is so small that it does not matter."""
    import gymnasium as gym

    settings = {"graphs": env.unwrapped.graph_set, "reward_model": env.unwrapped.mean_rewards, "horizon": 40}
    twin = gym.make("GraphActionBandit-v0", **settings)
    twin.reset(seed=0)
    return twin


@pytest.mark.parametrize("learning_rate", [1e20, 1e38])
def test_a_policy_that_turns_non_finite_is_told_and_not_kept(learning_rate):
    agent = told(GRAPHS, [0, 1, 2], [1.0, 2.0, 3.0], learning_rate=learning_rate, batch_size=2)
    before = probabilities(agent)
    with pytest.raises(DivergedError, match="Lower `learning_rate`"):
        agent.update(None, 2, 3.0)
    assert torch.equal(probabilities(agent), before)
    assert agent.rounds == []


def test_weights_that_turn_non_finite_at_the_last_step_are_not_kept(monkeypatch):
    agent = told(GRAPHS, [0, 1, 2], [1.0, 2.0, 3.0])
    before = probabilities(agent)

    def spoil(ppo):
        with torch.no_grad():
            next(iter(ppo.policy.value_net.parameters())).fill_(float("nan"))

    monkeypatch.setattr(PPO, "train", spoil)
    with pytest.raises(DivergedError, match="Lower `learning_rate`"):
        agent.update(None, 2, 3.0)
    assert torch.equal(probabilities(agent), before)


def test_generators_of_gpus_are_left_alone(monkeypatch):
    seeded = []
    monkeypatch.setattr(torch.cuda, "manual_seed_all", seeded.append)
    told(GRAPHS, [0, 1, 2, 3], [1.0, 2.0, 3.0, 0.0])
    assert seeded == []


def test_observations_are_those_of_the_wrapper():
    found = observe([0, 1, 1, 0])
    assert found["indices"].tolist() == [1, 2, -1, -1]
    assert found["mask"].tolist() == [0, 1, 1, 0]


def test_global_generators_are_seeded_inside_and_restored_outside():
    before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    drawn = []
    for _ in range(2):
        with seeded_global_generators(7):
            drawn.append((torch.rand(()).item(), np.random.rand()))  # noqa: NPY002
    assert drawn[0] == drawn[1]
    assert torch.equal(torch.get_rng_state(), before[0])
    assert np.array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002


def test_it_settles_on_a_good_graph_though_perhaps_not_on_the_best():
    rewards = np.array([0.0, 1.0, 2.0, 0.5, 1.5])
    agent = registry.make_agent("sb3-ppo")
    agent.reset(None, seed=0, graph_set=GraphSet.from_pyg(GRAPHS))
    for _ in range(120):
        action = agent.select_action(None)
        agent.update(None, action, rewards[action])
    assert probabilities(agent).max() > 0.9
    assert probabilities(agent).numpy() @ rewards > 1.4  # random play has 1


@pytest.mark.parametrize("settings", [{"rollout": 1}, {"batch_size": 1}, {"learning_rate": -0.1}, {"epochs": 0}])
def test_refuses_settings_out_of_range(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        registry.make_agent("sb3-ppo", **settings)


def test_a_reward_that_comes_late_belongs_to_the_choice_that_earned_it():
    agent = told(GRAPHS, [], [])
    masks = [np.array([1, 0, 0, 0, 0]), np.array([0, 1, 1, 0, 0]), np.array([0, 0, 0, 1, 1])]
    played = [agent.select_action(None, mask) for mask in masks]
    agent.update(None, played[0], 1.0)
    agent.update(None, played[2], 2.0)
    agent.update(None, played[1], 3.0)
    assert [kept.mask for kept in agent.rounds] == [(1, 0, 0, 0, 0), (0, 0, 0, 1, 1), (0, 1, 1, 0, 0)]
    assert agent.state_dict()["chosen"] == []
