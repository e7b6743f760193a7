"""Short names of environments and settings, for figures, tables, progress and logs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from graph_bandit_lab.design.keys import with_later_defaults

SYMBOLS = {
    "num_nodes": "N",
    "num_graphs": "K",
    "edge_prob": "p",
    "feature_dim": "d",
    "noise_std": "noise",
    "horizon": "T",
    "width": "m",
}
RESAMPLING: Mapping[object, str] = {
    False: "one graph set",
    "episode": "new graphs each episode",
    "round": "new graphs each round",
}


def write_size(size: object) -> str:
    """Write a size of an environment in short: "20", or "5 to 40"."""
    return " to ".join(map(str, size)) if isinstance(size, list | tuple) else str(size)


def describe_environment(environment: Mapping[str, object]) -> str:
    """Describe an environment in one line."""
    graphs = {"er": f"ER graphs, p = {environment['edge_prob']}", "rdpg": "random dot product graphs"}
    settings = with_later_defaults(environment)
    once = "" if settings["replacement"] else ", each graph once"
    common = ", common noise" if settings["common_noise"] else ""
    changing = f", {RESAMPLING[settings['resample_graphs']]}" if settings["resample_graphs"] else ""
    function = "" if settings["reward_seed"] is None else f", reward function {settings['reward_seed']}"
    return (
        f"{graphs[str(environment['graph_model'])]}, N = {write_size(environment['num_nodes'])}, "
        f"K = {write_size(environment['num_graphs'])}, "
        f"{environment['reward_model']} reward, T = {environment['horizon']}{once}{common}"
        f"{changing}{function}"
    )


def name_environments(environments: Sequence[Mapping[str, object]]) -> list[str]:
    """Name each environment by the settings in which it differs from the others; a single one has no name."""
    environments = [with_later_defaults(environment) for environment in environments]
    varying = varying_settings(environments)
    # Only ER graphs have edge probabilities.
    return [
        ", ".join(
            name_setting(key, environment.get(key))
            for key in varying
            if key != "edge_prob" or environment["graph_model"] == "er"
        )
        for environment in environments
    ]


def varying_settings(all_settings: Sequence[Mapping[str, object]]) -> list[str]:
    """Return the settings that are not the same in all; a missing setting counts as None."""
    names = dict.fromkeys(name for settings in all_settings for name in settings)
    return [name for name in names if len({json.dumps(settings.get(name)) for settings in all_settings}) > 1]


def name_setting(setting: str, value: object) -> str:
    """Write a setting and its value in short."""
    if setting == "replacement":
        return "with replacement" if value else "without replacement"
    if setting == "common_noise":
        return "common noise" if value else "noise of each agent"
    if setting == "resample_graphs":
        return RESAMPLING[value]
    if setting == "reward_seed":
        return "reward function of each repetition" if value is None else f"reward function {value}"
    return f"{SYMBOLS[setting]} = {write_size(value)}" if setting in SYMBOLS else str(value)
