"""Read the tuned settings that `graph-bandit tuned` writes and sweeps use."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path


@dataclass(frozen=True)
class Tuned:
    """The best settings by graph model and agent."""

    source: str
    """The file that they are from."""
    settings: Mapping[str, Mapping[str, Mapping[str, object]]]
    """Graph model -> agent -> settings."""

    def settings_of(self, agent: str, graph_model: str) -> str:
        """Write the settings of an agent as after its name: `setting=value,setting=value`.

        An NN agent takes those of its GNN twin [Wu & Amini 2024, appendix].

        Raises:
            ValueError: if there are none.
        """
        agents = self.settings.get(graph_model, {})
        chosen = agents.get(agent, agents.get(f"g{agent}" if agent.startswith("nn-") else agent))
        if chosen is None:
            known = ", ".join(f"{name} on {model}" for model, agents in self.settings.items() for name in agents)
            raise ValueError(
                f"Expected tuned settings of {agent} on {graph_model} in {self.source}. Got {known or 'none'}."
            )
        return write_settings(chosen)


def write_settings(settings: Mapping[str, object]) -> str:
    """Write settings as after an agent's name: `setting=value,setting=value`; values that are not text are JSON."""
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in settings.items()}
    return ",".join(f"{name}={text}" for name, text in texts.items())


def read_tuned(path: Path | None, fit: str) -> Tuned:
    """Read tuned settings.

    Args:
        path: a file that `write_tuned` wrote; None: the file that is shipped for the fit.
        fit: "passes" or "steps".

    Raises:
        FileNotFoundError: if the file is not there.
        ValueError: if it does not hold tuned settings.
    """
    if path is not None and not path.is_file():
        raise FileNotFoundError(f"Expected a file of tuned settings. Got {path}. `graph-bandit tuned` writes one.")
    file = path or files("graph_bandit_lab.design").joinpath("presets", f"tuned-{fit}.json")
    try:
        settings = json.loads(file.read_text(encoding="utf-8"))["settings"]
        read = {model: {name: dict(cell.items()) for name, cell in its.items()} for model, its in settings.items()}
        return Tuned(str(file), read)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"Expected {file} to hold tuned settings, as `graph-bandit tuned` writes them.") from error
