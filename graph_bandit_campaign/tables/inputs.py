"""Read the tables of `suggest`: a pool to choose from, and results."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Generic, TypeVar

import numpy as np

from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.goals.goal import Goal, check_goals
from graph_bandit_campaign.goals.names import spell
from graph_bandit_campaign.limits.limits import Limits
from graph_bandit_campaign.limits.names import find_column, find_identifier
from graph_bandit_campaign.limits.properties import find_property
from graph_bandit_campaign.limits.selection import Selection
from graph_bandit_campaign.limits.wishes import Requirement
from graph_bandit_campaign.plates import Plate
from graph_bandit_campaign.plates.choice import ShortListEndedError
from graph_bandit_campaign.plates.offers import find_offer_columns, find_offers
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.tables.books import Books, join_books, match_goals
from graph_bandit_campaign.tables.features import Features
from graph_bandit_campaign.tables.limit_columns import read_limit_columns, read_other_columns
from graph_bandit_campaign.tables.measured_rows import (
    Columns,
    NoResultsError,
    Results,
    find_tables,
    read_headers,
    read_measured,
    sheet_remarks,
)
from graph_bandit_campaign.tables.memory import Budget
from graph_bandit_campaign.tables.parents import Parents
from graph_bandit_campaign.traits.kept import reads_graphs
from graph_bandit_env import GraphPool, MoleculeSet, canonical_smiles, from_smiles, from_smiles_csv
from graph_bandit_env.pools import Forms
from graph_bandit_env.tables import Table, TooManyRowsError, open_table

P_co = TypeVar("P_co", bound=GraphPool, covariant=True)


@dataclass(frozen=True)
class Inputs(Generic[P_co]):
    """A pool and its results."""

    pool: P_co
    """Molecules or other graphs to choose from."""
    books: Books
    """The results."""
    molecules: P_co
    """The graphs of the pool, then the molecules that are measured or pending and are not in it."""
    sheets: list[str]
    """Remarks on the sheets that were read, if a workbook has several."""
    features: list[str]
    """The user's own columns of all molecules, and for how many each is not known."""
    limits: Limits
    """Limits on what may be suggested."""
    selection: Selection
    """The molecules of the pool that meet them, and whose price is known if there are prices."""
    plate: Plate
    """Prices, budget and caps of the molecules."""
    goals: tuple[Goal, ...] = ()
    """What is wanted of each measured quantity, limits included; empty with one goal."""
    size: int = 0
    """How many molecules there are to choose from, if `pool` holds the most promising ones alone; 0: it holds all."""
    told: str = ""
    """How many molecules limits leave, then."""
    content: Sequence[object] = ()
    """What tells the pool, prices and caps from others, then; the same whichever molecules `pool` holds."""
    more: Callable[[ShortListEndedError, Sequence[int]], Inputs[P_co]] | None = None
    """Returns the same with the next short list of the pool, then. It is given the indices of molecules of `pool` that
    are measured, pending or failed."""
    predictions: Callable[..., Iterable[bytes]] | None = None
    """Given campaign and answer, returns the table of `predictions_table` for all of the pool, then."""
    others: Callable[[Sequence[str]], Mapping[str, Sequence[str]]] | None = None
    """Returns the texts of the pool's other columns for molecules of some ids; None: graphs have no columns."""

    def describe_limits(self) -> str:
        """Say how many molecules the limits leave; an empty text without limits."""
        return self.told if self.size else self.selection.describe()

    def check_left(self, count: int, taken: Sequence[int], may_be_fewer: bool) -> None:
        """Refuse to choose more molecules than the limits leave.

        Args:
            count: how many are to be chosen.
            taken: indices of molecules of `pool` that are measured, pending or failed.
            may_be_fewer: whether a budget may end the batch before.

        Raises:
            ValueError: if fewer are left.
        """
        if not self.size:
            self.selection.check_left(count, taken)
            return
        left = int(np.delete(self.selection.mask, list(taken)).sum())
        if left < (1 if may_be_fewer else count):
            raise ValueError(
                f"Expected at least {count} molecules to suggest. {left} are left that meet the limits, and are not "
                f"measured, pending or failed. {self.told} Loosen or leave out a limit, or suggest fewer (on the "
                "command line --n)."
            )

    def conditions(self) -> list[object]:
        """Return what limits, prices and caps say, for digests."""
        if self.content:
            return [self.limits.content(), *self.content]
        mask = hashlib.sha256(self.selection.mask.tobytes()).hexdigest()
        return ([self.limits.content(), mask] if len(self.limits) else []) + self.plate.content()

    def remarks(self) -> list[str]:
        """Return remarks about the tables, for people."""
        merged, skipped = getattr(self.pool, "merged", 0), getattr(self.pool, "skipped", ())
        remarks = [f"{merged} rows of equal molecules merged"] * bool(merged)
        written = dict(getattr(self.pool, "written", {}))
        remarks += [f"{len(written)} salts or charged molecules described by their parent"] * bool(written)
        remarks += [f"{self.books.repeated} repeated results left out"] * bool(self.books.repeated)
        remarks += [f"{len(skipped)} bad rows left out"] * bool(skipped)
        return remarks + self.sheets


