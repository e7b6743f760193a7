"""Prepare a pool: compute its parts in parallel, then merge equal molecules, and write the manifest last."""

from __future__ import annotations

import atexit
import hashlib
import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Never

from filelock import FileLock
from tqdm import tqdm

from graph_bandit_campaign.pool.prepared.making.folder import Folder, describe_kept
from graph_bandit_campaign.pool.prepared.making.merging import merge
from graph_bandit_campaign.pool.prepared.making.source import Source
from graph_bandit_campaign.pool.prepared.making.work import make_part, software
from graph_bandit_campaign.pool.prepared.manifest import (
    BAD_ROWS,
    FORMAT,
    MANIFEST,
    Manifest,
    Question,
    TableFile,
    part_name,
    write_json,
)
from graph_bandit_campaign.pool.prepared.pool import PreparedPool
from graph_bandit_campaign.pool.prepared.settings import PrepareSettings
from graph_bandit_campaign.pool.source import Source as PoolSource
from graph_bandit_campaign.workers import results_of
from graph_bandit_env.extras import require
from graph_bandit_env.pools import BadRowsError
from graph_bandit_env.storage import make_room, open_cache
from graph_bandit_env.tables import describe_shared, refuse_differing
from graph_bandit_lab.execution import choose_workers
from graph_bandit_lab.storage import sole_driver

FEW = 5_000  # rows; fewer are read by this process itself, before others have started
KEPT = (
    "Finished parts are kept: give the same command again, with fewer --workers, or with a lower --most-atoms in a new "
    "folder."
)


def prepare(settings: PrepareSettings) -> PreparedPool:
    """Prepare a pool of molecules, or continue where an interruption left it.

    What is prepared depends on the table and the settings alone, not on workers and interruptions.

    Returns:
        The pool.

    Raises:
        ValueError: if the table cannot be read or has no molecule, the folder holds something else, or rows of one
            molecule differ and nobody said why.
        FileNotFoundError: if there is no such table.
        ImportError: if RDKit, pyarrow, DuckDB, or the package that reads the table is not installed.
        ChildProcessError: an OSError, if two workers die over the same part.
        OSError: if a file cannot be written, as on a full disk. Finished parts stay.
        KeyboardInterrupt: after Ctrl-C; it says how much is stored.
    """
    source = read_source(settings)
    for remark in source.remarks:
        print(f"{remark[:1].upper()}{remark[1:]}.")
    try:
        pool, was_finished = make_pool(settings, source, *source.digest())
    except KeyboardInterrupt:
        raise KeyboardInterrupt(describe_kept(settings.out)) from None
    print(f"{settings.out}{' is finished already' * was_finished}: {_describe(pool.manifest)}.")
    return pool


def open_table_pool(source: PoolSource, stereo: bool = False) -> tuple[PreparedPool, list[str]]:
    """Prepare a table into the cache folder, unless that was done before, and open it.

    Args:
        source: the table, and how it is read.
        stereo: whether fingerprints tell stereoisomers apart.

    Returns:
        The pool, and remarks on sheets.

    Raises:
        BadRowsError: a ValueError, if there are rows that cannot be read, and they are not to be left out.
        ValueError, OSError, ImportError: as `prepare`.
    """
    cache = open_cache()
    if cache is None:
        cache = Path(mkdtemp())
        atexit.register(shutil.rmtree, cache, ignore_errors=True)
    settings = PrepareSettings(
        source.path,
        cache,
        source.smiles,
        source.identifier,
        source.sheet,
        stereo=stereo,
        most_atoms=source.most_atoms,
        salts=source.salts,
        entry_column=source.entry_columns,
        part_rows=2 * PrepareSettings.block,  # so that all processes have something to do
        workers=source.workers,
    )
    table = read_source(settings)
    files, rows = table.digest()
    question = ask(settings, table, files)
    name = hashlib.sha256(json.dumps([question.key, *source.entry_columns]).encode()).hexdigest()
    workers = None if rows < FEW else source.workers
    settings = replace(settings, out=cache / f"{name}.pool", ignore_column=table.columns, workers=workers)
    with FileLock(settings.out.with_suffix(".lock")):  # another process may prepare the same table: it is waited for
        if (settings.out / MANIFEST).is_file():
            try:
                PreparedPool.open(settings.out)
            except ValueError:  # damaged
                shutil.rmtree(settings.out)
        pool, _ = make_pool(settings, table, files, rows)
    settings.out.touch()
    make_room(cache)
    if pool.manifest.bad and not source.skip_bad_rows:
        raise BadRowsError(str(source.path), question.unit, [(row, text) for _, row, text in pool.read_bad_rows()])
    return pool, [*table.remarks, *describe_shared(pool.manifest.shared)]


