"""Results of other assays, which teach, and whose molecules are never asked for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

import numpy as np

from agents.contract import LARGEST_REWARD, Agent, Correlation, MoleculeSetLike, SourceLearner, SourceResults
from graph_bandit_campaign.pool.index import PoolLike
from graph_bandit_env import MoleculeSet, canonical_smiles
from graph_bandit_env.pools import MOST_ATOMS, smiles_problem

ALSO = "also"  # begins the name of each in the sources of a campaign
MOST_RESULTS = 5000  # of all sources: the cost of the posterior grows as the cube of their number


def read_also(
    also: Mapping[str, Mapping[str, float]] | None, graph_set: PoolLike, most_atoms: int = MOST_ATOMS
) -> tuple[SourceResults, ...]:
    """Return the results of other assays as an agent takes them.

    Args:
        also: values by id in the pool, or by SMILES, for each name of an assay; None: there are none.
        graph_set: the pool.
        most_atoms: how many atoms a molecule may have, without hydrogens.

    Raises:
        ValueError: if the pool has other graphs than molecules, a molecule is unknown, a key is the id of one and the
            SMILES of another, a value is not a finite number, all values of an assay are equal, or there are too many.
    """
    if not also:
        return ()
    if not isinstance(graph_set, MoleculeSetLike):
        raise ValueError("Expected molecules, of which alone results of other assays teach. Got other graphs.")
    total = sum(map(len, also.values()))
    if total > MOST_RESULTS:
        raise ValueError(
            f"Expected at most {MOST_RESULTS:,} results of other assays. Got {total:,}. Give a part of them."
        )
    ids = getattr(graph_set, "ids", ())
    smiles_of = dict(zip(ids, graph_set.smiles, strict=True)) if ids else {}
    aliases: Mapping[str, str] = getattr(graph_set, "aliases", {})
    sources = []
    for name, values in also.items():
        ordered = sorted(values.items())  # so that the order of rows is nothing
        texts = [_molecule_of(key, name, graph_set, smiles_of, aliases, most_atoms) for key, _ in ordered]
        numbers = np.array([value for _, value in ordered], np.float64)
        if not (np.abs(numbers) <= LARGEST_REWARD).all():
            raise ValueError(f"Expected finite numbers up to {LARGEST_REWARD:g} in `{name}`. Got others.")
        if len(numbers) < 2 or np.ptp(numbers) == 0:
            raise ValueError(f"Expected two values that differ in `{name}`. Got none: leave it out.")
        sources.append(SourceResults(name, texts, numbers))
    return tuple(sources)


def digests_of(sources: Sequence[SourceResults]) -> dict[str, str]:
    """Return a digest of the results of each source, by its name in the sources of a campaign."""
    contents = {
        source.name: sorted(zip(source.smiles, np.asarray(source.values).tolist(), strict=True)) for source in sources
    }
    return {
        f"{ALSO} {name}": hashlib.sha256(json.dumps(content).encode()).hexdigest() for name, content in contents.items()
    }


def with_digests(noted: Mapping[str, str], sources: Sequence[SourceResults]) -> dict[str, str]:
    """Return the sources of a campaign with these in place of those of other assays so far."""
    others = {name: digest for name, digest in noted.items() if not name.startswith(f"{ALSO} ")}
    return {**others, **digests_of(sources)}


def describe_changes(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Say which results of other assays are no longer those of before; an empty text if all are."""
    gone = [name for name in before if name.startswith(f"{ALSO} ") and name not in now]
    changed = [name for name in before if name.startswith(f"{ALSO} ") and name in now and now[name] != before[name]]
    texts = [f"{', '.join(name.removeprefix(f'{ALSO} ') for name in gone)} no longer given"] * bool(gone)
    texts += [f"{', '.join(name.removeprefix(f'{ALSO} ') for name in changed)} changed"] * bool(changed)
    return f"Results of other assays: {', '.join(texts)}. Suggestions may differ." if texts else ""


def correlations_of(agent: Agent, maximize: bool) -> dict[str, Correlation]:
    """Return how each source goes along with the measured values, by its name.

    Args:
        agent: trained on rewards, which are the values or, if small ones are wanted, their negatives.
        maximize: whether large values are wanted.
    """
    if not isinstance(agent, SourceLearner):
        return {}
    learnt = agent.correlations()
    return learnt if maximize else {name: Correlation(-r.value, -r.high, -r.low) for name, r in learnt.items()}


def _molecule_of(
    key: str,
    name: str,
    graph_set: MoleculeSetLike,
    smiles_of: Mapping[str, str],
    aliases: Mapping[str, str],
    most_atoms: int,
) -> str:
    """Return the SMILES of a molecule as the pool would have it."""
    known, text = smiles_of.get(aliases.get(key, key)), canonical_smiles(key, most_atoms)
    own = graph_set.standard_smiles(text) if text and isinstance(graph_set, MoleculeSet) else text
    if known and own and own != known:
        raise ValueError(f"Expected one molecule for each key of `{name}`. `{key}` is an id, of {known}, and a SMILES.")
    if not known and not own:
        problem = smiles_problem(key, most_atoms)
        raise ValueError(f"Expected ids of the pool, or SMILES, in `{name}`. Got {key!r}: {problem}")
    return known or own
