"""Compute what agents compare the molecules of a table by once, in parallel, and keep it in the cache folder."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from functools import partial

import registry
from agents.contract import Agent
from agents.molecule import TRAITS, MoleculeAgent, Traits, compute_traits, weights_of
from graph_bandit_campaign.pool.described import DescribedMolecules
from graph_bandit_campaign.workers import map_in_processes
from graph_bandit_env import MoleculeSet
from graph_bandit_env.storage import ArrayCache
from graph_bandit_lab import AgentSpec

FORMAT = 1  # of the file; raise it when its content changes
FEW = 1000  # molecules; the traits of fewer take less than a second, and are not kept
CHUNK = 1000  # molecules that a process takes at a time
MANY = 5_000  # molecules; above that several processes are faster than one, the time to start them included
SLACK, BYTES_PER_CHARACTER = 1 << 20, 1000  # more than the traits of any molecules need


def describe(
    molecules: MoleculeSet, agents: Sequence[str], count: int, keep: bool = False, workers: int = 1
) -> MoleculeSet:
    """Return the same molecules with the traits that agents compare them by.

    Args:
        molecules: molecules of a table, and perhaps others.
        agents: agents as on the command line.
        count: how many of the molecules are those of the table: the first ones.
        keep: keep the traits of these first ones in the cache folder, if they are many.
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
    names, stereo = {name for names, _ in needs for name in names}, any(stereo for _, stereo in needs)
    traits = kept_traits(molecules.smiles[:count], names, stereo, keep, workers)
    if count < len(molecules):
        traits = Traits.stack([traits, compute_traits(molecules.smiles[count:], traits.names, stereo)])
    return DescribedMolecules.of(molecules, traits)


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


def kept_traits(
    smiles: Sequence[str],
    names: Collection[str],
    stereo: bool = False,
    keep: bool = False,
    workers: int = 1,
) -> Traits:
    """Return traits of molecules: those in their file of the cache folder, and what is missing there.

    Args:
        smiles: canonical SMILES of K molecules, at least one.
        names: which traits there have to be.
        stereo: whether the fingerprints of stereoisomers differ.
        keep: as in `describe`.
        workers: as in `describe`.

    Returns:
        These traits, and perhaps others that the file has.
    """
    cache = _cache_of(smiles, stereo) if keep and len(smiles) >= FEW else None
    arrays = cache.load() if cache else None
    kept = Traits.from_arrays(arrays, stereo) if arrays else None
    missing = [name for name in TRAITS if name in names and (kept is None or name not in kept.names)]
    if kept is not None and not missing:
        return kept
    traits = _compute(smiles, missing, stereo, workers)
    traits = traits if kept is None else kept.join(traits)
    if cache is not None:
        cache.save(traits.arrays())
    return traits


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


def _cache_of(smiles: Sequence[str], stereo: bool) -> ArrayCache:
    """Return the file for what traits follow from: SMILES, RDKit, and the version of the agents that compute them."""
    import rdkit

    key = json.dumps(["traits", FORMAT, MoleculeAgent.algorithm, rdkit.__version__, stereo, *smiles]).encode()
    return ArrayCache(key, SLACK + BYTES_PER_CHARACTER * len(key))


def _compute(smiles: Sequence[str], names: Collection[str], stereo: bool, workers: int = 1) -> Traits:
    parts = [smiles[start : start + CHUNK] for start in range(0, len(smiles), CHUNK)]
    work = partial(compute_traits, names=tuple(names), stereo=stereo)
    return Traits.stack(map_in_processes(work, parts, workers if len(smiles) > MANY else 1))
