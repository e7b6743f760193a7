"""Match all results with a pool of molecules, and with what was suggested of it before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graph_bandit_campaign.pool.forms import Parents
from graph_bandit_campaign.results.books import Books, join_books, match_goals
from graph_bandit_campaign.results.rows import MeasuredRow
from graph_bandit_env import MoleculeSet, canonical_smiles


def match_molecules(
    rows: Mapping[str, Sequence[MeasuredRow]],
    pool: MoleculeSet,
    structures: Mapping[str, str],
    pending: Sequence[str],
    trust_ids: bool,
    most_atoms: int,
    several_goals: bool,
) -> tuple[Books, dict[str, str]]:
    """Return the results of each molecule, and those that are measured or pending and not in the pool.

    Args:
        rows: rows of results of each goal, by its name.
        pool: the pool, or all of it that results and earlier rounds speak of.
        structures: SMILES of the molecules that were suggested before, by id.
        pending: ids of those that are pending.
        trust_ids: a row with a known id is that molecule, whatever its SMILES.
        most_atoms: how many atoms a molecule may have, without hydrogens.
        several_goals: whether results are kept by goal.

    Returns:
        The results; and canonical SMILES of the others, by id.

    Raises:
        ValueError: if the pool gives the id of a molecule that was suggested to another one, or a row cannot be
            understood.
    """
    standard = {
        identifier: pool.standard_smiles(canonical_smiles(text, most_atoms) or text)
        for identifier, text in structures.items()
    }
    parents = Parents([])
    for identifier, text in zip(pool.ids, pool.smiles, strict=True):
        before = standard.get(identifier, text)
        if text != before and not trust_ids and not parents.are_equal(text, before):
            raise ValueError(
                f"Expected `{identifier}` to be {before}, as in earlier rounds. The pool has {text}. Correct the pool; "
                "pass --trust-ids if it was corrected; or use another --out to start a new campaign."
            )
        if identifier in standard:
            standard[identifier] = text
    by_goal = match_goals(rows, pool, standard, trust_ids, most_atoms)
    books = join_books(by_goal) if several_goals else next(iter(by_goal.values()))
    in_pool, outside = {*pool.smiles, *books.outside.values()}, dict(books.outside)
    for identifier in pending:
        if identifier in standard and standard[identifier] not in in_pool:
            outside[identifier] = standard[identifier]
    return books, outside
