"""Limits on the molecules that may be suggested, and what they leave."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import starmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph_bandit_campaign.constraints.limits.columns import LimitColumns, check_cells, need_column
from graph_bandit_campaign.constraints.limits.wishes import PROPERTIES, Choice, Pattern, Requirement, find_property
from graph_bandit_campaign.pool.block import molecule_of
from graph_bandit_campaign.pool.index import PoolLike
from graph_bandit_campaign.text import find_column
from graph_bandit_campaign.workers import results_of
from graph_bandit_env import MoleculeSet
from graph_bandit_env.pools import is_bare_salt

Test = Requirement | Pattern
CHUNK = 1000  # molecules that a process takes at a time
LONG = 20_000  # ms of one process; above that several are faster, the time to start them included
PARSING = 100  # ms for 1,000 molecules of 25 atoms


@dataclass(frozen=True)
class Step:
    """A limit, and what it leaves of the molecules that those before it left."""

    text: str
    """The limit as written."""
    left: int
    """How many molecules it leaves."""
    unknown: int = 0
    """How many others do not meet it because their value is not known."""
    source: str = ""
    """Where the values come from: "a column" or "computed"; empty where it can be only one of them."""

    def describe(self) -> str:
        """Say how many molecules the limit leaves."""
        unknown = f"not known for {self.unknown:,}" * bool(self.unknown)
        remarks = ", ".join(filter(None, [self.source, unknown]))
        return f"{self.text}{f' ({remarks})' * bool(remarks)} leaves {self.left:,}"


@dataclass(frozen=True, eq=False)
class Selection:
    """The molecules that limits leave."""

    steps: Sequence[Step]
    """The limits in the order in which they were tested, the cheap ones first."""
    failed: NDArray[np.int64]
    """`(K,)`. Index in `steps` of the first limit that a molecule does not meet; -1 if it meets all."""
    unknown: NDArray[np.bool_]
    """`(K,)`. Whether a molecule does not meet that limit because its value is not known."""
    rows: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    """`(R,)`. Which rows of the columns meet all limits on columns; a molecule may have several."""

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Return which molecules meet all limits, `(K,)`."""
        return self.failed < 0

    def reason(self, index: int) -> str:
        """Return the limit that excludes a molecule; an empty text if it meets all."""
        step = int(self.failed[index])
        return "" if step < 0 else self.steps[step].text + " (not known)" * bool(self.unknown[index])

    def describe(self) -> str:
        """Say how many molecules each limit leaves, one after the other; an empty text without limits."""
        steps = ", then ".join(step.describe() for step in self.steps)
        return f"Limits on {len(self.failed):,} molecules: {steps}." if steps else ""

    def with_known(self, name: str, known: NDArray[np.bool_]) -> Selection:
        """Return the selection without the molecules that have no known value in a column; itself if there are none.

        Args:
            name: name of the column.
            known: `(K,)`. Whether the value of a molecule is known.
        """
        lost = self.mask & ~known
        if not lost.any():
            return self
        step = Step(name, int((self.mask & known).sum()), int(lost.sum()), "a column")
        failed = np.where(lost, len(self.steps), self.failed)
        return replace(self, steps=(*self.steps, step), failed=failed, unknown=self.unknown | lost)


