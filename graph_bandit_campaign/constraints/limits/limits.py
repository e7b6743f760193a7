"""Limits on the molecules that may be suggested."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from graph_bandit_campaign.constraints.limits.columns import LimitColumns, need_column, numbers_of, texts_of
from graph_bandit_campaign.constraints.limits.patterns import read_pattern
from graph_bandit_campaign.constraints.limits.properties import PROPERTIES, find_property
from graph_bandit_campaign.constraints.limits.selection import Selection, Step
from graph_bandit_campaign.constraints.limits.structures import Test, cost_of, find_failures
from graph_bandit_campaign.constraints.limits.wishes import Choice, Requirement
from graph_bandit_campaign.names import find_column, hint_at
from graph_bandit_campaign.pool.index import PoolLike
from graph_bandit_env import MoleculeSet


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
        self.patterns = tuple(dict.fromkeys(map(read_pattern, forbid)))

    def __len__(self) -> int:
        """Return how many limits there are."""
        return len(self.requirements) + len(self.choices) + len(self.patterns)

    def mask(
        self, molecules: PoolLike, columns: Mapping[str, Sequence[object]] | None = None, workers: int = 1
    ) -> NDArray[np.bool_]:
        """Return which molecules meet all limits, as `Campaign` takes it for `offered`.

        Args:
            molecules: K molecules. Limits on numbers use their columns, too.
            columns: K cells by name of the column: numbers, NaN where one is not known, or texts.
            workers: most processes to use for catalogs and properties of many molecules; with more than one, the script
                needs the guard `if __name__ == "__main__":`.

        Returns:
            `(K,)` bool.

        Raises:
            ValueError: if a limit names neither a column nor a property, or a column has other cells.
            TypeError: if the molecules are not in memory, as those of a prepared pool.
        """
        return self.select(molecules, columns, workers).mask

    def select(
        self, molecules: PoolLike, columns: Mapping[str, Sequence[object]] | None = None, workers: int = 1
    ) -> Selection:
        """Return which molecules meet all limits, and which limit excludes each of the others; as `mask`."""
        if not isinstance(molecules, MoleculeSet):
            raise TypeError(
                f"Expected molecules in memory, a MoleculeSet. Got {type(molecules).__name__}. Of a prepared pool give "
                "`pool.load(columns)`; one that does not fit into memory is tested by `graph-bandit suggest --require`."
            )
        own = zip(molecules.column_names, molecules.columns.T.tolist(), strict=True)
        given: dict[str, Sequence[object]] = {**dict(own), **(columns or {})}
        numbers, texts = self.find_columns(given, "the columns")
        return self.select_rows(
            molecules.smiles,
            LimitColumns(
                range(len(molecules)),
                {name: numbers_of(name, given[column], len(molecules)) for name, column in numbers.items()},
                {name: texts_of(name, given[column], len(molecules)) for name, column in texts.items()},
            ),
            workers,
        )

    def find_columns(
        self, columns: Iterable[str], source: str, elsewhere: Iterable[str] = ()
    ) -> tuple[dict[str, str], dict[str, str]]:
        """Return the columns that limits name, by their name in the limit: those of numbers, and those of text.

        Args:
            columns: all columns that there are.
            source: where they are, for messages.
            elsewhere: columns of other tables, which may have been meant.

        Raises:
            ValueError: if a limit names neither a column nor a property.
        """
        names = tuple(filter(None, columns))
        listed = f"It has {', '.join(names)}" if names else "There are no columns"
        numbers, texts = {}, {}
        for requirement in self.requirements:
            name = requirement.name
            column = find_column(name, names, source)
            if column:
                numbers[name] = column
            elif not find_property(name):
                written = f" Write `{requirement.as_range}` for a range." if requirement.as_range else ""
                hint = written or hint_at(name, (*PROPERTIES, *names, *filter(None, elsewhere)))
                raise ValueError(
                    f"Expected `{requirement.text}` to name a column of {source} or a property. {listed}; properties "
                    f"are {', '.join(PROPERTIES)}.{hint}"
                )
        for choice in self.choices:
            texts[choice.name] = need_column(choice.name, names, source, choice.text)
        return numbers, texts

    def select_rows(self, smiles: Sequence[str], columns: LimitColumns, workers: int = 1) -> Selection:
        """Return which molecules meet all limits; one row of a molecule must meet all those on columns.

        Limits on columns are tested first, then those on structures, the cheap ones first, each only for the molecules
        that are left.

        Args:
            smiles: K SMILES.
            columns: the columns that limits name. A requirement whose name is not among them is on a property.
            workers: most processes to use.
        """
        owners, rows = np.asarray(columns.owners, np.int64), np.ones(len(columns.owners), np.bool_)
        failed, unknown = np.full(len(smiles), -1, np.int64), np.zeros(len(smiles), np.bool_)
        steps: list[Step] = []
        for limit, meets, known in self._on_columns(columns):
            after, has_value = np.zeros(len(smiles), np.bool_), np.zeros(len(smiles), np.bool_)
            has_value[owners[rows & known]] = True
            rows &= meets
            after[owners[rows]] = True
            lost = (failed < 0) & ~after
            failed[lost] = len(steps)
            unknown[lost] = ~has_value[lost]
            source = "a column" if isinstance(limit, Requirement) else ""
            steps.append(Step(limit.text, int(after.sum()), int(unknown[lost].sum()), source))
        tests: list[Test] = [limit for limit in self.requirements if limit.name not in columns.numbers]
        tests = sorted([*tests, *self.patterns], key=cost_of)
        left = np.flatnonzero(failed < 0)
        failures = find_failures(tests, [smiles[k] for k in left.tolist()], workers)
        tested = np.array([failure.test for failure in failures], np.int64)
        unknown[left] = [failure.is_unknown for failure in failures]
        failed[left] = np.where(tested < 0, -1, tested + len(steps))
        for test in tests:
            lost = failed == len(steps)
            number_left = int((failed < 0).sum() + (failed > len(steps)).sum())
            text, source = (test.text, "computed") if isinstance(test, Requirement) else (f"forbid {test.text}", "")
            steps.append(Step(text, number_left, int(unknown[lost].sum()), source))
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

    def _on_columns(
        self, columns: LimitColumns
    ) -> Iterable[tuple[Requirement | Choice, NDArray[np.bool_], NDArray[np.bool_]]]:
        """Yield each limit on a column, which rows meet it, and in which rows the value is known."""
        for choice in self.choices:
            cells = columns.texts[choice.name]
            yield choice, np.array([*map(choice.accepts, cells)], np.bool_), np.array([*map(bool, cells)], np.bool_)
        for requirement in self.requirements:
            if requirement.name in columns.numbers:
                values = np.array(columns.numbers[requirement.name], np.float64)
                yield requirement, np.array([*map(requirement.accepts, values)], np.bool_), ~np.isnan(values)
