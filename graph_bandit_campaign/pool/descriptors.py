"""Say what agents read of molecules, compute it once, and refuse pools that are too large for memory."""

from __future__ import annotations

from pathlib import Path

import registry
from agents.contract import Agent
from agents.molecule import MoleculeAgent, compute_descriptors, weights_of
from graph_bandit_campaign.pool.described import DescribedMolecules
from graph_bandit_env import MoleculeSet
from graph_bandit_lab import AgentSpec

MOST_WHOLE = 100_000  # molecules of a pool that is read into memory as a whole; `gnn-ts` takes 33 kB for each
MOST_IN_MEMORY = 1_000_000  # molecules of a pool that has to be in memory, of which each takes some 5 kB


def describe(molecules: MoleculeSet, agent: str, encoder: str = "") -> MoleculeSet:
    """Return the same molecules with the descriptors that an agent compares them by.

    Args:
        molecules: molecules, perhaps with descriptors.
        agent: as on the command line.
        encoder: pretrained encoder whose numbers they have, too; empty: none.

    Returns:
        The molecules as they are if they have descriptors already, or the agent needs none.

    Raises:
        ImportError: if RDKit is not installed.
    """
    made = _make(agent)
    if isinstance(molecules, DescribedMolecules) or not isinstance(made, MoleculeAgent):
        return molecules
    names = [*weights_of(made.settings), *filter(None, [encoder])]
    return DescribedMolecules.of(molecules, compute_descriptors(molecules.smiles, names, made.settings.stereo))


def reads_graphs(agent: str | None) -> bool:
    """Return whether an agent reads atoms and bonds, which take far more memory than descriptors.

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


def refuse_large(path: Path, rows: int, graphs: bool) -> None:
    """Refuse a pool that is too large to be read into memory as a whole, where that is needed.

    Args:
        path: of the pool.
        rows: how many molecules it has.
        graphs: whether an agent reads atoms and bonds.

    Raises:
        ValueError: if it has too many.
    """
    most = MOST_WHOLE if graphs else MOST_IN_MEMORY
    if rows > most:
        text = f"Expected at most {most:,} molecules where all are read into memory. {path} has {rows:,}."
        raise ValueError(f"{text} Choose a `molecule-` agent without files of features, or use a part of it.")
