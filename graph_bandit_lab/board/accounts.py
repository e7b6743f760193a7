"""Give the stored actions of an entry to their environments again: do they earn the rewards and the regret of its rows?

This needs no agent, so it is done for each repetition, those of other packages included, whose code never runs.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import registry
from graph_bandit_lab.board.entries import Play
from graph_bandit_lab.board.rules import Rules
from graph_bandit_lab.design.plan import Repetition
from graph_bandit_lab.episodes.feedback import Schedule
from graph_bandit_lab.episodes.loop import episode_seeds
from graph_bandit_lab.episodes.records import BanditResult

if TYPE_CHECKING:
    import gymnasium as gym

OF_A_ROUND = 0.01
"""By how much the reward or the regret of a round may differ, as other CPUs round otherwise; means have a standard
deviation of 1."""
OF_THE_MEAN = 0.0005
"""By how much it may differ in mean over the rounds."""


def find_false_accounts(plays: Sequence[Play], rules: Rules) -> dict[tuple[str, int], str]:
    """Find repetitions whose actions do not earn what their rows say.

    Args:
        plays: of entries that keep the rules.
        rules: those of the board.

    Returns:
        What is wrong with a repetition, by settings hash and seed; those that are in order are not in it.
    """
    from agents.contract import one_thread  # which imports torch

    instances: dict[tuple[str, int], list[Play]] = {}
    for play in plays:
        instances.setdefault((play.key.environment_key, play.seed), []).append(play)
    faults: dict[tuple[str, int], str] = {}
    with one_thread():  # as they were played
        for (_, seed), group in instances.items():
            repetition = rules.repetition_of(group[0])
            env = registry.make_environment(**repetition.to_arguments())
            observation, info = env.reset(seed=episode_seeds(seed)[0])
            for play in group:  # each in a copy: an instance may take seconds to make
                fault = _account(copy.deepcopy(env), observation, info["action_mask"], play, repetition)
                if fault:
                    faults[play.identity] = fault
            env.close()
    return faults


def find_difference(said: Play | BanditResult, earned: Play | BanditResult, rounds: int) -> str:
    """Say where the rewards or the regret of the first rounds differ by more than rounding; nothing if nowhere."""
    for name in ("rewards", "regret"):
        first, second = getattr(said, name)[:rounds], getattr(earned, name)[:rounds]
        apart = np.abs(first - second)
        wrong = np.flatnonzero(~(apart <= OF_A_ROUND))  # so that `nan` is wrong
        if len(wrong):
            k = wrong[0]
            return f"{name} {first[k]:.4f} in round {k + 1}, where its actions earn {second[k]:.4f}"
        if rounds and apart.mean() > OF_THE_MEAN:
            return f"{name} that differ from what its actions earn by {apart.mean():.5f} in mean"
    return ""


def _account(
    env: gym.Env[object, int], observation: object, mask: NDArray[np.int8], play: Play, repetition: Repetition
) -> str:
    """Play the actions of a repetition in its environment, and say what differs."""
    feedback = repetition.feedback
    schedule, nobody = Schedule(feedback, env.unwrapped, play.seed), registry.make_agent("random")
    rewards, regret, over = list[float](), list[float](), False
    for number, action in enumerate(play.actions.tolist()):
        if over:
            return f"{len(play.actions)} rounds of an episode of {number}"
        if number < feedback.random_rounds:  # no agent chooses yet
            drawn = schedule.choose(nobody, observation, mask)
            if action != drawn:
                return f"graph {action} in round {number + 1}, in which graph {drawn} is played by every agent"
        if not (0 <= action < len(mask) and mask[action]):
            return f"graph {action} in round {number + 1}, which is not on offer there"
        observation, reward, terminated, truncated, info = env.step(action)
        mask, over = info["action_mask"], terminated or truncated
        rewards.append(float(reward))
        regret.append(float(info["regret"]))
    if play.status == "finished" and not over:
        return f"{len(play.actions)} rounds of an episode that goes on"
    earned = BanditResult(play.actions, np.array(rewards), np.array(regret))
    return find_difference(play, earned, len(rewards))
