"""What `graph-bandit agents` prints: the agents that are installed, or the settings of one."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin, get_type_hints

import registry
from agents.contract import describe_fields


def describe_agents() -> str:
    """Return the names of the agents, a line each, and what those need that do not play on any graphs."""
    needs = {name: registry.agent_needs(name) for name in registry.list_agents()}
    return "\n".join(name if what == "any" else f"{name}  (needs {what})" for name, what in needs.items())


def describe_agent(name: str) -> str:
    """Explain the settings of an agent, as they are written after its name.

    Raises:
        ValueError: if there is no agent of this name.
    """
    settings = getattr(registry.make_agent(name), "settings", None)
    if not dataclasses.is_dataclass(settings) or isinstance(settings, type):
        return f"{name} does not tell its settings. Those you write after its name reach its factory as keywords."
    return "\n".join(_lines(name, settings))


def _lines(name: str, settings: Any) -> Iterator[str]:
    yield f"Settings of {name}. Write them after its name: {name}:setting=value,setting=value"
    for preset, values in getattr(settings, "presets", {}).items():
        listed = ", ".join(f"{key}={value}" for key, value in values.items())
        yield "\n" + _wrap(f"preset={preset} is short for {listed}. Other settings override it.")
    texts = describe_fields(type(settings))
    for field in dataclasses.fields(settings):
        annotation = get_type_hints(type(settings))[field.name]
        choices = get_args(annotation) if get_origin(annotation) is Literal else ()
        values = f" ({' | '.join(map(str, choices))})" if choices else ""
        yield f"\n{field.name}={getattr(settings, field.name)}{values}"
        yield _wrap(texts.get(field.name, ""), indent="    ")


def _wrap(text: str, indent: str = "") -> str:
    return "\n".join(
        textwrap.fill(" ".join(part.split()), 100, initial_indent=indent, subsequent_indent=indent)
        for part in text.split("\n\n")
    )
