"""Results of other assays, which teach, and whose molecules or graphs are never asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast

import numpy as np

from agents.contract import Agent, Correlation, ModelAgent, MoleculeSetLike, SourceResults
from graph_bandit_campaign.checks import check_value
from graph_bandit_campaign.pool.index import PoolIndex, PoolLike
from graph_bandit_campaign.results.classes import order_classes
from graph_bandit_campaign.results.rows import BOUND
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.text import listed
from graph_bandit_env import MoleculeSet, canonical_smiles
from graph_bandit_env.pools import MOST_ATOMS, smiles_problem

MOST_RESULTS = 5000  # of all sources: the cost of the posterior grows as the cube of their number

OtherAssay: TypeAlias = Mapping[str, float | str | Sequence[float | str]]
"""Results of an assay by id in the pool or, of molecules, by SMILES: a number, a bound such as ">4.5", one of two
classes such as "active", or several of these."""
Result = tuple[str, float, int]  # key, value and side, as in `SourceResults`


def read_also(
    also: Mapping[str, OtherAssay] | None, graph_set: PoolLike, most_atoms: int = MOST_ATOMS
) -> tuple[SourceResults, ...]:
    """Return the results of other assays as an agent takes them, but of graphs that are not molecules by their ids.

    Args:
        also: results for each name of an assay; None: there are none.
        graph_set: the pool.
        most_atoms: how many atoms a molecule may have, without hydrogens.

    Raises:
        ValueError: if a molecule or graph is unknown, a key is the id of one molecule and the SMILES of another, a
            result is not a finite number, a bound or one of two classes, all results of an assay tell the same, or
            there are too many.
    """
    if not also:
        return ()
    read = {name: _read_results(name, results) for name, results in sorted(also.items())}
    total = sum(map(len, read.values()))
    if total > MOST_RESULTS:
        raise ValueError(
            f"Expected at most {MOST_RESULTS:,} results of other assays. Got {total:,}. Give a part of them."
        )
    find = _finder(graph_set, most_atoms)
    sources = []
    for name, results in read.items():
        graphs = [find(key, name) for key, _, _ in results]
        values, sides = np.array([row[1] for row in results]), np.array([row[2] for row in results], np.int64)
        sources.append(SourceResults(name, graphs, values, sides))
    return tuple(sources)


def correlations_of(agent: Agent, state: CampaignState) -> dict[str, Correlation]:
    """Return how each source goes along with the measured values, by its name.

    Args:
        agent: trained on rewards, which are the values or, if small ones are wanted, their negatives.
        state: the campaign, with one goal.
    """
    if not isinstance(agent, ModelAgent):
        return {}
    learnt = agent.correlations()
    return learnt if state.maximize else {name: Correlation(-r.value, -r.high, -r.low) for name, r in learnt.items()}


def _read_results(name: str, results: OtherAssay) -> list[Result]:
    """Return the results of an assay, sorted, so that the order of rows is nothing."""
    read, words = list[Result](), list[tuple[str, str]]()
    for key, given in results.items():
        for result in given if isinstance(given, list | tuple) else [given]:
            if not isinstance(result, str):
                read.append((key, check_value(key, cast(float, result)), 0))
            elif bound := BOUND.fullmatch(result.strip()):
                read.append((key, check_value(key, float(bound[2])), 1 if bound[1] in (">", ">=", "≥") else -1))
            else:
                words.append((key, result.strip().casefold()))
    classes = {word for _, word in words}
    if words and (read or len(classes) != 2):
        raise ValueError(
            f'Expected numbers, bounds such as ">4.5", or two classes and nothing else in `{name}`. Got '
            + listed(sorted(classes))
            + " among other results" * bool(read)
            + "."
        )
    if words:
        lower, _ = order_classes(classes)
        read = [(key, 0.0, -1 if word == lower else 1) for key, word in words]
    if len({row[1:] for row in read if row[2] == 0}) < 2 and len({side for *_, side in read}) < 2:
        raise ValueError(
            f"Expected two results that differ in `{name}`: values, or bounds on either side. Leave it out."
        )
    return sorted(read)


def _finder(graph_set: PoolLike, most_atoms: int) -> Callable[[str, str], str]:
    """Return a function that returns the SMILES of a molecule as the pool would have it, or the id of another graph.

    It takes a key, and the name of the assay for messages.
    """
    index = PoolIndex(graph_set)
    if not isinstance(graph_set, MoleculeSetLike):
        return lambda key, _: index.check_id(key)
    smiles_of = dict(zip(index.ids, graph_set.smiles, strict=True)) if getattr(graph_set, "ids", ()) else {}
    standard = graph_set.standard_smiles if isinstance(graph_set, MoleculeSet) else str
    every = {*graph_set.smiles}

    def find(key: str, name: str) -> str:
        if key in every and key not in index.index_of and key not in index.aliases:
            return key
        known, text = smiles_of.get(index.aliases.get(key, key)), canonical_smiles(key, most_atoms)
        own = standard(text) if text else text
        if known and own and own != known:
            raise ValueError(
                f"Expected one molecule for each key of `{name}`. `{key}` is an id, of {known}, and a SMILES."
            )
        if not known and not own:
            problem = smiles_problem(key, most_atoms)
            raise ValueError(f"Expected ids of the pool, or SMILES, in `{name}`. Got {key!r}: {problem}")
        return known or own

    return find
