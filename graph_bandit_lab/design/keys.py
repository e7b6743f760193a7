"""Keys that identify stored repetitions. Every worker imports this, so it imports nothing heavy."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graph_bandit_env.rewards import is_structural

# Defaults of settings that were added to environments after results had been stored without them.
LATER_DEFAULTS = {
    "replacement": True,
    "common_noise": False,
    "resample_graphs": False,
    "reward_seed": None,
    "graphs": None,
    "minimize": False,
    "batch": 1,
    "delay": 0,
    "random_rounds": 0,
    "announced": False,
    "drift": None,
    "drift_rate": 0.01,
}
# The same of the agents of this package.
LATER_AGENT_DEFAULTS = {
    "memory": 2000,
    "forget": None,
    "warp": "none",
    "similarity": "cosine",
    "stereo": False,
    "features": "means",
    "features_name": "",
    "scale_features": True,
}
SIZES = ("num_graphs", "num_nodes", "horizon")
FEEDBACK = ("batch", "delay", "random_rounds", "announced")
"""Settings that are those of the loop, and not of the environment that it plays."""
OWN, TARGET, COLUMN = "own", "target", "column"
"""The graph model of the user's own graphs, the reward model of the values that were measured on them, and the noise of
which each graph has its own."""


def to_json(value: object) -> str:
    """Write JSON so that equal values give equal texts. The text of an environment's settings is its key."""
    return json.dumps(value, sort_keys=True, allow_nan=False)


@dataclass(frozen=True)
class RunKey:
    """Everything but the seed that the result of a repetition depends on."""

    agent: str
    agent_settings: dict[str, Any]  # keywords of the agent's factory
    environment: dict[str, Any]
    plug_in: str = ""
    """Name and version of the package of a third-party agent."""
    algorithm: int = 1
    """Version of the agent's algorithm. Another version plays differently under equal settings."""

    @cached_property
    def environment_key(self) -> str:
        """Return the text that identifies the environment in results."""
        return to_json(self.environment)

    @cached_property
    def settings_hash(self) -> str:
        """Return a hash that is the same on every machine and in every process."""
        parts = {"agent": self.agent, "settings": self.agent_settings, "environment": self.environment}
        later = {
            "plug_in": (self.plug_in, ""),
            "algorithm": (self.algorithm, 1),
        }  # value, and that of earlier results
        text = to_json(parts | {name: value for name, (value, implied) in later.items() if value != implied})
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @cached_property
    def agent_kind(self) -> str:
        """Return the agent and those of its settings on which the code that plays, and so its time, can depend.

        Numbers with a fraction (rates, weights) are all the same: they change what is played, not how.
        """
        settings = {
            name: "number" if isinstance(value, float) else value for name, value in self.agent_settings.items()
        }
        return to_json([self.agent, self.plug_in, settings])

    @cached_property
    def environment_kind(self) -> str:
        """Return the settings of the environment without its sizes, and without numbers that have a fraction."""
        environment = {
            name: value
            for name, value in self.environment.items()
            if name not in SIZES and not isinstance(value, float)
        }
        return to_json(environment)

    @cached_property
    def earlier_hashes(self) -> tuple[str, ...]:
        """Return the hashes under which earlier versions of the algorithm are stored."""
        return tuple(dataclasses.replace(self, algorithm=k).settings_hash for k in range(1, self.algorithm))


def without_later_defaults(
    settings: Mapping[str, object], defaults: Mapping[str, object] = LATER_DEFAULTS
) -> dict[str, object]:
    """Leave out settings that earlier results do not have, where they are at their defaults: the keys stay the same."""
    return {name: value for name, value in settings.items() if name not in defaults or value != defaults[name]}


def has_one_instance(environment: Mapping[str, object]) -> bool:
    """Return whether every repetition plays the same graphs with the same means: its seed draws nothing but noise."""
    stays = environment.get("graphs") is not None and not environment.get("resample_graphs")
    if not stays:
        return False
    model = environment["reward_model"]
    return model == TARGET or is_structural(model) or environment.get("reward_seed") is not None


def with_later_defaults(
    settings: Mapping[str, object], defaults: Mapping[str, object] = LATER_DEFAULTS
) -> dict[str, object]:
    """Add the settings that `without_later_defaults` left out."""
    return dict(settings) | {name: value for name, value in defaults.items() if name not in settings}
