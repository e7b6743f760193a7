"""Settings of agents and runs. The strings below the fields are also the `--help` of the command line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import tyro

import registry
from graph_bandit_lab.design.environment import EnvironmentSettings


@dataclass(frozen=True)
class AgentSpec:
    """An agent as written on the command line: `name` or `name:setting=value,setting=value`.

    The name may be `module:factory`, which `admit` imports.
    """

    name: str
    settings: dict[str, Any]  # keywords of its factory
    label: str
    """Its name in results."""
    optional: bool = False
    """Skip it where it cannot play. Otherwise it is rejected there, unless the environment is a task."""

    @classmethod
    def parse(cls, text: str, label: str = "", *, optional: bool = False) -> AgentSpec:
        """Parse a specification. Values are JSON, or otherwise strings. The text is the default label.

        Raises:
            ValueError: if a setting has no value or is given twice, or nothing follows the colon.
        """
        name, colon, rest = split_agent(text)
        settings = {}
        for item in rest.split(",") if colon else []:
            key, equals, value = item.partition("=")
            if not (key and equals and value):
                raise ValueError(f"Expected an agent as `name:setting=value,...`. Got `{item}` in `{text}`.")
            if key in settings:
                raise ValueError(f"Expected each setting once. Got `{key}` twice in `{text}`.")
            settings[key] = json_or_string(value)
        return cls(name, settings, label or text, optional)

    @staticmethod
    def admit(texts: Iterable[str]) -> None:
        """Import agents from files that a user has named on the command line or in Python, never names from a file.

        Args:
            texts: agents as on the command line. Names of another form than `module:factory` are left to `make_agent`.

        Raises:
            ValueError, ImportError: as `registry.admit_agent`.
        """
        for name in (split_agent(text)[0] for text in texts):
            if registry.names_a_file(name):
                registry.admit_agent(name)


def split_agent(text: str) -> tuple[str, str, str]:
    """Return the name of an agent, which may be `module:factory`, the colon after it, and its settings."""
    name, colon, rest = text.partition(":")
    factory, more, settings_of_it = rest.partition(":")
    if registry.names_a_file(f"{name}:{factory}") and name not in registry.list_agents():
        return f"{name}:{factory}", more, settings_of_it
    return name, colon, rest


def write_settings(settings: Mapping[str, object]) -> str:
    """Format settings as after an agent's name: `setting=value,setting=value`. Values other than text become JSON."""
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in settings.items()}
    return ",".join(f"{name}={text}" for name, text in texts.items())


@dataclass(frozen=True, kw_only=True)
class PlaySettings:
    """Options for playing repetitions that `run` and `sweep` share."""

    out: Path
    """Folder for results, figures and the report. Repetitions that are already stored there are reused."""
    workers: int | None = None
    """Number of processes, each on one thread. 0: one for each core. None: only this process."""
    scheduler: str | None = None
    """Address of a Dask scheduler, tcp://host:port. The workers of its cluster run the repetitions."""
    diagnostics: bool = False
    """Record and plot diagnostics of agents that have them: the events of the regret analysis, the elliptical potential
    and the effective dimension. Actions stay the same, but each round takes O(K^3) longer."""
    retry_failed: bool = False
    """Repeat the repetitions that are stored as failed."""
    continue_from: Annotated[
        tuple[Path, ...], tyro.conf.arg(name="continue", help_behavior_hint="(default: none)")
    ] = ()
    """Files of `graph-bandit export`, from this or other machines. Their repetitions are reused, not played."""
    progress: bool = True
    """Show a progress bar. Without a terminal, print a line for each repetition."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "out", Path(self.out))
        object.__setattr__(self, "continue_from", tuple(map(Path, self.continue_from)))


@dataclass(frozen=True, kw_only=True)
class RunSettings(PlaySettings):
    """Play agents against each other on one environment, keep every repetition, and write a report."""

    agents: tuple[str, ...] = ("gnn-ts", "random")
    """Agents by name, with settings after a colon: gnn-ts gnn-ts:width=256 random. Your own agent is module:function,
    in a file of this folder or an installed package."""
    environment: EnvironmentSettings = field(default_factory=EnvironmentSettings)
    """The environment."""
    repetitions: int = 5
    """Number of repetitions of each agent. All agents play the same instances."""
    seed: int = 0
    """Seed from which the seeds of the repetitions are derived."""
    overwrite: bool = False
    """Delete the results in the folder and start again."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.agents:
            raise ValueError("Expected at least one agent in `agents`. Got none.")
        if self.repetitions < 1:
            raise ValueError(f"Expected `repetitions` to be at least 1. Got {self.repetitions}.")
        if self.seed < 0:
            raise ValueError(f"Expected `seed` to be at least 0. Got {self.seed}.")


def json_or_string(text: str) -> object:
    """Read a value as written on the command line."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return {"True": True, "False": False}.get(text, text)
