"""Let a bandit learn online from nothing, on graph sets that change every round, and test it on unseen sets."""

from __future__ import annotations

import copy
import time

import numpy as np
import torch

import registry
from agents.contract import BatchAgent
from benchmarks.kept_rows import Row
from benchmarks.policies.learners import LEARNERS
from benchmarks.policies.train import GROWTH, Task, UnseenSets, train
from graph_bandit_env import GraphSet


def learn(learner: str, seed: int, actions_per_round: int, rounds: int, test_sets: int) -> list[Row]:
    """Train a policy, or let an agent learn online; the arguments are those of `train` and `learn_online`."""
    return (train if learner in LEARNERS else learn_online)(learner, seed, actions_per_round, rounds, test_sets)


def learn_online(learner: str, seed: int, actions_per_round: int, rounds: int, test_sets: int) -> list[Row]:
    """Play an agent on one bandit, on one thread, and test what it would play without exploring.

    Args:
        learner: a name of an agent that plays on graphs that change, and predicts.
        seed: seed of the `Task`.
        actions_per_round: how many graphs a round of the task offers.
        rounds: rounds of play.
        test_sets: how many graph sets a test has.

    Returns:
        A row of `train.COLUMNS` for each test, before, during and after the play; the seconds are those of the whole
        play.
    """
    torch.set_num_threads(1)
    task = Task(seed=seed, actions_per_round=actions_per_round)
    env, sets = task.bandit(), UnseenSets(task, test_sets)
    agent = registry.make_agent(learner)
    if not isinstance(agent, BatchAgent):
        raise TypeError(f"Expected an agent that predicts. Got {learner}.")
    observation, info = env.reset(seed=task.first_seed)
    agent.reset(observation, seed=task.seed)
    results, due = [(0, *test(agent, sets))], 1
    start = time.perf_counter()
    for t in range(1, rounds + 1):
        action = agent.select_action(observation, info["action_mask"])
        played = observation
        observation, reward, *_, info = env.step(np.int64(action))
        agent.update(played, action, float(reward))
        if t >= due or t == rounds:
            results.append((t, *test(agent, sets)))
            due = max(t + 1, int(t * GROWTH))
    seconds = round(time.perf_counter() - start, 1)
    head = tuple(map(str, (learner, seed, actions_per_round, rounds, test_sets)))
    return [(*head, taken, round(regret, 5), masked, seconds) for taken, regret, masked in results]


def test(agent: BatchAgent, sets: UnseenSets) -> tuple[float, int]:
    """Return what `UnseenSets.score` says of the graphs that an agent predicts to be best; the agent stays as it is."""
    player = copy.deepcopy(agent)

    def best(graph_set: GraphSet, mask: np.ndarray) -> int:
        player.select_action(tuple(graph_set), mask)
        return int(np.where(mask, player.predict().mean, -np.inf).argmax())

    return sets.score(np.array([best(*shown) for shown in zip(sets.graph_sets, sets.masks, strict=True)]))
