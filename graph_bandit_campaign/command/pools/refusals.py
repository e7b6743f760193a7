"""Refuse what a kind of pool cannot do, so that no setting is ignored in silence."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.constraints.goals.goal import Goal
from graph_bandit_campaign.constraints.limits.wishes import Requirement

ALL = """
pool out measured n maximize minimize noise goal_kind id measured_sheet require price budget budget_only html agent seed
undo drop_missing drop_source again next_batch overwrite also veto pin lift comment by
"""
"""Settings that every pool knows."""
PRODUCTS = "smiles forbid only at_most per ignore_failures workers trust_ids most_atoms salts allow_outside"
"""Settings that a library of products knows, too."""
GRAPHS = "near weights sheet predictions directed"
"""Settings that graphs other than molecules know, too."""


def refuse_for_products(settings: SuggestSettings, goals: Sequence[Goal] = ()) -> None:
    """Refuse what a library of products cannot do.

    Args:
        settings: settings of the command.
        goals: the aims that the results make of them, limits on results included; empty with one goal.

    Raises:
        ValueError: if such a thing is asked for.
    """
    of_results = {goal.name for goal in goals if goal.aim == "limit"}
    limits = map(Requirement.parse, settings.require)
    bad = [*_unknown(settings, PRODUCTS), *["several goals"] * (len(settings.goals) > 1)]
    bad += [f"limits on results, `{limit.text}`" for limit in limits if limit.name in of_results]
    if bad:
        raise ValueError(
            f"Expected a table of molecules for {', '.join(bad)}. {settings.pool} is a library of products, which are "
            "never listed as a whole. Leave these out."
        )


def refuse_for_graphs(settings: SuggestSettings) -> None:
    """Refuse what graphs other than molecules cannot do.

    Raises:
        ValueError: if such a thing is asked for.
    """
    bad = _unknown(settings, GRAPHS)
    bad += [f"--price {settings.price}"] * (settings.price is not None and settings.terms.one_price is None)
    written = {"out": settings.out, "predictions": settings.predictions}
    bad += [f"--{name} {path}" for name, path in written.items() if path is not None and path.suffix.lower() == ".sdf"]
    if bad:
        raise ValueError(
            f"Expected molecules for {', '.join(bad)}. {settings.pool} holds other graphs. Leave out what needs "
            "molecules."
        )


def _unknown(settings: SuggestSettings, more: str) -> list[str]:
    fields, known = dataclasses.fields(SuggestSettings), {*ALL.split(), *more.split()}
    changed = [field.name for field in fields if getattr(settings, field.name) != field.default]
    return [f"--{name.replace('_', '-')}" for name in changed if name not in known]
