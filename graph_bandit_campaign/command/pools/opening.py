"""Open the pool of a command, of any kind."""

from __future__ import annotations

from graph_bandit_campaign.command.pools.actions import ActionRounds
from graph_bandit_campaign.command.pools.other_graphs import GraphRounds
from graph_bandit_campaign.command.pools.products import ProductRounds
from graph_bandit_campaign.command.pools.rounds import Rounds
from graph_bandit_campaign.command.pools.rows import RowRounds
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.pool.actions import holds_actions
from graph_bandit_campaign.pool.library_file import read_product_library
from graph_bandit_campaign.state import CampaignState
from graph_bandit_env.files import is_file_of_graphs


def open_pool(settings: SuggestSettings, earlier: CampaignState | None = None) -> Rounds:
    """Return the pool of a command: a library of products or combinations, other graphs, actions, or molecules.

    Args:
        settings: settings of the command.
        earlier: state of the campaign, or None.

    Raises:
        ValueError, OSError: if a file cannot be read, or a setting does not apply to this kind of pool.
        ImportError: if a package for reading it is not installed.
    """
    if settings.pool.suffix.lower() == ".toml":
        return ProductRounds(settings, earlier, *read_product_library(settings.pool, settings.allow_outside))
    if settings.pool.exists() and is_file_of_graphs(settings.pool):
        return GraphRounds(settings, earlier)
    if holds_actions(settings.source, settings.ignore_column):
        return ActionRounds(settings, earlier)
    return RowRounds(settings, earlier)
