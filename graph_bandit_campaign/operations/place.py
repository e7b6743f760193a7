"""Access a campaign by its file, for users of the page and for programs. The command may take turns with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TypeVar

import msgspec

from graph_bandit_campaign.command.settings import ONCE, SuggestSettings, change_files
from graph_bandit_campaign.operations.safe import check_command
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.store import ConflictError, Store

FOR_A_ROUND = ("n", "maximize", "minimize", "target", "weights", "require", "forbid", "filter", "price", "budget")
CHANGEABLE = frozenset((*FOR_A_ROUND, "budget_only", "max_per_group", "group_by", "ignore_failures"))
"""Settings that may be changed from one round to the next."""
T = TypeVar("T")


@dataclass(frozen=True)
class Place:
    """The location of a campaign.

    Each operation reads the file, and saves before it returns. Several processes take turns.
    """

    path: Path
    """Path of its file."""
    root: Path | None = None
    """Folder that must contain all of its files. None means any folder."""
    version: str = ""
    """Expected digest of the file before a change. If empty, the digest is not checked."""
    workers: int | None = 0
    """Maximum number of processes that read molecules. 0 means one for each core, None means only this process."""

    def open(self) -> tuple[Store, CampaignState]:
        """Return the campaign.

        Raises:
            ConflictError: a ValueError, if its file has another version than expected.
            ValueError: if it does not exist.
        """
        store = Store(self.path)
        if store.state is None:
            raise ValueError(f"Expected a campaign. There is no file {self.path.name}.")
        if self.version and store.version != self.version:
            raise ConflictError(
                f"Expected version {self.version} of {self.path.name}. It is {store.version}: it has been changed "
                f"since. Read it again."
            )
        return store, store.state

    def settings(self, state: CampaignState, changes: Mapping[str, object] | None = None) -> SuggestSettings:
        """Return the command of the campaign.

        Args:
            state: the campaign.
            changes: settings to change, from `CHANGEABLE`.

        Raises:
            ValueError: if it has no command, the command names code or a file outside of `root`, or another setting
                would be changed.
        """
        changes = dict(changes or {})
        if unknown := min(changes.keys() - CHANGEABLE, default=""):
            raise ValueError(f"Expected changes of {', '.join(sorted(CHANGEABLE))}. Got `{unknown}`.")
        settings = repeat_command(state, self.path)
        if changes:
            settings = read_settings(
                SuggestSettings, {each.name: getattr(settings, each.name) for each in fields(settings)} | changes
            )
        return replace(check_command(settings, self.root), workers=self.workers)


def repeat_command(state: CampaignState, path: Path) -> SuggestSettings:
    """Return the settings of the last command of a campaign, with absolute paths.

    Args:
        state: state of the campaign.
        path: path of its file.

    Raises:
        ValueError: if the file has no command, or an invalid command.
    """
    if not state.command:
        raise ValueError(f"{path.name} was written by `Campaign`. Give the command `suggest` once by hand.")
    folder = path.resolve().parent
    if once := state.command.keys() & ONCE:
        raise ValueError(f"Expected settings of `suggest` as the command in {path.name}. Got {min(once)}.")
    try:
        settings = read_settings(SuggestSettings, change_files(state.command, lambda file: folder / file), folder)
    except (ValueError, TypeError) as error:
        raise ValueError(f"Expected a command of `suggest` in {path.name}. {str(error).rstrip('.')}.") from error
    if settings.state != path.resolve():
        raise ValueError(f"Expected the command in {path.name} to be of this file. It is of {settings.state.name}.")
    return settings


def read_settings(kind: type[T], given: Mapping[str, object], folder: Path = Path()) -> T:
    """Convert settings of a command from JSON values.

    Args:
        kind: dataclass of the settings.
        given: the settings by name. Other settings keep their defaults.
        folder: folder for relative paths.

    Raises:
        ValueError: if a value has another type, or is not valid for the dataclass.
    """

    def to_path(_: type, value: object) -> Path:
        if not isinstance(value, str | Path):
            raise TypeError(f"Expected the path of a file. Got {value!r}")
        return folder / value

    return msgspec.convert(dict(given), kind, dec_hook=to_path)
