"""What a stored repetition is known by. Nothing heavy is imported here: every worker does."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graph_bandit_lab.storage.encoding import to_json

# Of settings of environments that came when there were results without them.
LATER_DEFAULTS = {"replacement": True, "common_noise": False}


@dataclass(frozen=True)
class RunKey:
    """What a repetition's result depends on, its seed aside."""

    agent: str
    agent_settings: dict[str, Any]
    environment: dict[str, Any]
    plug_in: str = ""
    """Name and version of the package that an agent from elsewhere comes in."""

    @property
    def settings_hash(self) -> str:
        """Return a hash that is the same on every machine and in every process."""
        parts = {"agent": self.agent, "settings": self.agent_settings, "environment": self.environment}
        text = to_json({**parts, "plug_in": self.plug_in} if self.plug_in else parts)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def without_later_defaults(environment: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what earlier results do not say, where it is as it was then, so that their keys stay what they are."""
    return {
        name: value
        for name, value in environment.items()
        if name not in LATER_DEFAULTS or value != LATER_DEFAULTS[name]
    }


def with_later_defaults(environment: Mapping[str, Any]) -> dict[str, Any]:
    """Say what `without_later_defaults` left out."""
    return dict(environment) | {name: value for name, value in LATER_DEFAULTS.items() if name not in environment}
