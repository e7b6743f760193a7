"""Short names of environments and settings, for figures, tables, progress and logs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from graph_bandit_lab.design.keys import OWN, TARGET, with_later_defaults

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


DRIFTS: Mapping[object, str] = {None: "means that stay", "walk": "means that walk", "jump": "means that jump"}


def write_size(size: object) -> str:
    """Write a size of an environment in short: "20", or "5 to 40"."""
    return " to ".join(map(str, size)) if isinstance(size, list | tuple) else str(size)


def describe_environment(environment: Mapping[str, object]) -> str:
    """Describe an environment in one line."""
    settings = with_later_defaults(environment)
    graphs = {
        "er": f"ER graphs, p = {settings.get('edge_prob')}",
        "rdpg": "random dot product graphs",
        "mixed": "graphs of four kinds without node features",
        "weighted": "rings with edge weights",
        OWN: f"{settings['graphs']}{', to be minimized' if settings['minimize'] else ''}",
    }
    rewards = "" if settings["reward_model"] == TARGET else f"{settings['reward_model']} reward, "
    once = "" if settings["replacement"] else ", each graph once"
    common = ", common noise" if settings["common_noise"] else ""
    changing = f", {RESAMPLING[settings['resample_graphs']]}" if settings["resample_graphs"] else ""
    drift = "" if settings["drift"] is None else f", {DRIFTS[settings['drift']]} at rate {settings['drift_rate']}"
    late = "" if settings["delay"] == 0 else f", {name_setting('delay', settings['delay'])}"
    late += f", {name_setting('announced', settings['announced'])}" if late else ""
    late = late if settings["batch"] == 1 else f", {name_setting('batch', settings['batch'])}{late}"
    late += f", {name_setting('random_rounds', settings['random_rounds'])}" if settings["random_rounds"] else ""
    function = "" if settings["reward_seed"] is None else f", reward function {settings['reward_seed']}"
    return (
        f"{graphs[str(settings['graph_model'])]}, N = {write_size(settings['num_nodes'])}, "
        f"K = {write_size(settings['num_graphs'])}, {rewards}T = {settings['horizon']}{once}{common}"
        f"{changing}{function}{drift}{late}"
    )


def name_environments(environments: Sequence[Mapping[str, object]]) -> list[str]:
    """Name each environment by the settings in which it differs from the others; a single one has no name."""
    environments = [with_later_defaults(environment) for environment in environments]
    varying = varying_settings(environments)
    return [
        ", ".join(name_setting(key, environment.get(key)) for key in varying if key not in _implied(environment))
        for environment in environments
    ]


def meaningful_settings(environment: Mapping[str, object]) -> dict[str, object]:
    """Return the settings that mean something in an environment, with defaults: no rate of drift where means stay."""
    settings = with_later_defaults(environment)
    without = _meaningless(settings)
    return {name: value for name, value in settings.items() if name not in without}


def _meaningless(environment: Mapping[str, object]) -> tuple[str, ...]:
    """Return the settings that change nothing, because of others."""
    without: tuple[str, ...] = () if environment.get("graph_model") == "er" else ("edge_prob",)
    without += () if environment.get("graph_model") == OWN else ("graphs", "minimize")
    without += ("drift_rate",) if environment["drift"] is None else ()
    return without + (("announced",) if environment["delay"] == 0 else ())


def _implied(environment: Mapping[str, object]) -> tuple[str, ...]:
    """Return the settings that say nothing in the name of an environment."""
    without = _meaningless(environment)
    if environment.get("graph_model") != OWN:
        return without
    all_graphs = () if environment["resample_graphs"] else ("num_graphs",)
    values = ("reward_model",) if environment["reward_model"] == TARGET else ()
    return ("graph_model", "num_nodes", "feature_dim", *all_graphs, *values, *without)  # its graphs have a name


def varying_settings(all_settings: Sequence[Mapping[str, object]]) -> list[str]:
    """Return the settings that are not the same in all; a missing setting counts as None."""
    names = dict.fromkeys(name for settings in all_settings for name in settings)
    return [name for name in names if len({json.dumps(settings.get(name)) for settings in all_settings}) > 1]


def name_setting(setting: str, value: object) -> str:
    """Write a setting and its value in short."""
    if setting == "replacement":
        return "with replacement" if value else "without replacement"
    if setting == "minimize":
        return "minimized" if value else "maximized"
    if setting == "batch":
        return "one at a time" if value == 1 else f"batches of {value}"
    if setting == "delay":
        return "rewards at once" if value == 0 else f"rewards after {write_size(value)} rounds"
    if setting == "announced":
        return "announced" if value else "not announced"
    if setting == "random_rounds":
        return f"first {value} rounds at random" if value else "no rounds at random"
    if setting == "common_noise":
        return "common noise" if value else "noise of each agent"
    if setting == "resample_graphs":
        return RESAMPLING[value]
    if setting == "drift":
        return DRIFTS[value]
    if setting == "drift_rate":
        return f"at rate {value}"
    if setting == "reward_seed":
        return "reward function of each repetition" if value is None else f"reward function {value}"
    return f"{SYMBOLS[setting]} = {write_size(value)}" if setting in SYMBOLS else str(value)
