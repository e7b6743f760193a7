"""Settings of the environment of a run, as results store them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from tyro.conf import Suppress

from graph_bandit_env.bandit import REASON, BanditArguments, BanditModel, ObservationKind, name_nearest
from graph_bandit_env.graphs import smallest_size
from graph_bandit_env.rewards import NoiseName, RewardModelName
from graph_bandit_lab.design.keys import without_later_defaults
from graph_bandit_lab.design.names import write_size


@name_nearest
@dataclass(frozen=True, kw_only=True)
class EnvironmentSettings(BanditArguments):
    """The environment that all agents play on: those arguments of `GraphActionBandit` that are numbers or names.

    Raises:
        ValueError: if an argument is out of its range.
        TypeError: if one is unknown, or neither a number nor a name; the message shows the nearest name, or says why.
    """

    reward_model: RewardModelName = "linear"
    """Mean reward as a function of the graph."""
    noise: NoiseName = "gaussian"
    """Distribution of the noise."""

    graphs: Suppress[None] = field(
        default=None,
        init=False,
        metadata={REASON: "results store settings, not graphs. `run_bandit` plays on your own graphs."},
    )
    resample_graphs: bool | Literal["episode", "round"] = False
    """Draw new graphs for each round ("round"). With "episode", or True, a repetition has one graph set, as with False,
    but the reward function is one of all graphs."""
    observe: Suppress[ObservationKind] = field(
        default="indices",
        init=False,
        metadata={REASON: "agents get the graphs once, and indices in each round, unless graphs change."},
    )
    render_mode: Suppress[None] = field(
        default=None,
        init=False,
        metadata={REASON: "repetitions are not rendered. `run_bandit` plays an environment that you make."},
    )

    def __post_init__(self) -> None:
        if isinstance(self.resample_graphs, (bool, np.bool_)):  # equal choices are equal settings
            object.__setattr__(self, "resample_graphs", "episode" if self.resample_graphs else False)
        if self.resample_graphs == "round":
            object.__setattr__(self, "observe", "graphs")
        for name in ("edge_prob", "noise_std"):  # equal numbers are equal settings
            value = getattr(self, name)
            if isinstance(value, int) and not isinstance(value, bool):
                object.__setattr__(self, name, float(value))
        if not (isinstance(self.reward_model, str) and isinstance(self.noise, str)):
            raise TypeError(
                "Expected `reward_model` and `noise` to be names, which results can store. Got "
                f"{type(self.reward_model).__name__} and {type(self.noise).__name__}. `run_bandit` plays "
                "with your own means and functions."
            )
        drawn = BanditModel(self).random_graphs  # checks every field
        for name in ("num_graphs", "num_nodes"):
            object.__setattr__(self, name, getattr(drawn, name))
        if not self.replacement and self.horizon > smallest_size(drawn.num_graphs):  # the episode would end before
            raise ValueError(
                f"Expected `horizon` to be at most `num_graphs` without replacement. Got {self.horizon} rounds of "
                f"{write_size(self.num_graphs)} graphs, and each can be played only once."
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as results store them; `design.keys.to_arguments` makes keywords of them."""
        arguments = {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.init}
        stored = {name: list(value) if isinstance(value, tuple) else value for name, value in arguments.items()}
        return without_later_defaults(stored)
