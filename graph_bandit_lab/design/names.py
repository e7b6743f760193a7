"""Define keys of repetitions, and short names of environments and settings, with light imports for workers."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graph_bandit_env.rewards import is_structural

FEEDBACK = ("batch", "delay", "random_rounds", "announced", "distinct")
"""Settings of the loop rather than the environment."""
OWN, TARGET, COLUMN = "own", "target", "column"
"""Graph model of the user's own graphs, reward model of their measured values, and noise per graph."""
SYMBOLS = {
    "num_nodes": "N",
    "num_graphs": "K",
    "edge_prob": "p",
    "feature_dim": "d",
    "noise_std": "noise",
    "horizon": "T",
    "width": "m",
}
UNSAID = {"replacement": 1, "noise_draws": "round", "resample_graphs": 0, "batch": 1, "delay": 0, "random_rounds": 0}
"""Values that descriptions of environments omit."""


def write_size(size: object) -> str:
    """Format a size of an environment: "20", or "5 to 40"."""
    return " to ".join(map(str, size)) if isinstance(size, list | tuple) else str(size)


WORDS: Mapping[str, Callable[[Any], str]] = {  # in the order of a description
    "replacement": lambda value: "with replacement" if value else "each graph once",
    "noise_draws": lambda value: f"noise drawn for each {value}",
    "resample_graphs": lambda value: f"new graphs each {value}" if value else "one graph set",
    "reward_seed": lambda value: f"reward function {'of each repetition' if value is None else value}",
    "drift": lambda value: f"means that {value or 'stay'}",
    "drift_rate": lambda value: f"at rate {value}",
    "batch": lambda value: "one at a time" if value == 1 else f"batches of {value}",
    "distinct": lambda value: "repeats allowed" if value is False else "no repeats",
    "delay": lambda value: "rewards at once" if value == 0 else f"rewards after {write_size(value)} rounds",
    "announced": lambda value: "announced" if value else "not announced",
    "random_rounds": lambda value: f"first {value} rounds at random" if value else "no rounds at random",
    "minimize": lambda value: "minimized" if value else "maximized",
}


def name_setting(setting: str, value: object) -> str:
    """Format a setting and its value briefly."""
    if setting in SYMBOLS:
        return f"{SYMBOLS[setting]} = {write_size(value)}"
    return WORDS.get(setting, str)(value)


def describe_environment(environment: Mapping[str, object]) -> str:
    """Describe an environment in one line."""
    graphs = {
        "er": f"ER graphs, p = {environment.get('edge_prob')}",
        "rdpg": "random dot product graphs",
        "mixed": "graphs of four kinds without node features",
        "weighted": "rings with edge weights",
        OWN: f"{environment.get('graphs')}{', to be minimized' if environment.get('minimize') else ''}",
    }
    parts = [graphs[str(environment["graph_model"])]]
    parts += [name_setting(name, environment[name]) for name in ("num_nodes", "num_graphs")]
    parts += [] if environment["reward_model"] == TARGET else [f"{environment['reward_model']} reward"]
    parts += [name_setting("horizon", environment["horizon"])]
    said = meaningful_settings(environment)
    parts += [
        name_setting(name, said[name]) for name in list(WORDS)[:-1] if said.get(name) not in (None, UNSAID.get(name))
    ]
    return ", ".join(parts)


def name_environments(environments: Sequence[Mapping[str, object]]) -> list[str]:
    """Name each environment by the settings in which it differs from the others. A single one has no name."""
    order = ["", *WORDS]
    varying = sorted(varying_settings(environments), key=lambda name: order.index(name if name in WORDS else ""))
    return [
        ", ".join(name_setting(key, environment.get(key)) for key in varying if key not in _implied(environment))
        for environment in environments
    ]


def meaningful_settings(environment: Mapping[str, object]) -> dict[str, object]:
    """Return the settings that have an effect in an environment. Without drift, its rate is omitted."""
    without = _meaningless(environment)
    return {name: value for name, value in environment.items() if name not in without}


def _meaningless(environment: Mapping[str, object]) -> tuple[str, ...]:
    """Return the settings that have no effect because of other settings."""
    without: tuple[str, ...] = () if environment.get("graph_model") == "er" else ("edge_prob",)
    without += () if environment.get("graph_model") == OWN else ("graphs", "minimize")
    without += ("drift_rate",) if environment.get("drift") is None else ()
    without += ("distinct",) if environment.get("batch", 1) == 1 else ()
    return without + (("announced",) if not environment.get("delay") else ())


def _implied(environment: Mapping[str, object]) -> tuple[str, ...]:
    """Return the settings that add nothing to the name of an environment."""
    without = _meaningless(environment)
    if environment.get("graph_model") != OWN:
        return without
    all_graphs = () if environment.get("resample_graphs") else ("num_graphs",)
    values = ("reward_model",) if environment.get("reward_model") == TARGET else ()
    return ("graph_model", "num_nodes", "feature_dim", *all_graphs, *values, *without)  # its graphs have a name


def varying_settings(all_settings: Sequence[Mapping[str, object]]) -> list[str]:
    """Return the settings that vary. A missing setting counts as None."""
    names = dict.fromkeys(name for settings in all_settings for name in settings)
    return [name for name in names if len({json.dumps(settings.get(name)) for settings in all_settings}) > 1]


def to_json(value: object) -> str:
    """Encode as JSON so that equal values give equal texts. The text of an environment's settings is its key."""
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
    """Return True if all repetitions play the same graphs and means, so that their seeds only affect noise."""
    stays = environment.get("graphs") is not None and not environment.get("resample_graphs")
    if not stays:
        return False
    model = environment["reward_model"]
    return model == TARGET or is_structural(model) or environment.get("reward_seed") is not None
