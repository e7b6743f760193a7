"""Agents by family: a law that is costly to check holds for one agent of each in `make test`, for all in the rest."""

import pytest

from graph_bandit_lab.design import AgentSpec


def once_a_family(labels):
    """Mark as slow all but one label of each family, and of each setting where there are some.

    The rule differs from family to family.
    """
    families = {}
    for label in labels:
        spec = AgentSpec.parse(label)
        families.setdefault(min(spec.settings, default=spec.name.split("-")[0]), []).append(label)
    chosen = {members[k % len(members)] for k, members in enumerate(families.values())}
    return [pytest.param(label, marks=() if label in chosen else pytest.mark.slow) for label in labels]
