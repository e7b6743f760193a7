"""Choose environments of a sweep by their settings: `num_graphs=10 reward_model=linear,gp_gntk`."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from graph_bandit_lab.design.environment import EnvironmentSettings
from graph_bandit_lab.design.names import SYMBOLS, write_size
from graph_bandit_lab.design.settings import json_or_string

LONG_NAMES = {symbol: setting for setting, symbol in SYMBOLS.items()}


def parse_selection(texts: Sequence[str]) -> dict[str, tuple[object, ...]]:
    """Read what is to be chosen: settings by name, or by the symbol that reports show, each with one value or more.

    Args:
        texts: each `setting=value` or `setting=value,value`; values are JSON, None, or else strings.

    Returns:
        The values of each setting.

    Raises:
        ValueError: if one is of another form, or a setting is given twice.
    """
    selection: dict[str, tuple[object, ...]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        setting = LONG_NAMES.get(name.strip(), name.strip())
        if not (name and equals and all(values.split(","))):
            raise ValueError(f"Expected environments as `setting=value` or `setting=value,value`. Got `{text}`.")
        if setting in selection:
            raise ValueError(f"Expected each setting once. Got `{setting}` twice: write `{setting}=value,value`.")
        read = [json_or_string(value.strip()) for value in values.split(",")]
        selection[setting] = tuple(None if value == "None" else value for value in read)
    return selection


def select_environments(
    environments: Sequence[EnvironmentSettings], selection: Mapping[str, Sequence[object]]
) -> list[EnvironmentSettings]:
    """Choose the environments that have one of the values of every setting.

    Raises:
        ValueError: if no environment has such a setting or such a value, or none has all of them; the message says what
            there is.
    """
    described = [
        {
            name: write_size(value) if isinstance(value, list) else value
            for name, value in environment.describe().items()
        }
        for environment in environments
    ]
    for setting, values in selection.items():
        names = list(described[0])
        if setting not in names:
            nearest = difflib.get_close_matches(setting, [*names, *LONG_NAMES], n=1)
            hint = f" Did you mean `{nearest[0]}`?" if nearest else ""
            raise ValueError(f"Unknown setting `{setting}` of environments.{hint} Settings: {', '.join(names)}.")
        there = list(dict.fromkeys(environment[setting] for environment in described))
        missing = [value for value in values if value not in there]
        if missing:
            raise ValueError(f"Expected `{setting}` to be one of {', '.join(map(str, there))}. Got {missing[0]}.")
    chosen = [
        environment
        for environment, settings in zip(environments, described, strict=True)
        if all(settings[setting] in values for setting, values in selection.items())
    ]
    if not chosen:
        raise ValueError(f"Expected environments that have all of {', '.join(selection)}. There are none.")
    return chosen
