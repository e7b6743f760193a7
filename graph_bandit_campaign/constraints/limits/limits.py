"""Apply limits to the molecules that may be suggested."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import starmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph_bandit_campaign.constraints.limits.requirements import (
    PROPERTIES,
    Choice,
    Pattern,
    Requirement,
    find_property,
)
from graph_bandit_campaign.pool.block import Cells, molecule_of
from graph_bandit_campaign.pool.index import PoolLike
from graph_bandit_campaign.text import find_column
from graph_bandit_campaign.workers import results_of
from graph_bandit_env import MoleculeSet
from graph_bandit_env.pools import is_bare_salt

Test = Requirement | Pattern
CHUNK = 1000  # molecules that a process takes at a time
LONG = 20_000  # ms in one process; above that, several are faster, including the time to start them
PARSING = 100  # ms for 1,000 molecules of 25 atoms


@dataclass(frozen=True)
class LimitColumns:
    """R rows of columns, with the molecule of each."""

    owners: Sequence[int]
    """Index of the molecule of each row."""
    numbers: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """Columns of numbers by their name in the limit, NaN if a value is unknown."""
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Columns of text by their name in the limit, empty if a value is unknown."""


@dataclass(frozen=True)
class ColumnNames:
    """Columns of the pool's table, by their name in a limit, or in the options for prices and groups."""

    numbers: Mapping[str, str] = field(default_factory=dict)
    """Columns of numbers."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Columns of text."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns without duplicates."""
        return tuple(dict.fromkeys((*self.numbers.values(), *self.texts.values())))

    def read(self, cells: Cells, skip_bad: bool) -> LimitColumns:
        """Read the columns of some molecules, row by row.

        Args:
            cells: cells of these columns.
            skip_bad: if True, an invalid value counts as unknown.

        Raises:
            ValueError: if a cell of numbers is not a number, and `skip_bad` is False.
        """
        numbers = {name: cells.numbers(column, skip_bad).tolist() for name, column in self.numbers.items()}
        texts = {name: cells.words(column) for name, column in self.texts.items()}
        return LimitColumns(cells.owners.tolist(), numbers, texts)


