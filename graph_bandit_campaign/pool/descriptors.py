"""Say what agents read of molecules, compute it once, and say how many molecules fit into memory."""

from __future__ import annotations

from pathlib import Path

import psutil

import registry
from agents.contract import Agent
from agents.molecule import TRAITS, MoleculeAgent, compute_traits, weights_of
from graph_bandit_campaign.pool.described import DescribedMolecules
from graph_bandit_env import MoleculeSet
from graph_bandit_lab import AgentSpec

BYTES_PER_MOLECULE = 5_000  # texts, categories and traits; those of 13 to 40 atoms take 2.6 kB
BYTES_PER_GRAPH = 40_000  # for an agent that reads atoms and bonds: `gnn-ts` takes 33 kB a molecule
BYTES_PER_MEASUREMENT = 100_000  # its kernel with a block of 4,096 molecules in float64, three times
BYTES_PER_PAIR = 40  # of measurements: the kernel, its factor, and what is needed to compute both
BYTES_PER_NUMBER = 80  # of the user's own columns: as read, as joined, and as the agent ranks and standardises it
BYTES_AT_ALL = 500_000_000  # libraries, network and one block of the computation
LIMIT, USED = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")  # of a container on Linux


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


def find_most_rows(results: int, columns: int = 0, graphs: bool = False) -> int:
    """Return how many molecules fit into memory.

    Args:
        results: how many measurements there are; they need memory, too.
        columns: how many numbers of the user's own each molecule has.
        graphs: whether an agent reads atoms and bonds.
    """
    per_row = (BYTES_PER_GRAPH if graphs else BYTES_PER_MOLECULE) + columns * BYTES_PER_NUMBER
    fixed = BYTES_AT_ALL + results * (BYTES_PER_MEASUREMENT + results * BYTES_PER_PAIR)
    return max(0, int((available_memory() - fixed) // per_row))


def refuse_large(path: Path, rows: int, most: int) -> None:
    """Refuse a pool that does not fit.

    Raises:
        ValueError: if it has more than so many rows.
    """
    if rows > most:
        text = f"Expected a pool that fits into memory, at most {most:,} rows with these results. {path} has {rows:,}."
        raise ValueError(f"{text} Choose a `molecule-` agent without files of features, or use a part of it.")


def available_memory() -> float:
    """Return how many bytes are available, within the limit of the container if there is one."""
    limits = [float(psutil.virtual_memory().available)]
    if LIMIT.is_file() and USED.is_file() and (limit := LIMIT.read_text(encoding="ascii").strip()) != "max":
        limits.append(float(limit) - float(USED.read_text(encoding="ascii")))
    return min(limits)
