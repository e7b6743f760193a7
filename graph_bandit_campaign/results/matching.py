"""Match rows of results with molecules or graphs in the pool, in earlier suggestions, or outside both."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import cast

from graph_bandit_campaign.pool.forms import parent_of, tautomers
from graph_bandit_campaign.pool.index import PoolIndex, PoolLike
from graph_bandit_campaign.results.facts import TYPED, Failure, Measurement, Result
from graph_bandit_campaign.results.rows import BadResultsError, MeasuredRow
from graph_bandit_campaign.text import unshield
from graph_bandit_env import MoleculeSet, canonical_smiles
from graph_bandit_env.pools import MOST_ATOMS, SlotSet, smiles_problem


@dataclass(frozen=True)
class Matched:
    """Results matched with graphs, before they are added to a campaign."""

    results: tuple[Result, ...] = ()
    """Values, bounds and failures, each with the table of its row. Of several words for a graph, the last counts."""
    pending: tuple[str, ...] = ()
    """Ids of graphs that are being measured, according to their last row."""
    rows: frozenset[tuple[str, str, str]] = frozenset()
    """Table, id and goal of every row."""
    structures: Mapping[str, str] = field(default_factory=dict)
    """Structures of the graphs, by id."""
    outside: frozenset[str] = frozenset()
    """Ids of graphs outside the pool."""
    forms: Mapping[str, str] = field(default_factory=dict)
    """SMILES of results that are another form of their molecule, by its id."""
    features: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Values of the user's own columns in the rows of each graph, by id and column: the mean of the known values."""

    def best(self, maximize: bool) -> Matched:
        """Return the results with only the best exact value of each graph, as for docking poses.

        Args:
            maximize: True if large values are good.
        """
        exact = [each for each in self.results if isinstance(each, Measurement) and not each.bound]
        best = {result.id: result for result in sorted(exact, key=lambda each: each.value, reverse=not maximize)}
        others = (each for each in self.results if not isinstance(each, Measurement) or each.bound)
        return replace(self, results=(*best.values(), *others))


class Matcher:
    """Find the molecules of rows: by a known name, otherwise by canonical SMILES, otherwise by standardized parent.

    Actions of slots are found by name, otherwise by their slots. Other graphs are found by name only.

    Args:
        pool: molecules or other graphs to choose from.
        structures: canonical SMILES of suggested molecules, by id. The pool need not have them any more.
        most_atoms: maximum number of atoms of a molecule, without hydrogens.
        knows_tautomers: True to identify tautomers, which takes about 10 ms for each molecule outside the pool.
    """

    outside: dict[str, str]
    """Ids and canonical SMILES of the molecules found so far outside the pool."""

    def __init__(
        self,
        pool: PoolLike,
        structures: Mapping[str, str] | None = None,
        most_atoms: int = MOST_ATOMS,
        knows_tautomers: bool = True,
    ) -> None:
        self.pool, self.index, self.outside, self._knows_tautomers = pool, PoolIndex(pool), {}, knows_tautomers
        self.most_atoms, structures = most_atoms, structures or {}
        self._written: dict[str, set[str]] = {}  # SMILES of salts and charged forms as in the pool
        smiles_of, aliases = {name: name for name in self.index.ids}, dict[str, str]()
        if isinstance(pool, SlotSet):
            self._knows_tautomers, smiles_of = False, dict(zip(pool.ids, pool.texts, strict=True))
            aliases = {name: smiles_of[identifier] for name, identifier in pool.aliases.items()}
        if isinstance(pool, MoleculeSet):
            smiles_of = dict(zip(pool.ids, pool.smiles, strict=True))
            aliases = {name: smiles_of[identifier] for name, identifier in pool.aliases.items()}
            structures = {name: pool.standard_smiles(text) for name, text in structures.items()}
            for alias, text in pool.written.items():
                self._written.setdefault(smiles_of[pool.aliases.get(alias, alias)], set()).add(text)
        self._smiles_of = {**structures, **aliases, **smiles_of}
        self._id_of = {text: name for name, text in (*structures.items(), *smiles_of.items())}

    def find(self, row: MeasuredRow) -> tuple[str, str]:
        """Find the molecule of a row.

        Returns:
            Its id in the pool, otherwise the id of its suggestion, otherwise its name in the row, or its canonical
            SMILES. And the canonical SMILES of the row if it is another form of the molecule, otherwise "".

        Raises:
            ValueError: if it is unknown or ambiguous, or its name and SMILES disagree.
        """
        canonical = self._spell(row.smiles)
        name = row.identifier if row.identifier in self._smiles_of else unshield(row.identifier)
        if name in self._smiles_of:
            other = self._compare(name, canonical)
            return self._place(name, self._smiles_of[name]), other
        if not canonical:
            without = ", and there is no SMILES" * isinstance(self.pool, MoleculeSet)
            unseen = f" The row has {name!a}." * (not name.isascii())  # the difference may be invisible
            like = f"Its ids are like `{self.index.ids[0]}`; `--id` names others."
            raise ValueError(f"the pool has no `{name}`{without}. {like}{unseen}")
        if isinstance(self.pool, SlotSet):
            return self._place(name or self.pool.name_of(canonical), canonical), ""
        standard = cast("MoleculeSet", self.pool).standard_smiles(canonical)
        is_known = standard in self._id_of or not self._knows_tautomers
        known = [] if is_known else [text for text in tautomers(standard) if text in self._id_of]
        alike = [text for text in known if parent_of(text) == parent_of(standard)]
        if len(alike) > 1:
            names = " or ".join(f"`{self._id_of[text]}`" for text in alike)
            raise ValueError(f"{canonical} is a form of {names}. Give its id.")
        own = alike[0] if alike else standard
        is_other = own in self._id_of and not self._is_written(canonical, own)
        return self._place(name, own), canonical if is_other else ""

    def structure(self, identifier: str) -> str:
        """Return the SMILES of a molecule that was found, the slots of an action, or an empty text."""
        known = self.outside.get(identifier) or self._smiles_of.get(identifier, "")
        return known if isinstance(self.pool, MoleculeSet | SlotSet) else ""

    def _spell(self, written: str) -> str:
        """Return the canonical SMILES of a row, or its slots. Empty without any, and for other graphs."""
        if written and isinstance(self.pool, SlotSet):
            return self.pool.spell(written)
        if not written or not isinstance(self.pool, MoleculeSet):
            return ""
        if not (canonical := canonical_smiles(written, self.most_atoms)):
            raise ValueError(smiles_problem(written, self.most_atoms))
        return canonical

    def structures(self, ids: Collection[str]) -> dict[str, str]:
        """Return the structures of graphs that were found, by id."""
        outside = {key: text for key, text in self.outside.items() if key in ids}
        return self.index.structures(self.index.present(ids)) | outside

    def _compare(self, name: str, canonical: str) -> str:
        """Return the SMILES of a row if it differs from that of its name, but is accepted."""
        own = self._smiles_of[name]
        if not canonical or self._is_written(canonical, own):
            return ""
        if isinstance(self.pool, MoleculeSet) and parent_of(canonical) == parent_of(own):
            return canonical
        where = "in the pool" if self._id_of[own] in self.index.index_of else "as suggested"
        raise ValueError(f"`{name}` is {own} {where}, and {canonical} here. If the id is right, leave the SMILES out.")

    def _is_written(self, canonical: str, own: str) -> bool:
        """Return True if a SMILES is that of a known molecule, or of a form of it in the pool."""
        return canonical == own or canonical in self._written.get(own, ())

    def _place(self, name: str, canonical: str) -> str:
        """Return the id of a molecule, and add it to `outside` if it is not in the pool."""
        identifier = self._id_of.get(canonical, name or canonical)
        self._id_of.setdefault(canonical, identifier)
        if identifier not in self.index.index_of and self.outside.setdefault(identifier, canonical) != canonical:
            raise ValueError(f"`{identifier}` is {self.outside[identifier]} above, and {canonical} here.")
        return identifier