def read_inputs(
    settings: SuggestSettings, earlier: CampaignState | None = None, agents: Sequence[str | None] = ()
) -> Inputs[MoleculeSet]:
    """Read pool and results.

    Args:
        settings: settings of the command.
        earlier: state of the campaign; its pending molecules are kept when they have left the pool.
        agents: agents that will read the molecules, if not that of the settings; how much memory a pool may need
            depends on them.

    Raises:
        ValueError, OSError: if a table cannot be read, the pool does not fit into memory, or it gives the id of a
            molecule that was suggested to another one.
        ImportError: if a package that reads a table is not installed.
    """
    features = Features(settings.feature_columns, settings.embeddings, settings.quantities)
    with open_table(settings.pool, settings.sheet) as table:
        alike = [name for name in table.columns if name.casefold() == settings.smiles.casefold()]
        smiles = settings.smiles if settings.smiles in table.columns or len(alike) != 1 else alike[0]
        identifier = find_identifier(settings.id, table.columns, str(table.path))
        columns = Columns(settings.target, identifier, smiles, features.columns, settings.noise)
        limits, goals = split_limits(settings, table, earlier)
        if goals and settings.noise:
            raise ValueError("Expected `--noise` with one goal, whose values it is the noise of. Got several.")
        of_results = read_headers(settings.measured, settings.measured_sheet) if len(limits) else {}
        numbers, texts = limits.find_columns(table.columns, str(table.path), chain(*of_results.values()))
        prices, groups = find_offer_columns(settings, table.columns, str(table.path))
        results = read_results(settings, columns, goals)
        count = sum(len(each.rows) for each in results.values())
        graphs = any(map(reads_graphs, agents or (settings.agent,)))
        pool = _read_pool(table, columns, Budget(count, features.count, graphs), settings)
        left_out = set[str]()
        if [path.resolve() for path in settings.measured] == [settings.pool.resolve()]:  # left out once is left out
            left_out = {table.place(number) for number, _ in pool.skipped}
        remarks = dict.fromkeys(remark for each in results.values() for remark in each.remarks)
        sheets = [*sheet_remarks(table, settings.sheet, "--sheet"), *remarks]
    structures = structures_of(earlier, pool, settings)
    rows_by_goal = {name: [row for row in each.rows if row.place not in left_out] for name, each in results.items()}
    by_goal = match_goals(rows_by_goal, pool, structures, settings.trust_ids, settings.most_atoms)
    books = join_books(by_goal) if goals else by_goal[settings.target]
    outside, molecules = outsiders(earlier, structures, pool, books), pool
    if outside:
        molecules = pool.join(read_outside(outside, settings.most_atoms, pool.forms))
    molecules = features.add_to(molecules, books.features)
    cells = read_limit_columns(settings, columns, pool, numbers | prices, texts | groups)
    selection = limits.select_rows(pool.smiles, cells, settings.processes).organic(pool.smiles)
    offers = find_offers(settings, cells, selection, pool.smiles)
    selection = selection.with_known(settings.price or "", offers.priced)
    described, plate = features.describe(molecules), offers.plate(settings, len(molecules))
    others = partial(read_other_columns, settings, columns, pool)
    return Inputs(pool, books, molecules, sheets, described, limits, selection, plate, goals, others=others)