class Limits:
    """Limits on molecules: all must be met. A value that is not known does not meet a limit.

    Args:
        require: limits on numbers: `mw<500`, `qed>=0.5`, `hbd=2`, `logp=1..4`. The name is that of a column or, where
            there is none, of a property that RDKit computes.
        forbid: substructures: SMARTS, files with one SMARTS a line, or names of RDKit's catalogs such as `pains`.
        only: limits on columns of text: `stock=yes`, `vendor=A,B`.

    Raises:
        ValueError: if one cannot be read.
        OSError: if a file cannot be read.
        ImportError: if substructures are forbidden and RDKit is not installed.
    """

    def __init__(self, require: Sequence[str] = (), forbid: Sequence[str] = (), only: Sequence[str] = ()) -> None:
        for name, given in (("require", require), ("forbid", forbid), ("only", only)):
            if isinstance(given, str):
                raise TypeError(f"Expected `{name}` to be a list of texts. Got {given!r}. Write [{given!r}].")
        self.requirements = tuple(dict.fromkeys(map(Requirement.parse, require)))
        self.choices = tuple(dict.fromkeys(map(Choice.parse, only)))
        self.patterns = tuple(dict.fromkeys(map(Pattern.parse, forbid)))

    def __len__(self) -> int:
        """Return how many limits there are."""
        return len(self.requirements) + len(self.choices) + len(self.patterns)

    def mask(self, molecules: PoolLike, columns: Mapping[str, Sequence[object]] | None = None) -> NDArray[np.bool_]:
        """Return which molecules meet all limits, as `Campaign` takes it for `offered`.

        Args:
            molecules: K molecules. Limits on numbers use their columns, too.
            columns: K cells by name of the column: numbers, NaN where one is not known, or texts.

        Returns:
            `(K,)` bool.

        Raises:
            ValueError: if a limit names neither a column nor a property, or a column has other cells.
            TypeError: if the molecules are not in memory, as those of a prepared pool.
        """
        return self.select(molecules, columns).mask

    def select(self, molecules: PoolLike, columns: Mapping[str, Sequence[object]] | None = None) -> Selection:
        """Return which molecules meet all limits, and which limit excludes each of the others; as `mask`."""
        if not isinstance(molecules, MoleculeSet):
            text = f"Expected molecules in memory, a MoleculeSet. Got {type(molecules).__name__}."
            raise TypeError(f"{text} Of a prepared pool give `pool.load(columns)`.")
        count, own = len(molecules), zip(molecules.column_names, molecules.columns.T.tolist(), strict=True)
        given: dict[str, Sequence[object]] = {**dict(own), **(columns or {})}
        numbers, texts = self.find_columns(given, "the columns")
        cells = LimitColumns(
            range(count),
            {name: check_cells(name, given[column], count, "numbers") for name, column in numbers.items()},
            {name: check_cells(name, given[column], count, "texts") for name, column in texts.items()},
        )
        return self.select_rows(molecules.smiles, cells, only_organic=False)

    def find_columns(self, columns: Iterable[str], source: str) -> tuple[dict[str, str], dict[str, str]]:
        """Return the columns that limits name, by their name in the limit: those of numbers, and those of text.

        Args:
            columns: all columns that there are.
            source: where they are, for messages.

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

    def select_rows(
        self, smiles: Sequence[str], columns: LimitColumns, workers: int = 1, only_organic: bool = True
    ) -> Selection:
        """Return which molecules meet all limits; one row of a molecule must meet all those on columns.

        Limits on columns are tested first, then those on structures, the cheap ones first, each only for the molecules
        that are left.

        Args:
            smiles: K SMILES.
            columns: the columns that limits name. A requirement whose name is not among them is on a property.
            workers: most processes to use.
            only_organic: leave salts out that have no organic part.
        """
        owners, rows = np.asarray(columns.owners, np.int64), np.ones(len(columns.owners), np.bool_)
        failed, unknown = np.full(len(smiles), -1, np.int64), np.zeros(len(smiles), np.bool_)
        steps: list[Step] = []
        on_columns, others = self.split(columns.numbers)
        cells_of: list[tuple[Choice | Requirement, Sequence[Any]]] = [(c, columns.texts[c.name]) for c in self.choices]
        cells_of += [(limit, columns.numbers[limit.name]) for limit in on_columns.requirements]
        for limit, cells in cells_of:
            meets = np.array([*map(limit.accepts, cells)], np.bool_)
            known = np.array([cell == cell and cell != "" for cell in cells], np.bool_)  # NaN is not equal to itself
            after, has_value = np.zeros(len(smiles), np.bool_), np.zeros(len(smiles), np.bool_)
            has_value[owners[rows & known]] = True
            rows &= meets
            after[owners[rows]] = True
            lost = (failed < 0) & ~after
            failed[lost] = len(steps)
            unknown[lost] = ~has_value[lost]
            source = "a column" if isinstance(limit, Requirement) else ""
            steps.append(Step(limit.text, int(after.sum()), int(unknown[lost].sum()), source))
        tests: list[Test] = [*others.requirements, *self.patterns]
        tests.sort(key=lambda test: test.cost)
        left = np.flatnonzero(failed < 0)
        tested, unknown[left] = find_failures(tests, [smiles[k] for k in left.tolist()], workers)
        failed[left] = np.where(tested < 0, -1, tested + len(steps))
        for test in tests:
            lost = failed == len(steps)
            number_left = int((failed < 0).sum() + (failed > len(steps)).sum())
            text, source = (test.text, "computed") if isinstance(test, Requirement) else (f"forbid {test.text}", "")
            steps.append(Step(text, number_left, int(unknown[lost].sum()), source))
        bare = (failed < 0) & np.array([*map(is_bare_salt, smiles)], np.bool_)
        if only_organic and bare.any():
            failed[bare] = len(steps)
            steps.append(Step("an organic part", int((failed < 0).sum())))
        return Selection(tuple(steps), failed, unknown, rows)

    def split(self, numbers: Collection[str]) -> tuple[Limits, Limits]:
        """Return the limits on columns, and those on structures and what is computed of them.

        Args:
            numbers: names of the limits on numbers that are on columns.
        """
        on_columns, others = Limits(), Limits()
        on_columns.choices, others.patterns = self.choices, self.patterns
        on_columns.requirements = tuple(limit for limit in self.requirements if limit.name in numbers)
        others.requirements = tuple(limit for limit in self.requirements if limit.name not in numbers)
        return on_columns, others

    def content(self) -> list[object]:
        """Return what the limits say, the same for equal limits in any order, for digests."""
        numbers = sorted([limit.name, repr(limit.low), repr(limit.high), limit.strict] for limit in self.requirements)
        texts = sorted([limit.name, *sorted(limit.values)] for limit in self.choices)
        patterns = sorted([limit.catalog, *sorted(limit.smarts)] for limit in self.patterns)
        return [numbers, texts, patterns]


def find_failures(tests: Sequence[Test], smiles: Sequence[str], workers: int = 1) -> NDArray[np.int64]:
    """Find the first limit that each molecule does not meet; no later one is computed.

    Args:
        tests: limits on properties and patterns, in the order in which they are tested.
        smiles: K SMILES.
        workers: most processes to use; with more than one, the script needs the guard `if __name__ == "__main__":`.

    Returns:
        `(2, K)`. The index of the limit, -1 if the molecule meets all; and 1 if its property could not be computed.
    """
    parts = [(k, tuple(tests), smiles[k : k + CHUNK]) for k in range(0, len(smiles), CHUNK)] if tests else []
    found: Iterable[tuple[int, list[tuple[int, bool]]]] = starmap(_find_here, parts)
    if workers > 1 and (PARSING + sum(test.cost for test in tests)) * len(parts) > LONG:
        kept, unit = "Nothing was changed.", "thousands"
        found = results_of(_find_here, parts, (workers, None), "molecules from {} on", kept, unit, len(parts))
    failures = [failure for _, part in sorted(found) for failure in part] or [(-1, False)] * len(smiles)
    return np.array(failures, np.int64).reshape(-1, 2).T


def _find_here(number: int, tests: Sequence[Test], smiles: Sequence[str]) -> tuple[int, list[tuple[int, bool]]]:
    from rdkit import rdBase

    checks, failures = [test.checker() for test in tests], []
    with rdBase.BlockLogs():
        for text in smiles:
            molecule = molecule_of(text)
            answers = ((k, meets is None) for k, check in enumerate(checks) if not (meets := check(molecule)))
            failures.append(next(answers, (-1, False)))
    return number, failures
