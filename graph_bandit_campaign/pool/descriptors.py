"""Say what agents read of molecules, and compute what they compare them by once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import registry
from agents.contract import Agent
from agents.molecule import TRAITS, MoleculeAgent, Traits, compute_traits, weights_of
from graph_bandit_campaign.pool.described import DescribedMolecules
from graph_bandit_campaign.workers import map_in_processes
from graph_bandit_env import MoleculeSet
from graph_bandit_lab import AgentSpec

CHUNK = 1000  # molecules that a process takes at a time
MANY = 5_000  # molecules; above that several processes are faster than one, the time to start them included


def describe(molecules: MoleculeSet, agents: Sequence[str], workers: int = 1) -> MoleculeSet:
    """Return the same molecules with the traits that agents compare them by.

    Args:
        molecules: molecules, perhaps with traits.
        agents: agents as on the command line.
        workers: most processes to use for many molecules; with more than one, the calling script needs the guard
            `if __name__ == "__main__":`.

    Returns:
        The molecules as they are if they have traits already, or the agents need none, or of different kinds.

    Raises:
        ImportError: if RDKit is not installed.
    """
    if isinstance(molecules, DescribedMolecules):
        return molecules
    needs = [*map(_needs_of, agents)]
    if not any(names for names, _ in needs) or len({stereo for names, stereo in needs if names}) > 1:
        return molecules
    wanted = {name for names, _ in needs for name in names}
    names, stereo = tuple(name for name in TRAITS if name in wanted), any(stereo for _, stereo in needs)
    parts = [molecules.smiles[start : start + CHUNK] for start in range(0, len(molecules), CHUNK)]
    work = partial(compute_traits, names=names, stereo=stereo)
    traits = map_in_processes(work, parts, workers if len(molecules) > MANY else 1)
    return DescribedMolecules.of(molecules, Traits.stack(traits))


def reads_graphs(agent: str | None) -> bool:
    """Return whether an agent reads atoms and bonds, which take far more memory than traits.

    Args:
        agent: as on the command line; None: that of a campaign on molecules. One that is unknown reads nothing.
    """
    made = None if agent is None else _make(agent)
    return made is not None and not isinstance(made, MoleculeAgent)


def reads_stereo(agent: str | None) -> bool:
    """Return whether stereoisomers differ for an agent, as on the command line; None: that of molecules."""
    return agent is not None and _needs_of(agent)[1]


def _needs_of(agent: str) -> tuple[set[str], bool]:
    """Return the traits that an agent needs, and whether stereoisomers differ for it."""
    made = _make(agent)
    return (set(weights_of(made.settings)), made.settings.stereo) if isinstance(made, MoleculeAgent) else (set(), False)


def _make(agent: str) -> Agent | None:
    try:
        spec = AgentSpec.parse(agent)
        return registry.make_agent(spec.name, **spec.settings)
    except (ValueError, TypeError, ImportError):  # the campaign says what is wrong with it
        return None
