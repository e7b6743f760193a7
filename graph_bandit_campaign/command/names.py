"""Spell the goals of the settings as the campaign or the tables do."""

from __future__ import annotations

from dataclasses import replace

from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.goals.names import spell
from graph_bandit_campaign.limits.wishes import Requirement
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.tables.measured_rows import read_headers


def spell_goals(settings: SuggestSettings, earlier: CampaignState | None) -> SuggestSettings:
    """Return the settings with each goal spelt as `spell` does.

    Args:
        settings: settings of the command.
        earlier: state of the campaign.

    Raises:
        ValueError, OSError, ImportError: if a table cannot be read, or two goals are the same column.
    """
    headers = read_headers(settings.measured, settings.measured_sheet).values()
    ranges = [*map(Requirement.parse, settings.near)]
    return replace(
        settings,
        maximize=tuple(spell(name, earlier, headers) for name in settings.maximize),
        minimize=tuple(spell(name, earlier, headers) for name in settings.minimize),
        near=tuple(spell(limit.name, earlier, headers) + limit.text[len(limit.name) :] for limit in ranges),
    )
