"""`graph-bandit agents`: list the installed agents, or explain the settings of one."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args, get_origin, get_type_hints

import tyro

import registry
from graph_bandit_lab import AgentSpec


@dataclass(frozen=True)
class AgentsOptions:
    """Settings of the list."""

    name: tyro.conf.Positional[str | None] = None
    """Agent to explain, with its settings."""


def agents(options: AgentsOptions) -> None:
    """Print the list or the explanation."""
    print(describe_agents() if options.name is None else describe_agent(options.name))


def describe_agents() -> str:
    """Return a table of the agents: name, features used, and notes on supported environments."""
    rows = [("agent", "reads", "")]
    for name in registry.list_agents():
        needs, changing = registry.agent_needs(name), registry.agent_plays_changing_graphs(name)
        notes = [f"needs {needs}"] if needs != "any" else []
        notes += ["plays on one graph set"] if changing is False else []
        rows.append((name, _readings_of(name), ", ".join(notes)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _readings_of(name: str) -> str:
    from agents.contract import name_readings  # which imports torch

    try:
        reads = getattr(registry.make_agent(name), "reads", None)
    except Exception:  # noqa: BLE001 - the factory of another package may raise any error
        return "?"
    return "?" if reads is None else name_readings(reads)


def describe_agent(name: str) -> str:
    """Explain the settings of an agent, in the form used after its name.

    Raises:
        ValueError: if there is no agent with this name.
    """
    AgentSpec.admit([name])
    settings = getattr(registry.make_agent(name), "settings", None)
    if not dataclasses.is_dataclass(settings) or isinstance(settings, type):
        return f"{name} does not list its settings. Settings after its name are passed to its factory as keywords."
    values = {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
    return "\n".join(_lines(name, type(settings), values))


def _lines(name: str, settings: type, values: Mapping[str, object]) -> Iterator[str]:
    from agents.contract import describe_fields  # which imports torch

    yield f"Settings of {name}. Write them after its name: {name}:setting=value,setting=value"
    for preset, changes in getattr(settings, "presets", {}).items():
        listed = ", ".join(f"{key}={value}" for key, value in changes.items())
        yield "\n" + _wrap(f"preset={preset} is short for {listed}. Other settings override it.")
    texts, annotations = describe_fields(settings), get_type_hints(settings)
    for field, value in values.items():
        annotation = annotations[field]
        choices = get_args(annotation) if get_origin(annotation) is Literal else ()
        yield f"\n{field}={value}" + (f" ({' | '.join(map(str, choices))})" if choices else "")
        yield _wrap(texts.get(field, ""), indent="    ")


def _wrap(text: str, indent: str = "") -> str:
    return "\n".join(
        textwrap.fill(" ".join(part.split()), 100, initial_indent=indent, subsequent_indent=indent)
        for part in text.split("\n\n")
    )