def split_limits(
    settings: SuggestSettings, table: Table, earlier: CampaignState | None
) -> tuple[Limits, tuple[Goal, ...]]:
    """Return the limits that are known of each molecule, and the goals with those limits that have to be measured.

    A limit is on a measured quantity if neither the pool has a column of its name, nor is there a property of it, and a
    table of results has it. With one goal and no such limit there are no goals.
    """
    known, measured = [], []
    headers = read_headers(settings.measured, settings.measured_sheet).values() if settings.require else ()
    for limit in map(Requirement.parse, settings.require):
        here = find_column(limit.name, filter(None, table.columns), str(table.path)) or find_property(limit.name)
        found = () if here else find_tables(settings.measured, [limit.name], settings.measured_sheet)[limit.name]
        if found:
            measured.append(Goal(spell(limit.name, earlier, headers), "limit", *limit.ends, limit.strict))
        else:
            known.append(limit.text)
    goals = (*settings.goals, *measured)
    several = len(goals) > 1 or goals[0].aim == "target"
    return Limits(known, settings.forbid, settings.only), check_goals(goals) if several else ()


def read_results(settings: SuggestSettings, columns: Columns, goals: Sequence[Goal]) -> dict[str, Results]:
    """Return the rows of results of each goal, by its name; a table may lack some of the columns.

    Raises:
        ValueError, OSError, ImportError: as `read_measured`, or if no table has a column, or no row a value.
    """
    nothing = Results([], [])
    if not settings.measured:
        return dict.fromkeys([goal.name for goal in goals] or [columns.value], nothing)
    if not goals:
        return {columns.value: read_measured(settings.measured, columns, settings.measured_sheet)}
    tables = find_tables(settings.measured, [goal.name for goal in goals], settings.measured_sheet)
    results = {}
    for name, paths in tables.items():
        try:  # without a table that has it, the first one says which columns there are
            given = paths or settings.measured[:1]
            results[name] = read_measured(given, replace(columns, value=name), settings.measured_sheet)
        except NoResultsError:
            results[name] = nothing
    unused = set(settings.measured).difference(*tables.values())
    if unused:
        raise ValueError(
            f"Expected a column of one of the goals in each table. {min(unused)} has none of {', '.join(tables)}."
        )
    if not any(each.rows for each in results.values()):
        raise NoResultsError(
            f"Expected at least one value in the columns {', '.join(tables)}. Got none. Leave out `--measured` to get "
            "a first batch, suggested from the structures alone."
        )
    return results


def outsiders(
    earlier: CampaignState | None, structures: Mapping[str, str], pool: MoleculeSet, books: Books
) -> dict[str, str]:
    """Return canonical SMILES of the molecules that are measured or pending and not in the pool, by id.

    Args:
        earlier: state of the campaign.
        structures: canonical SMILES of the molecules known so far, by id.
        pool: the pool.
        books: the results.
    """
    known, outside = {*pool.smiles, *books.outside.values()}, dict(books.outside)
    for identifier in earlier.pending if earlier else ():
        if identifier in structures and structures[identifier] not in known:
            outside[identifier] = structures[identifier]
    return outside


def read_outside(outside: Mapping[str, str], most_atoms: int, forms: Forms) -> MoleculeSet:
    """Return the molecules of `outsiders`, described as those of the pool are.

    Args:
        outside: canonical SMILES by id.
        most_atoms: how many atoms a molecule may have.
        forms: those of the pool.
    """
    return from_smiles(list(outside.values()), ids=list(outside), most_atoms=most_atoms, forms=forms)


def structures_of(earlier: CampaignState | None, pool: MoleculeSet, settings: SuggestSettings) -> dict[str, str]:
    """Return the canonical SMILES of the molecules known so far; refuse a pool that gives their ids to others."""
    known = earlier.structures.items() if earlier else ()
    structures = {
        identifier: pool.standard_smiles(canonical_smiles(text, settings.most_atoms) or text)
        for identifier, text in known
    }
    parents = Parents([])
    for identifier, text in zip(pool.ids, pool.smiles, strict=True):
        before = structures.get(identifier, text)
        if text != before:
            if not settings.trust_ids and not parents.are_equal(text, before):
                raise ValueError(
                    f"Expected `{identifier}` to be {before}, as in earlier rounds. The pool has {text}. Correct the "
                    "pool; pass --trust-ids if it was corrected; or use another --out to start a new campaign."
                )
            structures[identifier] = text
    return structures


def _read_pool(table: Table, columns: Columns, budget: Budget, settings: SuggestSettings) -> MoleculeSet:
    try:
        return from_smiles_csv(
            table,
            columns.smiles,
            identifier=columns.identifier,
            on_error="skip" if settings.skip_bad_rows else "raise",
            workers=settings.processes,
            most_rows=budget.most_rows,
            most_atoms=settings.most_atoms,
            columns=columns.features,
            forms=settings.forms,
        )
    except TooManyRowsError as error:
        raise ValueError(budget.refusal(table.path, error.count)) from error
