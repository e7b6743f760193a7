"""How keyword settings become a frozen dataclass: presets first, then what the user gives, no typo swallowed."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping
from typing import Any, TypeVar

Settings = TypeVar("Settings")


def read_settings(
    settings_class: type[Settings], given: Mapping[str, Any], presets: Mapping[str, Mapping[str, Any]]
) -> Settings:
    """Make settings from keywords, one of which may be `preset`.

    Args:
        settings_class: a dataclass that validates itself.
        given: what the user gave; it overrides the preset.
        presets: settings by name of preset.

    Returns:
        An instance of `settings_class`.

    Raises:
        ValueError: if a setting or the preset is unknown (the message shows the nearest), or a value is refused.
    """
    given = dict(given)
    preset = given.pop("preset", None)
    if preset is not None and preset not in presets:
        raise ValueError(f"Unknown preset `{preset}`. Presets: {', '.join(presets) or 'none'}.")
    names = [field.name for field in dataclasses.fields(settings_class)]  # type: ignore[arg-type]
    for name in given:
        if name not in names:
            nearest = difflib.get_close_matches(name, names, n=1)
            hint = f" Did you mean `{nearest[0]}`?" if nearest else ""
            raise ValueError(f"Unknown setting `{name}`.{hint} Settings: {', '.join(names) or 'none'}.")
    return settings_class(**{**(presets[preset] if preset else {}), **given})
