"""Match rows of results to molecules of the pool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median

from graph_bandit_campaign.checks import nearest_id
from graph_bandit_campaign.tables.measured_rows import BadResultsError, MeasuredRow
from graph_bandit_env import MoleculeSet, canonical_smiles
from graph_bandit_env.pools import smiles_problem


@dataclass(frozen=True)
class Books:
    """The results for each molecule, by its id in the pool or, if it is not there, in the table of results."""

    measured: tuple[tuple[str, float], ...] = ()
    """Ids and values, row by row."""
    failed: tuple[str, ...] = ()
    """Ids of molecules that could not be measured."""
    pending: tuple[str, ...] = ()
    """Ids of molecules that are being measured."""
    repeated: int = 0
    """How many rows repeat the molecule and value of an earlier row."""
    bounds: Mapping[str, str] = field(default_factory=dict)
    """Cells such as ">4.5" of molecules without an exact value, by id. They are measured at the number."""
    outside: dict[str, str] = field(default_factory=dict)
    """Ids and canonical SMILES of all these molecules that are not in the pool."""


def match_rows(rows: Iterable[MeasuredRow], pool: MoleculeSet, structures: Mapping[str, str] | None = None) -> Books:
    """Find the molecule of each row: by its name if the pool has it, else by canonical SMILES.

    Args:
        rows: rows from `read_measured`.
        pool: molecules to choose from.
        structures: canonical SMILES of molecules that were suggested, by id; the pool need not have them any more.

    Raises:
        BadResultsError: a ValueError that lists the rows with an unknown molecule, or a name and SMILES that disagree.
    """
    smiles_of = dict(zip(pool.ids, pool.smiles, strict=True))
    name_of = {**pool.aliases, **{name: name for name in pool.ids}}
    id_of = dict(zip(pool.smiles, pool.ids, strict=True))
    structures = structures or {}
    outside: dict[str, str] = {}
    measured: list[tuple[str, float]] = []
    bounded: dict[str, list[tuple[float, str]]] = {}
    other: dict[str, list[str]] = {"failed": [], "pending": []}
    problems = []
    for row in rows:
        canonical = canonical_smiles(row.smiles) if row.smiles else ""
        if row.smiles and not canonical:
            problems.append(f"{row.place}: {smiles_problem(row.smiles)}")
            continue
        if row.identifier in structures and row.identifier not in name_of:
            suggested = structures[row.identifier]
            if canonical not in ("", suggested):
                problems.append(
                    f"{row.place}: `{row.identifier}` was suggested as {suggested}, and is {canonical} here."
                )
                continue
            canonical = suggested
        if row.identifier in name_of:
            identifier = name_of[row.identifier]
            if canonical and canonical != smiles_of[identifier]:
                problems.append(
                    f"{row.place}: `{row.identifier}` is {smiles_of[identifier]} in the pool, and {canonical} here."
                )
                continue
        elif canonical in id_of:
            identifier = id_of[canonical]
        elif canonical:
            same = (known for known, text in outside.items() if text == canonical)
            identifier = next(same, row.identifier or canonical)
            if outside.setdefault(identifier, canonical) != canonical:
                problems.append(f"{row.place}: `{identifier}` is {outside[identifier]} above, and {canonical} here.")
                continue
        else:
            nearest = nearest_id(row.identifier, pool.ids)
            hint = f" Did you mean `{nearest}`?" if nearest else ""
            problems.append(f"{row.place}: the pool has no `{row.identifier}`, and there is no SMILES.{hint}")
            continue
        if isinstance(row.value, str):
            other[row.value].append(identifier)
        elif row.bound:
            bounded.setdefault(identifier, []).append((row.value, row.bound))
        else:
            measured.append((identifier, row.value))
    if problems:
        raise BadResultsError(problems)
    exact = {identifier for identifier, _ in measured}
    bounded = {identifier: cells for identifier, cells in bounded.items() if identifier not in exact}
    measured += [(identifier, value) for identifier, cells in bounded.items() for value, _ in cells]
    known = {identifier for identifier, _ in measured}
    ours = smiles_of.keys() | structures.keys()  # a stranger that failed or is pending does not count
    failed, pending = (
        tuple(key for key in dict.fromkeys(other[kind]) if key in ours and key not in known)
        for kind in ("failed", "pending")
    )
    needed = {*known, *failed, *pending}
    outside = {identifier: text for identifier, text in outside.items() if identifier in needed}
    once = tuple(dict.fromkeys(measured))
    bounds = {identifier: ", ".join(dict.fromkeys(text for _, text in cells)) for identifier, cells in bounded.items()}
    return Books(once, failed, pending, len(measured) - len(once), bounds, outside)


def far_from_others(means: Mapping[str, float], deviations: float = 15.0) -> list[tuple[str, float]]:
    """Return values that may be typing errors: many robust standard deviations (1.48 MAD) from the median.

    Args:
        means: values by id; nothing is returned for fewer than five.
        deviations: how many standard deviations.
    """
    if len(means) < 5:
        return []
    middle = median(means.values())
    spread = 1.48 * median(abs(value - middle) for value in means.values())
    return [(name, value) for name, value in means.items() if spread and abs(value - middle) > deviations * spread]
