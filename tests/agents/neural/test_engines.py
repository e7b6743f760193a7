"""Agents play by every engine; on a machine with a GPU, there too."""

from dataclasses import dataclass

import pytest
import torch

import registry


def test_a_device_that_is_not_here_is_refused_at_the_door():
    with pytest.raises(ValueError, match="Expected `device`"):
        registry.make_agent("gnn-ts", device="cuda:99")


@dataclass
class Round:
    mean: torch.Tensor
    spread: torch.Tensor
    root: torch.Tensor
    chosen: int
    action: int
    reward: float


def watch(env, agent, told=()):
    """Let an agent play twenty rounds, or hear of those that another has played; return what it believed in each."""
    observation, _ = env.reset(seed=0)
    agent.reset(observation, seed=0)
    rounds = []
    for round_ in range(20):
        belief, chosen = agent.belief(), agent.select_action(observation)
        action, reward = (told[round_].action, told[round_].reward) if told else (chosen, env.step(chosen)[1])
        agent.update(observation, action, reward)
        rounds.append(Round(belief.mean, belief.spread, belief.joint_root(), chosen, action, reward))
    return rounds


@pytest.mark.parametrize("form", [{}, {"history": "frozen"}, {"gradients_at": "initial"}, {"depth": 3}])
def test_features_that_are_made_again_give_the_beliefs_of_features_that_are_held(small_env, monkeypatch, form):
    """Blocks of other sizes add up in another order, so beliefs agree to rounding, and plays where margins are wide.

    Each graph has features of its own by the compiled loops; by torch they come from products over a block, so that
    the kernel is off by the rounding of float32. Let P be the prior covariance and G the gain. The posterior moves by
    (I - G) dP (I - G)^T, about as much as the prior; a symmetric root by at most the square root of that.
    """
    held = watch(small_env(), registry.make_agent("gnn-ucb", width=16, steps=5, **form))
    monkeypatch.setattr("gntk.engines.features.HELD_BYTES", 0)
    monkeypatch.setattr("gntk.engines.features.BLOCK_BYTES", 8 * 2 * 64)  # two graphs at a time
    made = watch(small_env(), registry.make_agent("gnn-ucb", width=16, steps=5, **form), told=held)
    prior = held[0].spread.square().max().item()
    error = 4 * torch.finfo(torch.float32).eps * prior if "depth" in form else 1e-12 * prior
    wide = 0
    for expected, found in zip(held, made, strict=True):
        torch.testing.assert_close(found.mean, expected.mean, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(found.spread.square(), expected.spread.square(), rtol=0, atol=error)
        torch.testing.assert_close(found.root, expected.root, rtol=0, atol=error**0.5)
        best, second = (expected.mean + expected.spread).topk(2).values
        if best - second > 0.02:
            wide += 1
            assert found.chosen == expected.chosen
    assert wide >= 10
