"""Compute with which probability a rule plays each graph, without playing."""

from __future__ import annotations

import copy
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from agents.beliefs.belief import Belief
from agents.beliefs.choices.largest import largest_of_draws
from agents.beliefs.rules.rule import AcquisitionRule
from agents.contract.abilities import ActionProbabilities


@runtime_checkable
class ChoiceWeigher(Protocol):
    """A rule that draws at random, and knows with which probability it plays each graph."""

    def choice_probabilities(
        self, belief: Belief, action_mask: Tensor, generator: torch.Generator, draws: int
    ) -> tuple[Tensor, Tensor]:
        """Return the probability of each graph, and its standard error, which is 0 where nothing is drawn.

        Args:
            belief: belief about the K graphs.
            action_mask: `(K,)` bool. Graphs on offer in this round.
            generator: for draws that are needed.
            draws: how many of them to make.

        Returns:
            `(K,)` float64 each.
        """


def choice_probabilities(
    rule: AcquisitionRule, belief: Belief, mask: Tensor, generator: torch.Generator, draws: int
) -> ActionProbabilities:
    """Return with which probability a rule plays each graph; neither the rule nor the generator is changed.

    A rule whose index is not random plays the largest entry: with probability 1, or equally often where entries tie. A
    `ChoiceWeigher` is asked. Of any other rule the index is drawn again and again.

    Args:
        rule: ranks the K graphs.
        belief: belief about the K graphs.
        mask: `(K,)` bool. Graphs on offer.
        generator: generator of the agent's randomness; draws come from a stream of their own, which its state seeds.
        draws: M, the number of draws where draws are needed.

    Raises:
        ValueError: if `draws` is not an integer of at least 2.
    """
    if isinstance(draws, bool) or not isinstance(draws, int) or draws < 2:
        raise ValueError(f"Expected `draws` to be an integer of at least 2. Got {draws!r}.")
    stream = stream_of(generator)
    if isinstance(rule, ChoiceWeigher):
        return as_probabilities(*rule.choice_probabilities(belief, mask, stream, draws))
    before = stream.get_state()
    index = copy.deepcopy(rule)(belief, mask, stream)
    if torch.equal(stream.get_state(), before):  # it drew nothing
        return as_probabilities(largest_of_draws(index.unsqueeze(0), mask)[0])
    drawn = [copy.deepcopy(rule)(belief, mask, stream) for _ in range(draws)]
    return as_probabilities(*largest_of_draws(torch.stack(drawn), mask))


def as_probabilities(values: Tensor, errors: Tensor | None = None) -> ActionProbabilities:
    """Return tensors `(K,)` as `ActionProbabilities`; None: the probabilities are exact."""
    errors = torch.zeros_like(values) if errors is None else errors
    return ActionProbabilities(values.double().numpy(), errors.double().numpy())


def stream_of(generator: torch.Generator) -> torch.Generator:
    """Return a generator that the state of another one seeds, which is not changed."""
    twin = torch.Generator()
    twin.set_state(generator.get_state())
    return torch.Generator().manual_seed(int(torch.randint(2**62, (), generator=twin)))