def match_rows(
    rows_by_goal: Mapping[str, Iterable[MeasuredRow]],
    matcher: Matcher | None,
    columns: Sequence[str] = (),
    several: bool = False,
    sources: Mapping[str, str] | None = None,
) -> Matched:
    """Find the graph of each row. A name refers to the same graph for all goals.

    Args:
        rows_by_goal: rows from `ResultTables.read`, by the name of the goal.
        matcher: finds the graph of a row. None if all rows have ids of known graphs.
        columns: the user's own columns, with a value in each row.
        several: True to keep results by goal.
        sources: name of each table in the campaign, by its path. Other sources are `TYPED`.

    Raises:
        BadResultsError: a ValueError that lists the rows whose graph is not found.
    """
    results, forms, problems = list[Result](), dict[str, str](), dict[str, None]()
    words, places = dict[tuple[str, str], tuple[str, str]](), set[tuple[str, str, str]]()
    known: dict[str, dict[str, list[float]]] = {}
    for name, rows in rows_by_goal.items():
        goal = name * several
        for row in rows:
            try:
                identifier, other = matcher.find(row) if matcher else (row.identifier, "")
            except ValueError as error:
                problems[f"{row.where}: {error}"] = None
                continue
            source = (sources or {}).get(row.table, TYPED)
            places.add((source, identifier, goal))
            forms |= {identifier: other} if other else {}
            for column, number in zip(columns, row.features, strict=False):
                if not math.isnan(number):
                    known.setdefault(identifier, {}).setdefault(column, []).append(number)
            if isinstance(row.value, str):
                words[identifier, goal] = row.value, source
            else:
                results.append(Measurement(identifier, row.value, 0, row.side, goal, row.noise, (source,)))
    if problems:
        raise BadResultsError(list(problems))
    results += [
        Failure(key, goal=goal, sources=(source,)) for (key, goal), (word, source) in words.items() if word == "failed"
    ]
    pending = dict.fromkeys(key for (key, _), (word, _) in words.items() if word == "pending")
    return Matched(
        results=tuple(results),
        pending=tuple(pending),
        rows=frozenset(places),
        structures=matcher.structures(dict.fromkeys(each.id for each in results)) if matcher else {},
        outside=frozenset(matcher.outside if matcher else ()),
        forms=forms,
        features={key: {column: fmean(given) for column, given in by.items()} for key, by in known.items()},
    )