def read_source(settings: PrepareSettings) -> Source:
    """Open the tables of a pool."""
    for module in ("rdkit", "pyarrow", "duckdb"):
        require(module, "Preparing a pool")
    return Source(settings)


def make_pool(
    settings: PrepareSettings, source: Source, files: tuple[TableFile, ...], rows: float
) -> tuple[PreparedPool, bool]:
    """Make what is missing of a pool; return it, and whether nothing was."""
    question = ask(settings, source, files)
    folder = Folder(settings.out, question)  # refuses other folders before a lock is put into them
    with sole_driver(settings.out):
        folder = Folder(settings.out.resolve(), question)  # workers may be in other folders
        if folder.finished is not None:
            if missing := [name for name in settings.entry_column if name not in folder.finished.entry]:
                raise ValueError(
                    f"Expected `{missing[0]}` to be part of the entries of {settings.out}, which is finished. Choose "
                    "another --out."
                )
            folder.end()
            return PreparedPool.open(settings.out), True
        folder.begin()
        manifest = merge(folder, _make_parts(folder, source, settings, rows), settings.entry_column)
        refuse_differing(manifest.differing, settings.ignore_column, str(settings.pool))
        if not manifest.molecules:
            problems = [(row, text) for _, row, text in PreparedPool(settings.out, manifest).read_bad_rows()]
            raise BadRowsError(str(settings.pool), question.unit, problems)
        write_json(settings.out / MANIFEST, manifest)
        folder.end()
    return PreparedPool.open(settings.out), False


def ask(settings: PrepareSettings, source: Source, files: tuple[TableFile, ...]) -> Question:
    """Return what is prepared: the table, and all settings on which the pool depends."""
    return Question(
        format=FORMAT,
        files=files,
        unit=source.unit,
        decimal=source.decimal,
        smiles=source.smiles,
        identifier=source.identifier,
        is_guessed=source.is_guessed,
        sheet=settings.sheet,
        columns=source.columns,
        traits=settings.traits,
        stereo=settings.stereo,
        most_atoms=settings.most_atoms,
        salts=settings.salts,
        part_rows=settings.part_rows,
        block=settings.block,
        versions=software(),
    )


def _make_parts(folder: Folder, source: Source, settings: PrepareSettings, rows: float) -> int:
    """Compute the parts that are not finished yet; return how many there are.

    Raises:
        ValueError: if the table is damaged, or changes while it is read.
    """
    open_workers, _ = choose_workers(settings.workers, settings.scheduler)
    bar: tqdm[Never] = tqdm(total=round(rows), unit="row", unit_scale=True, disable=None, smoothing=0, file=sys.stderr)
    count = 0

    def missing() -> Iterator[tuple[object, ...]]:
        nonlocal count
        for chunk in source.chunks(settings.part_rows):
            source.check_unchanged(folder.question.files)  # so all that was read is of the same table
            count += 1
            if folder.is_done(chunk.number):
                bar.update(len(chunk) + len(chunk.problems))
                bar.initial = bar.n  # the speed is that of what is computed now
            else:
                yield chunk.number, chunk.to_bytes(), chunk.problems, folder.question

    with bar:
        work = partial(make_part, folder.path)
        for done in results_of(open_workers(), work, missing(), lambda number, *_: part_name(number), KEPT):
            bar.update(done)
    return count


def _describe(manifest: Manifest) -> str:
    bad = f", {manifest.bad:,} bad rows left out ({BAD_ROWS})" if manifest.bad else ""
    merged = f", {manifest.merged:,} rows of equal molecules merged" if manifest.merged else ""
    name = manifest.question.identifier
    named = f"named by `{name}`" if name else "named by their SMILES, since the table has no names"
    named += f", with {', '.join(manifest.entry)} as part of each entry" * bool(manifest.entry)
    parts = f"{len(manifest.parts)} parts" if len(manifest.parts) > 1 else "1 part"
    shared = "".join(f", {remark}" for remark in describe_shared(manifest.shared))
    return f"{manifest.molecules:,} molecules in {parts}, {named}{shared}{merged}{bad}"
