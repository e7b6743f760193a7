"""Test limits on structures molecule by molecule, in several processes where that is faster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from graph_bandit_campaign.constraints.limits.patterns import Pattern
from graph_bandit_campaign.constraints.limits.properties import PROPERTIES, find_property
from graph_bandit_campaign.constraints.limits.wishes import Requirement
from graph_bandit_campaign.pool.parsing import molecule_of
from graph_bandit_campaign.workers import map_in_processes

if TYPE_CHECKING:
    from rdkit.Chem import Mol

Test = Requirement | Pattern
CHUNK = 1000  # molecules that a process takes at a time
LONG = 20_000  # ms of one process; above that several are faster, the time to start them included
PARSING, SMARTS, CATALOG = 100, 20, 1700  # ms for 1,000 molecules of 25 atoms, as in PROPERTIES


class Failure(NamedTuple):
    """The first limit that a molecule does not meet."""

    test: int
    """Its index; -1 if the molecule meets all."""
    is_unknown: bool = False
    """Whether it does not meet it because the property could not be computed."""


def cost_of(test: Test) -> int:
    """Return about how long a test takes, in ms for 1,000 molecules."""
    if isinstance(test, Requirement):
        return PROPERTIES[find_property(test.name)].cost
    return CATALOG if test.catalog else SMARTS * len(test.smarts)


def find_failures(tests: Sequence[Test], smiles: Sequence[str], workers: int = 1) -> list[Failure]:
    """Find the first limit that each molecule does not meet; no later one is computed.

    Args:
        tests: limits on properties and patterns, in the order in which they are tested.
        smiles: SMILES of molecules.
        workers: most processes to use; with more than one, the script needs the guard `if __name__ == "__main__":`.
    """
    if not tests:
        return [Failure(-1)] * len(smiles)
    parts = [smiles[start : start + CHUNK] for start in range(0, len(smiles), CHUNK)]
    work = partial(_find_here, tuple(tests))
    is_long = (PARSING + sum(map(cost_of, tests))) * len(parts) > LONG
    return [failure for part in map_in_processes(work, parts, workers if is_long else 1) for failure in part]


def _find_here(tests: Sequence[Test], smiles: Sequence[str]) -> list[Failure]:
    from rdkit import rdBase

    checks = [_check_of(test) for test in tests]
    failures = []
    with rdBase.BlockLogs():
        for text in smiles:
            molecule = molecule_of(text)
            answers = (Failure(k, meets is None) for k, check in enumerate(checks) if not (meets := check(molecule)))
            failures.append(next(answers, Failure(-1)))
    return failures


def _check_of(test: Test) -> Callable[[Mol], bool | None]:
    """Return a function that says whether a molecule meets a limit; None if that is not known."""
    if isinstance(test, Pattern):
        has_match = test.matcher()
        return lambda molecule: not has_match(molecule)
    entry = PROPERTIES[find_property(test.name)]
    compute = getattr(import_module(f"rdkit.Chem.{entry.module}"), entry.function)

    def check(molecule: Mol) -> bool | None:
        try:
            value = float(compute(molecule))
        except (ValueError, RuntimeError):  # RDKit cannot compute it
            return None
        return test.accepts(value) if value == value else None

    return check
