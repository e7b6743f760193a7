"""Match rows of results with the molecules of a pool."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median

from graph_bandit_campaign.tables.measured_rows import BadResultsError, MeasuredRow
from graph_bandit_env import MoleculeSet, canonical_smiles


@dataclass(frozen=True)
class Books:
    """What is known of each molecule, by its id in the pool or, outside of it, by its own."""

    measured: tuple[tuple[str, float], ...] = ()
    """Ids and values, row by row."""
    failed: tuple[str, ...] = ()
    """Ids of those in the pool that could not be measured."""
    pending: tuple[str, ...] = ()
    """Ids of those in the pool that are being measured."""
    repeated: int = 0
    """Rows left out because an earlier one has the same molecule and value."""
    outside: dict[str, str] = field(default_factory=dict)
    """Id and canonical SMILES of those measured that the pool does not hold."""


def match_rows(rows: Iterable[MeasuredRow], pool: MoleculeSet) -> Books:
    """Find the molecule of each row: by its name where the pool has it, else by canonical SMILES.

    Args:
        rows: of `read_measured`.
        pool: molecules to choose from.

    Raises:
        BadResultsError: a ValueError, with each row whose molecule is unknown, or whose name and SMILES disagree.
    """
    smiles_of = dict(zip(pool.ids, pool.smiles, strict=True))
    name_of = {**pool.aliases, **{name: name for name in pool.ids}}
    id_of = dict(zip(pool.smiles, pool.ids, strict=True))
    outside: dict[str, str] = {}
    measured: list[tuple[str, float]] = []
    other: dict[str, list[str]] = {"failed": [], "pending": []}
    problems = []
    for row in rows:
        found = canonical_smiles(row.smiles) if row.smiles else ""
        if row.smiles and not found:
            problems.append(f"{row.place}: RDKit reads no molecule from {row.smiles!r}.")
            continue
        if row.identifier in name_of:
            identifier = name_of[row.identifier]
            if found and found != smiles_of[identifier]:
                problems.append(
                    f"{row.place}: `{row.identifier}` is {smiles_of[identifier]} in the pool, and {found} here."
                )
                continue
        elif found in id_of:
            identifier = id_of[found]
        elif found:
            identifier = next((known for known, text in outside.items() if text == found), row.identifier or found)
            if outside.setdefault(identifier, found) != found:
                problems.append(f"{row.place}: `{identifier}` is {outside[identifier]} above, and {found} here.")
                continue
        else:
            alike = {name.casefold(): name for name in pool.ids}
            nearest = difflib.get_close_matches(row.identifier.casefold(), alike, n=1)
            hint = f" Did you mean `{alike[nearest[0]]}`?" if nearest else ""
            problems.append(f"{row.place}: the pool has no `{row.identifier}`, and there is no SMILES.{hint}")
            continue
        if isinstance(row.value, str):
            other[row.value].append(identifier)
        else:
            measured.append((identifier, row.value))
    if problems:
        raise BadResultsError(problems)
    known = {identifier for identifier, _ in measured}
    failed, pending = (  # of those outside the pool nothing follows without a value
        tuple(one for one in dict.fromkeys(other[kind]) if one in smiles_of and one not in known)
        for kind in ("failed", "pending")
    )
    outside = {identifier: text for identifier, text in outside.items() if identifier in known}
    once = tuple(dict.fromkeys(measured))
    return Books(once, failed, pending, len(measured) - len(once), outside)


def far_from_others(means: Mapping[str, float], deviations: float = 15.0) -> list[tuple[str, float]]:
    """Return values that may be slips of the pen: many robust standard deviations (1.48 MAD) from the median.

    Args:
        means: values by id; of fewer than five nothing is said.
        deviations: how many.
    """
    if len(means) < 5:
        return []
    middle = median(means.values())
    spread = 1.48 * median(abs(value - middle) for value in means.values())
    return [(name, value) for name, value in means.items() if spread and abs(value - middle) > deviations * spread]
