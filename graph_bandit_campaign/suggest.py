"""`graph-bandit suggest`: which molecules of a table to measure next."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

import registry
from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.pages.neighbours import Neighbour, nearest_measured
from graph_bandit_campaign.pages.suggest_page import PageContent, render_page
from graph_bandit_campaign.state import CampaignState, Measurement, Suggestion
from graph_bandit_campaign.tables.books import Books, far_from_others, match_rows
from graph_bandit_campaign.tables.measured_rows import Columns, read_header, read_measured
from graph_bandit_campaign.tables.memory import check_memory, count_rows
from graph_bandit_lab.reports.tables import print_columns
from graph_bandit_lab.storage.files import make_folder, replace_file

NEIGHBOURS = 3
MANY = 10_000  # rows, which more processes read sooner than one, the time to start them included
CHOICE = " Mean and sd are of every molecule; the choice is among the short list of largest mean + 2 sd."


@dataclass(frozen=True)
class SuggestSettings:
    """Suggest which molecules of a table to measure next, from those that were measured."""

    pool: tyro.conf.Positional[Path]
    """Table of molecules to choose from: .csv, .tsv or .smi (each also .gz), or .parquet."""
    out: Path
    """CSV file of the suggestions, which is replaced. What was suggested before is kept beside it."""
    measured: tuple[Path, ...] = ()
    """Tables of results; molecules that the pool does not hold teach too. Without any, a first batch is suggested from
    what the molecules look like alone."""
    n: int = 8
    """How many to suggest."""
    maximize: str | None = None
    """Column of the measured values, of which large ones are wanted: a number, `failed`, `pending` or nothing."""
    minimize: str | None = None
    """The same, if small ones are wanted."""
    smiles: str = "smiles"
    """Column of the SMILES, in pool and results."""
    id: str | None = None
    """Column of the names, in pool and results; None: `id`, where the pool has such a column."""
    html: Path | None = None
    """Page of drawn structures and of the progress of the campaign."""
    agent: str = "molecule-ucb"
    """Agent that chooses, with settings after a colon: molecule-ts, molecule-greedy, molecule-ucb:networks=3."""
    seed: int = 0
    """Seed of all randomness."""
    undo: bool = False
    """Take the last round back first, as if it had not been suggested."""
    forget: bool = False
    """Go on although results of earlier rounds are not in the tables any more."""
    again: bool = False
    """Suggest those again that were suggested before and have no result; else they count as being measured."""
    skip_bad_rows: bool = False
    """Leave out rows of the pool that are no molecules."""

    def __post_init__(self) -> None:
        if (self.maximize is None) == (self.minimize is None):
            raise ValueError("Expected one of `--maximize COLUMN` and `--minimize COLUMN`.")
        if self.n < 1:
            raise ValueError(f"Expected `--n` to be at least 1. Got {self.n}.")
        paths = [path.resolve() for path in (self.pool, *self.measured)]
        for name, path in (("out", self.out), ("html", self.html)):
            if path is not None and path.resolve() in paths:
                raise ValueError(f"Expected `--{name}` to be another file than the others. Got {path}.")
            paths += [] if path is None else [path.resolve()]

    @property
    def target(self) -> str:
        """Return the column of the measured values."""
        return self.maximize or self.minimize or ""

    @property
    def state(self) -> Path:
        """Return the file of the campaign."""
        return self.out.with_name(self.out.stem + ".campaign.json")


def suggest(settings: SuggestSettings) -> tuple[Suggestion, ...]:
    """Read pool and results, choose, and write suggestions, campaign and page.

    Results are read anew each time, so that a table may be mended. The same command with the same results gives the
    same suggestions; with other results it is another round.

    Raises:
        ValueError, OSError: if something cannot be read; nothing is written then.
    """
    header = read_header(settings.pool)
    identifier = settings.id or _column_of_names(settings.pool, header)
    alike = [name for name in header if name.casefold() == settings.smiles.casefold()]
    smiles = settings.smiles if settings.smiles in header or len(alike) != 1 else alike[0]
    check_memory(settings.pool, settings.measured)
    pool = registry.read_molecules(
        settings.pool,
        smiles,
        identifier,
        on_error="skip" if settings.skip_bad_rows else "raise",
        workers=len(os.sched_getaffinity(0)) if count_rows(settings.pool) > MANY else 1,
    )
    books = Books()
    if settings.measured:
        columns = Columns(settings.target, identifier, smiles)
        books = match_rows(read_measured(settings.measured, columns), pool, registry.canonical_smiles)
    molecules = pool
    if books.outside:
        molecules = pool.join(registry.make_molecules(list(books.outside.values()), list(books.outside)))
    make_folder(settings.out.parent)
    campaign = Campaign(
        molecules,
        settings.agent,
        maximize=settings.maximize is not None,
        seed=settings.seed,
        target=settings.target,
        state=settings.state,
        offered=np.arange(len(molecules)) < len(pool),
    )
    with campaign.at_once():
        question = _enter(campaign, books, settings)
        suggested = campaign.ask(settings.n, question)
    smiles_of = dict(zip(molecules.ids, molecules.smiles, strict=True))
    near = _neighbours(suggested, campaign.state, smiles_of)
    replace_file(settings.out, _to_csv(settings.target, suggested, smiles_of, near).encode())
    if settings.html is not None:
        content = PageContent(settings.target, len(pool), campaign.state, suggested, near, smiles_of)
        make_folder(settings.html.parent)
        replace_file(settings.html, render_page(content).encode())
    _print(settings, pool, books, campaign, suggested)
    return suggested


def _column_of_names(pool: Path, header: Sequence[str]) -> str | None:
    return "id" if "id" in header or pool.name.lower().endswith((".smi", ".smi.gz")) else None


def _enter(campaign: Campaign, books: Books, settings: SuggestSettings) -> str:
    """Take over the results, and what was suggested before and has none yet; return what identifies the question."""
    asked = (sorted(books.measured), books.failed, books.pending, settings.n, settings.agent, settings.again)
    question = hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:16]
    if settings.undo or question == campaign.state.question:
        campaign.undo_ask()  # the same command with the same results: the same answer, not another round
    known = campaign.state
    lost = sorted({one.id for one in known.measured} - {identifier for identifier, _ in books.measured})
    if lost and not settings.forget:
        raise ValueError(
            f"Expected the results of earlier rounds in the tables again. Missing: {_listed(lost)}. Give all tables "
            "with --measured, or --forget to go on without these."
        )
    first_told = {one.id: one.round for one in reversed(known.measured)}
    measured = [
        Measurement(identifier, value, first_told.get(identifier, len(known.rounds)))
        for identifier, value in sorted(books.measured)
    ]
    settled = {one.id for one in measured} | set(books.failed)
    waiting = [key for key in known.pending if key in campaign.ids and key not in settled]
    pending = dict.fromkeys((*books.pending, *(() if settings.again else waiting)))
    campaign.replace_results(measured, books.failed, pending)
    return question


def _neighbours(
    suggested: tuple[Suggestion, ...], state: CampaignState, smiles_of: dict[str, str]
) -> dict[str, list[Neighbour]]:
    return nearest_measured([one.id for one in suggested], state.means(), smiles_of, NEIGHBOURS)


def _to_csv(
    target: str, suggested: tuple[Suggestion, ...], smiles_of: dict[str, str], near: dict[str, list[Neighbour]]
) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = ["rank", "id", "smiles", f"predicted_{target}", "standard_deviation", "probability_of_beating_best"]
    for number in range(1, NEIGHBOURS + 1):
        columns += [f"nearest_{number}", f"nearest_{number}_similarity", f"nearest_{number}_{target}"]
    writer.writerow(columns)
    for rank, one in enumerate(suggested, start=1):
        cells: list[Any] = [rank, one.id, smiles_of[one.id], *map(_short, (one.mean, one.std, one.probability))]
        for neighbour in near[one.id]:
            cells += [neighbour.id, _short(neighbour.similarity), _short(neighbour.value)]
        writer.writerow(cells + [""] * (len(columns) - len(cells)))
    return text.getvalue()


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(names[:10]) + more


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _print(
    settings: SuggestSettings, pool: Any, books: Books, campaign: Campaign, suggested: tuple[Suggestion, ...]
) -> None:
    """Say what was known, what is suggested, and where it is written."""
    state = campaign.state
    asked_now = {one.id for one in suggested}
    waiting = [key for key in state.pending if key not in asked_now]
    outside = len({one.id for one in state.measured} - set(pool.ids))
    parts = [f"{len(pool):,} molecules", f"{len(state.measured):,} measurements"]
    parts += [f"{pool.merged} rows of equal molecules merged"] * bool(pool.merged)
    parts += [f"{outside} measured molecules outside the pool"] * bool(outside)
    parts += [f"{books.repeated} results given twice taken once"] * bool(books.repeated)
    parts += [f"{len(pool.skipped)} bad rows left out"] * bool(pool.skipped)
    parts += [f"{len(state.failed)} failed"] * bool(state.failed)
    best = "" if campaign.best is None else f"; best {settings.target} so far {campaign.best:.4g}"
    print(f"{', '.join(parts)}{best}.")
    if waiting:
        print(
            f"Still without a result, so taken as being measured: {_listed(waiting)}. (Write `failed` for those that "
            "will have none; --again suggests again what the tables do not call pending.)"
        )
    for identifier, value in far_from_others(state.means()):
        print(f"Look at {identifier}: {value:.4g} is far from all other results.")
    predicts = suggested[0].mean is not None
    choice = CHOICE if predicts else " No predictions: the agent makes none, or no two results differ yet."
    print(f"\nRound {len(state.rounds)}, by {state.agent}.{choice}\n")
    rows: list[tuple[str, ...]] = [("rank", "id", settings.target, "sd", "beats the best")]
    for rank, one in enumerate(suggested, start=1):
        beats = "" if one.probability is None else f"{one.probability:.0%}"
        rows.append((str(rank), one.id, _short(one.mean), _short(one.std), beats))
    print_columns(rows)
    print("\n" + "\n".join(str(path) for path in (settings.out, settings.html) if path is not None))
