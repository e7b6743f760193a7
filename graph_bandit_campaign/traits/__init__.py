"""Molecules with what agents compare them by, computed once."""

from graph_bandit_campaign.traits.described import DescribedMolecules

__all__ = ["DescribedMolecules"]
