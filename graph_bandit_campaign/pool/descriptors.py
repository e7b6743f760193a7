"""Compute the descriptors that agents need, and reject pools that are too large for memory."""

from __future__ import annotations

from pathlib import Path

import registry
from agents.contract import Agent
from agents.molecule import MoleculeAgent, compute_descriptors, weights_of
from graph_bandit_campaign.pool.described import DescribedMolecules
from graph_bandit_env import MoleculeSet
from graph_bandit_lab import AgentSpec

MOST_WHOLE = 100_000  # molecules of a pool that is read into memory as a whole; `gnn-ts` needs 33 kB for each
MOST_IN_MEMORY = 1_000_000  # molecules of a pool that must be in memory, each with about 5 kB


def describe(molecules: MoleculeSet, agent: str, encoder: str = "") -> MoleculeSet:
    """Return the same molecules with the descriptors that an agent uses.

    Args:
        molecules: molecules, perhaps with descriptors.
        agent: as on the command line.
        encoder: pretrained encoder whose features are added, or empty.

    Returns:
        The molecules, unchanged if they have descriptors already, or the agent needs none.

    Raises:
        ImportError: if RDKit is not installed.
    """
    made = _make(agent)
    if isinstance(molecules, DescribedMolecules) or not isinstance(made, MoleculeAgent):
        return molecules
    names = [*weights_of(made.settings), *filter(None, [encoder])]
    return DescribedMolecules.of(molecules, compute_descriptors(molecules.smiles, names, made.settings.stereo))


def reads_graphs(agent: str | None) -> bool:
    """Return True if an agent reads atoms and bonds, which need far more memory than descriptors.

    Args:
        agent: as on the command line. None means the default for molecules. An unknown agent gives False.
    """
    made = _make(agent)
    return made is not None and not isinstance(made, MoleculeAgent)


def reads_stereo(agent: str | None) -> bool:
    """Return True if an agent (None: the default for molecules) distinguishes stereoisomers."""
    made = _make(agent)
    return isinstance(made, MoleculeAgent) and made.settings.stereo


def _make(agent: str | None) -> Agent | None:
    try:
        spec = AgentSpec.parse(agent or "")
        return registry.make_agent(spec.name, **spec.settings)
    except (ValueError, TypeError, ImportError):  # the campaign reports the error
        return None


def refuse_large(path: Path, rows: int, graphs: bool) -> None:
    """Raise an error if a pool that must be in memory is too large.

    Args:
        path: path of the pool.
        rows: number of its molecules.
        graphs: True if an agent reads atoms and bonds.

    Raises:
        ValueError: if it has too many molecules.
    """
    most = MOST_WHOLE if graphs else MOST_IN_MEMORY
    if rows > most:
        text = f"Expected at most {most:,} molecules where all are read into memory. {path} has {rows:,}."
        raise ValueError(f"{text} Choose a `molecule-` agent without files of features, or use a part of it.")
