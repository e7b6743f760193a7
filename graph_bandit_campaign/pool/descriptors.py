"""Say what agents read of molecules, and compute what they compare them by once."""

from __future__ import annotations

import registry
from agents.contract import Agent
from agents.molecule import TRAITS, MoleculeAgent, compute_traits, weights_of
from graph_bandit_campaign.pool.described import DescribedMolecules
from graph_bandit_env import MoleculeSet
from graph_bandit_lab import AgentSpec


def describe(molecules: MoleculeSet, agent: str) -> MoleculeSet:
    """Return the same molecules with the traits that an agent compares them by.

    Args:
        molecules: molecules, perhaps with traits.
        agent: as on the command line.

    Returns:
        The molecules as they are if they have traits already, or the agent needs none.

    Raises:
        ImportError: if RDKit is not installed.
    """
    made = _make(agent)
    if isinstance(molecules, DescribedMolecules) or not isinstance(made, MoleculeAgent):
        return molecules
    wanted = weights_of(made.settings)
    names = [name for name in TRAITS if name in wanted]
    return DescribedMolecules.of(molecules, compute_traits(molecules.smiles, names, made.settings.stereo))


def reads_graphs(agent: str | None) -> bool:
    """Return whether an agent reads atoms and bonds, which take far more memory than traits.

    Args:
        agent: as on the command line; None: that of a campaign on molecules. One that is unknown reads nothing.
    """
    made = _make(agent)
    return made is not None and not isinstance(made, MoleculeAgent)


def reads_stereo(agent: str | None) -> bool:
    """Return whether stereoisomers differ for an agent, as on the command line; None: that of molecules."""
    made = _make(agent)
    return isinstance(made, MoleculeAgent) and made.settings.stereo


def _make(agent: str | None) -> Agent | None:
    try:
        spec = AgentSpec.parse(agent or "")
        return registry.make_agent(spec.name, **spec.settings)
    except (ValueError, TypeError, ImportError):  # the campaign says what is wrong with it
        return None