@dataclass(frozen=True, eq=False)
class Selection:
    """The molecules that meet limits."""

    steps: Sequence[str]
    """The limits in the order of testing, fast ones first."""
    failed: NDArray[np.int64]
    """`(K,)`. Index in `steps` of the first limit that a molecule fails, or -1 if it meets all."""
    rows: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    """`(R,)`. Mask of the rows of the columns that meet all limits on columns. A molecule may have several rows."""

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Return a mask of the molecules that meet all limits, `(K,)`."""
        return self.failed < 0

    def reason(self, index: int) -> str:
        """Return the limit that excludes a molecule, or an empty text."""
        return "" if self.failed[index] < 0 else self.steps[self.failed[index]]

    def describe(self) -> str:
        """Report the number of molecules left after each limit. Empty without limits."""
        lost = np.cumsum(np.bincount(self.failed[self.failed >= 0], minlength=len(self.steps)))
        left = [f"{text} leaves {len(self.failed) - n:,}" for text, n in zip(self.steps, lost.tolist(), strict=True)]
        return f"Limits on {len(self.failed):,} molecules: {', then '.join(left)}." if left else ""

    def with_known(self, name: str, known: NDArray[np.bool_]) -> Selection:
        """Return the selection without molecules that lack a value in a column, or itself if all have one.

        Args:
            name: name of the column.
            known: `(K,)`. True if the value of a molecule is known.
        """
        lost = self.mask & ~known
        failed = np.where(lost, len(self.steps), self.failed)
        return replace(self, steps=(*self.steps, f"{name} (not known)"), failed=failed) if lost.any() else self


class Limits:
    """Limits on molecules. All must be met. An unknown value does not meet a limit.

    Args:
        require: limits on numbers: `mw<500`, `qed>=0.5`, `hbd=2`, `logp=1..4`. The name is that of a column or, if
            there is no such column, of a property that RDKit computes.
        forbid: substructures: SMARTS, files with one SMARTS per line, or names of RDKit's catalogs such as `pains`.
        filter: limits on columns of text: `stock=yes`, `vendor=A,B`.

    Raises:
        ValueError: if a limit cannot be read.
        OSError: if a file cannot be read.
        ImportError: if substructures are forbidden and RDKit is not installed.
    """

    def __init__(
        self,
        require: Sequence[str] = (),
        forbid: Sequence[str] = (),
        filter: Sequence[str] = (),  # noqa: A002
    ) -> None:
        self.requirements = tuple(dict.fromkeys(map(Requirement.parse, require)))
        self.choices = tuple(dict.fromkeys(map(Choice.parse, filter)))
        self.patterns = tuple(dict.fromkeys(map(Pattern.parse, forbid)))

    def __len__(self) -> int:
        """Return the number of limits."""
        return len(self.requirements) + len(self.choices) + len(self.patterns)

    def mask(self, molecules: PoolLike, columns: Mapping[str, Sequence[object]] | None = None) -> NDArray[np.bool_]:
        """Return a mask of the molecules that meet all limits, for the argument `offered` of `Campaign`.

        Args:
            molecules: K molecules, whose columns can also be limited.
            columns: K cells by name of the column: numbers, NaN if unknown, or texts.

        Returns:
            `(K,)` bool.

        Raises:
            ValueError: if a limit names neither a column nor a property, or a cell of a numeric limit is not a number.
            TypeError: if the molecules are not in memory, as in a prepared pool.
        """
        if not isinstance(molecules, MoleculeSet):
            text = f"Expected molecules in memory, a MoleculeSet. Got {type(molecules).__name__}."
            raise TypeError(f"{text} Of a prepared pool give `pool.load(columns)`.")
        count, own = len(molecules), zip(molecules.column_names, molecules.columns.T.tolist(), strict=True)
        given: dict[str, Sequence[object]] = {**dict(own), **(columns or {})}
        numbers, texts = self.find_columns(given, "the columns")
        cells = LimitColumns(
            range(count),
            {name: np.asarray(given[column], np.float64).tolist() for name, column in numbers.items()},
            {name: [*map(str, given[column])] for name, column in texts.items()},
        )
        return self.select_rows(molecules.smiles, cells).mask

    def find_columns(self, columns: Iterable[str], source: str) -> tuple[dict[str, str], dict[str, str]]:
        """Return the columns in the limits, by their name in the limit: those of numbers, and those of text.

        Args:
            columns: all columns.
            source: name of their table, for messages.

        Raises:
            ValueError: if a limit names neither a column nor a property.
        """
        names, numbers = tuple(columns), dict[str, str]()
        properties = f" Properties are {', '.join(PROPERTIES)}. Write `mw=200..400` for a range."
        for requirement in self.requirements:
            name = requirement.name
            if find_column(name, names, source) or not find_property(name):
                numbers[name] = need_column(name, names, source, requirement.text, properties)
        texts = {choice.name: need_column(choice.name, names, source, choice.text) for choice in self.choices}
        return numbers, texts

    def select_rows(self, smiles: Sequence[str], columns: LimitColumns, workers: int = 1) -> Selection:
        """Select the molecules that meet all limits and have an organic part.

        Limits on columns are tested first, then limits on structures, fast ones first. Each is tested only for the
        remaining molecules.

        Args:
            smiles: K SMILES.
            columns: the columns in the limits. A requirement without a column is on a property.
            workers: maximum number of processes.
        """
        selection, tests = self.select_columns(len(smiles), columns), self.tests(columns.numbers)
        failed, steps = selection.failed, [*selection.steps]
        left = np.flatnonzero(failed < 0)
        tested = find_failures(tests, [smiles[k] for k in left.tolist()], workers)
        failed[left] = np.where(tested < 0, -1, tested + len(steps))
        steps += [test.text if isinstance(test, Requirement) else f"forbid {test.text}" for test in tests]
        bare = (failed < 0) & np.array([*map(is_bare_salt, smiles)], np.bool_)
        if bare.any():
            failed[bare] = len(steps)
            steps.append("an organic part")
        return replace(selection, steps=steps)

    def select_columns(self, count: int, columns: LimitColumns) -> Selection:
        """Select the molecules that meet the limits on columns. A single row of a molecule must meet all of them.

        Args:
            count: K, number of molecules.
            columns: as in `select_rows`.
        """
        owners, rows = np.asarray(columns.owners, np.int64), np.ones(len(columns.owners), np.bool_)
        failed, steps = np.full(count, -1, np.int64), list[str]()
        cells_of: list[tuple[Choice | Requirement, Sequence[Any]]] = [(c, columns.texts[c.name]) for c in self.choices]
        cells_of += [(each, columns.numbers[each.name]) for each in self.requirements if each.name in columns.numbers]
        for limit, cells in cells_of:
            rows &= np.array([*map(limit.accepts, cells)], np.bool_)
            failed[np.setdiff1d(np.flatnonzero(failed < 0), owners[rows])] = len(steps)
            steps.append(limit.text)
        return Selection(steps, failed, rows)

    def tests(self, numbers: Collection[str]) -> list[Test]:
        """Return the limits on structures and computed properties, fast ones first.

        Args:
            numbers: names of the limits on columns of numbers.
        """
        others: list[Test] = [limit for limit in self.requirements if limit.name not in numbers]
        return sorted([*others, *self.patterns], key=lambda test: test.cost)

    def content(self) -> list[str]:
        """Return a text for each limit, sorted, so that equal limits have equal digests."""
        return sorted(map(repr, (*self.requirements, *self.choices, *self.patterns)))


def find_failures(tests: Sequence[Test], smiles: Sequence[str], workers: int = 1) -> NDArray[np.int64]:
    """Return the index of the first limit that each molecule fails, `(K,)`, or -1 if it meets all.

    Later limits are not computed.

    Args:
        tests: limits on properties and patterns, in the order of testing.
        smiles: K SMILES.
        workers: maximum number of processes. With more than one, the script needs `if __name__ == "__main__":`.
    """
    parts = [(k, tuple(tests), smiles[k : k + CHUNK]) for k in range(0, len(smiles), CHUNK)] if tests else []
    found: Iterable[tuple[int, list[int]]] = starmap(_find_here, parts)
    if workers > 1 and (PARSING + sum(test.cost for test in tests)) * len(parts) > LONG:
        kept, unit = "Nothing was changed.", "thousands"
        found = results_of(_find_here, parts, workers, "molecules from {} on", kept, unit, len(parts))
    return np.array([k for _, part in sorted(found) for k in part] or [-1] * len(smiles), np.int64)


def _find_here(number: int, tests: Sequence[Test], smiles: Sequence[str]) -> tuple[int, list[int]]:
    from rdkit import rdBase

    checks = [test.checker() for test in tests]
    with rdBase.BlockLogs():
        molecules = map(molecule_of, smiles)
        return number, [next((k for k, meets in enumerate(checks) if not meets(each)), -1) for each in molecules]


def need_column(name: str, columns: Iterable[str], source: str, said: str, instead: str = "") -> str:
    """Find a column by name, ignoring case.

    Args:
        name: the name.
        columns: all columns.
        source: name of their table, for messages.
        said: text from the user.
        instead: another suggestion for the user.

    Raises:
        ValueError: if the column does not exist.
    """
    names = tuple(filter(None, columns))
    column = find_column(name, names, source)
    if not column:
        listed = f"It has {', '.join(names)}" if names else "There are no columns"
        raise ValueError(f"Expected `{said}` to name a column of {source}. {listed}.{instead}")
    return column
