"""Agents by family: a law that is costly to check holds for one agent of each."""

from graph_bandit_lab.design import AgentSpec


def once_a_family(labels):
    """Return one label of each family, and of each setting where there are some; the rule differs."""
    families = {}
    for label in labels:
        spec = AgentSpec.parse(label)
        families.setdefault(min(spec.settings, default=spec.name.split("-")[0]), []).append(label)
    return [members[k % len(members)] for k, members in enumerate(families.values())]
