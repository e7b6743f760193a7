"""Say in a sentence what has changed from one version of a campaign to another."""

from __future__ import annotations

from collections.abc import Iterable

from graph_bandit_campaign import CampaignState

MOST = 10  # names in a list


def describe_changes(before: CampaignState, now: CampaignState) -> str:
    """Return what has changed, in a sentence.

    Args:
        before: the earlier version.
        now: the later one.
    """
    parts = []
    if len(now.rounds) > len(before.rounds):
        parts.append(f"round {len(now.rounds)} was suggested")
    elif len(now.rounds) < len(before.rounds):
        parts.append(f"round {len(before.rounds)} was undone")
    elif now.rounds != before.rounds:
        parts.append(f"round {len(now.rounds)} has other suggestions")
    results = [{each.fact for each in state.measured} for state in (before, now)]
    pairs = {
        "results came in of {}": (each[0] for each in results[1] - results[0]),
        "results went of {}": (each[0] for each in results[0] - results[1]),
        "failed: {}": set(now.failed) - set(before.failed),
        "not failed any more: {}": set(before.failed) - set(now.failed),
        "vetoed: {}": now.vetoes.keys() - before.vetoes.keys(),
        "not vetoed any more: {}": before.vetoes.keys() - now.vetoes.keys(),
        "pinned: {}": set(now.pinned) - set(before.pinned),
        "not pinned any more: {}": set(before.pinned) - set(now.pinned),
        "comments on {}": (each.id for each in now.comments[len(before.comments) :]),
    }
    parts += [text.format(_listed(names)) for text, ids in pairs.items() if (names := sorted(set(ids)))]
    if settings_of(now) != settings_of(before):
        parts.append("the settings have changed")
    return f"{'; '.join(parts or ['nothing that is shown'])}."


def settings_of(state: CampaignState) -> dict[str, object]:
    """Return the settings, less which tables there are: what these say is told by itself."""
    return {name: value for name, value in state.command.items() if name != "measured"}


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    more = f" and {len(every) - MOST} more" if len(every) > MOST else ""
    return ", ".join(every[:MOST]) + more
