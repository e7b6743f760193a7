"""A campaign by its file, as people at a page and programs reach it; the command may take turns with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

from graph_bandit_campaign.command.kept import read_settings, repeat_command
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.operations.safe import check_command
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.store import StaleError, Store

FOR_A_ROUND = ("n", "maximize", "minimize", "near", "weights", "require", "forbid", "only", "price", "budget")
CHANGEABLE = frozenset((*FOR_A_ROUND, "budget_only", "at_most", "per", "ignore_failures"))
"""Settings that may be changed from one round to the next."""


@dataclass(frozen=True)
class Place:
    """Where a campaign is.

    Each operation reads the file, and saves before it returns. Several processes take turns.
    """

    path: Path
    """Path of its file."""
    root: Path | None = None
    """Folder in which all of its files have to be; None: anywhere."""
    version: str = ""
    """Digest that the file is to have when it is changed; empty: any."""
    workers: int | None = 0
    """Most processes that read molecules; 0: one for each core; None: this process itself."""

    def open(self) -> tuple[Store, CampaignState]:
        """Return the campaign.

        Raises:
            StaleError: a ValueError, if its file has another version than is expected.
            ValueError: if there is none.
        """
        store = Store(self.path)
        if store.state is None:
            raise ValueError(f"Expected a campaign. There is no file {self.path.name}.")
        if self.version and store.version != self.version:
            raise StaleError(
                f"Expected version {self.version} of {self.path.name}. It is {store.version}: somebody changed it "
                "since. Read it again."
            )
        return store, store.state

    def settings(self, state: CampaignState, changes: Mapping[str, object] | None = None) -> SuggestSettings:
        """Return the command of the campaign.

        Args:
            state: the campaign.
            changes: settings to change, of `CHANGEABLE`.

        Raises:
            ValueError: if it has none, or one that names code or a file outside of `root`, or another setting is to be
                changed.
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
