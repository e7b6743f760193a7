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
        return hashlib.sha256(to_json(dataclasses.asdict(self)).encode()).hexdigest()[:16]


def has_one_instance(environment: Mapping[str, object]) -> bool:
    """Return whether every repetition plays the same graphs with the same means: its seed draws nothing but noise."""
    stays = environment.get("graphs") is not None and not environment.get("resample_graphs")
    if not stays:
        return False
    model = environment["reward_model"]
    return model == TARGET or is_structural(model) or environment.get("reward_seed") is not None
