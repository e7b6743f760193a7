"""Reject commands from a file or request that run code, or use files outside of a folder."""

from __future__ import annotations

import os
from pathlib import Path

import registry
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.constraints.limits.requirements import names_file
from graph_bandit_lab import AgentSpec


def check_command(settings: SuggestSettings, root: Path | None) -> SuggestSettings:
    """Return the settings of a command, if it does not run code from files and stays in a folder.

    Args:
        settings: settings from a file or a request.
        root: the folder. None allows all files.

    Raises:
        ValueError: if it runs code from files, or uses other files.
    """
    if settings.agent and registry.names_a_file(AgentSpec.parse(settings.agent).name):
        raise ValueError(
            f"Expected a registered agent. The command names code, `{settings.agent}`, which runs only if it is "
            "entered by hand."
        )
    if root is None:
        return settings
    if settings.allow_outside:
        raise ValueError("Expected a command without --allow-outside, which could read tables anywhere.")
    patterns = [Path(text.strip()) for text in settings.forbid if names_file(text)]
    paths = [*settings.files(), *patterns]
    paths += [held for path in paths if path.is_dir() for held in path.iterdir()]  # which may be links
    for path in paths:
        if not is_inside(path, root):
            raise ValueError(
                f"Expected the files of a campaign inside of the folder that is served. {path.name} is elsewhere. "
                "Serve a folder that holds it, or give the command with files in this one."
            )
    return settings


def is_inside(path: Path, root: Path) -> bool:
    """Return True if a path leads into a folder, after resolving links."""
    try:
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))
    except (OSError, ValueError):
        return False
