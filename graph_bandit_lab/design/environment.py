"""The environment of a run, as results keep it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Literal

from tyro.conf import Suppress

from graph_bandit_env.bandit import REASON, BanditArguments, BanditModel, name_nearest
from graph_bandit_env.rewards import NoiseName, RewardModelName
from graph_bandit_lab.design.keys import without_later_defaults


@name_nearest
@dataclass(frozen=True, kw_only=True)
class EnvironmentSettings(BanditArguments):
    """The environment that all agents play on: those arguments of `GraphActionBandit` that are numbers or names.

    Raises:
        ValueError: if one is out of its range.
        TypeError: if one is unknown, or no number or name; the message shows the nearest, or says why.
    """

    reward_model: RewardModelName = "linear"
    """Mean reward as a function of the graph."""
    noise: NoiseName = "gaussian"
    """Distribution of the noise."""

    graphs: Suppress[None] = field(
        default=None,
        init=False,
        metadata={REASON: "results keep settings, not graphs. `run_bandit` plays on graphs of your own."},
    )
    resample_graphs: Suppress[Literal[False]] = field(
        default=False,
        init=False,
        metadata={REASON: "a repetition is one episode, on one graph set, which its seed draws."},
    )
    reward_seed: Suppress[None] = field(
        default=None,
        init=False,
        metadata={REASON: "the seed of a repetition draws its rewards, too."},
    )
    observe: Suppress[Literal["indices"]] = field(
        default="indices",
        init=False,
        metadata={REASON: "agents get the graphs once, and indices in each round."},
    )
    render_mode: Suppress[None] = field(
        default=None,
        init=False,
        metadata={REASON: "nobody watches a repetition. `run_bandit` plays an environment of your own."},
    )

    def __post_init__(self) -> None:
        for name in ("edge_prob", "noise_std"):  # equal numbers are equal settings
            value = getattr(self, name)
            if isinstance(value, int) and not isinstance(value, bool):
                object.__setattr__(self, name, float(value))
        if not (isinstance(self.reward_model, str) and isinstance(self.noise, str)):
            raise TypeError(
                "Expected names as `reward_model` and `noise`, since results keep them. Got "
                f"{type(self.reward_model).__name__} and {type(self.noise).__name__}. `run_bandit` plays with means "
                "and functions of your own."
            )
        BanditModel(self)  # which checks every field
        if not self.replacement and self.horizon > self.num_graphs:  # the episode would end before its horizon
            raise ValueError(
                f"Expected `horizon` to be at most `num_graphs` without replacement. Got {self.horizon} rounds of "
                f"{self.num_graphs} graphs, each of which is played once."
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the keywords of `registry.make_environment`, as results keep them."""
        taken = {each.name: getattr(self, each.name) for each in dataclasses.fields(self) if each.init}
        return without_later_defaults(taken)
