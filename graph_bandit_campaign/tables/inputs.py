"""Read the tables of `suggest`: a pool to choose from, and results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.limits.limits import Limits
from graph_bandit_campaign.limits.selection import Selection
from graph_bandit_campaign.plates import Plate
from graph_bandit_campaign.plates.offers import find_offer_columns, find_offers
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.tables.books import Books, match_rows
from graph_bandit_campaign.tables.features import Features
from graph_bandit_campaign.tables.limit_columns import read_limit_columns
from graph_bandit_campaign.tables.measured_rows import Columns, Results, read_measured, sheet_remarks
from graph_bandit_campaign.tables.memory import Budget
from graph_bandit_campaign.tables.parents import Parents
from graph_bandit_env import GraphPool, MoleculeSet, canonical_smiles, from_smiles, from_smiles_csv
from graph_bandit_env.tables import Table, TooManyRowsError, open_table
from graph_bandit_lab import count_cores

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

    def remarks(self) -> list[str]:
        """Return remarks about the tables, for people."""
        merged, skipped = getattr(self.pool, "merged", 0), getattr(self.pool, "skipped", ())
        remarks = [f"{merged} rows of equal molecules merged"] * bool(merged)
        remarks += [f"{self.books.repeated} repeated results left out"] * bool(self.books.repeated)
        remarks += [f"{len(skipped)} bad rows left out"] * bool(skipped)
        return remarks + self.sheets


def read_inputs(settings: SuggestSettings, earlier: CampaignState | None = None) -> Inputs[MoleculeSet]:
    """Read pool and results.

    Args:
        settings: settings of the command.
        earlier: state of the campaign; its pending molecules are kept when they have left the pool.

    Raises:
        ValueError, OSError: if a table cannot be read, the pool does not fit into memory, or it gives the id of a
            molecule that was suggested to another one.
        ImportError: if a package that reads a table is not installed.
    """
    limits = Limits(settings.require, settings.forbid, settings.only)
    features = Features(settings.feature_columns, settings.embeddings, settings.target)
    with open_table(settings.pool, settings.sheet) as table:
        alike = [name for name in table.columns if name.casefold() == settings.smiles.casefold()]
        smiles = settings.smiles if settings.smiles in table.columns or len(alike) != 1 else alike[0]
        identifier = settings.id or ("id" if "id" in table.columns else None)
        columns = Columns(settings.target, identifier, smiles, features.columns)
        numbers, texts = limits.find_columns(table.columns, str(table.path))
        prices, groups = find_offer_columns(settings, table.columns, str(table.path))
        results = Results([], [])
        if settings.measured:
            results = read_measured(settings.measured, columns, settings.measured_sheet)
        pool = _read_pool(table, columns, Budget(len(results.rows), features.count), settings)
        rows = results.rows
        if [path.resolve() for path in settings.measured] == [settings.pool.resolve()]:  # left out once is left out
            left_out = {table.place(number) for number, _ in pool.skipped}
            rows = [row for row in rows if row.place not in left_out]
        sheets = sheet_remarks(table, settings.sheet, "--sheet") + results.remarks
    structures = _structures_of(earlier, pool, settings)
    books = match_rows(rows, pool, structures, settings.trust_ids, settings.most_atoms)
    known, outside = {*pool.smiles, *books.outside.values()}, dict(books.outside)
    for identifier in earlier.pending if earlier else ():
        if identifier in structures and structures[identifier] not in known:
            outside[identifier] = structures[identifier]
    molecules = pool
    if outside:
        molecules = pool.join(from_smiles(list(outside.values()), ids=list(outside), most_atoms=settings.most_atoms))
    molecules = features.add_to(molecules, books.features)
    cells = read_limit_columns(settings, columns, pool, numbers | prices, texts | groups)
    selection = limits.select_rows(pool.smiles, cells, count_cores())
    offers = find_offers(settings, cells, selection, pool.smiles)
    selection = selection.with_known(settings.price or "", offers.priced)
    described, plate = features.describe(molecules), offers.plate(settings, len(molecules))
    return Inputs(pool, books, molecules, sheets, described, limits, selection, plate)


def _structures_of(earlier: CampaignState | None, pool: MoleculeSet, settings: SuggestSettings) -> dict[str, str]:
    """Return the canonical SMILES of the molecules known so far; refuse a pool that gives their ids to others."""
    known = earlier.structures.items() if earlier else ()
    structures = {identifier: canonical_smiles(text, settings.most_atoms) or text for identifier, text in known}
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
            workers=count_cores(),
            most_rows=budget.most_rows,
            most_atoms=settings.most_atoms,
            columns=columns.features,
        )
    except TooManyRowsError as error:
        raise ValueError(budget.refusal(table.path, error.count)) from error
