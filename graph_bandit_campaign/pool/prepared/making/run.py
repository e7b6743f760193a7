"""Prepare a pool: compute its parts in parallel, then merge equal molecules, and write the manifest last."""

from __future__ import annotations

import atexit
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

from filelock import FileLock

from graph_bandit_campaign.pool.prepared.making.merging import merge
from graph_bandit_campaign.pool.prepared.making.work import ask, make_part, read_chunks
from graph_bandit_campaign.pool.prepared.manifest import MANIFEST, Question, part_path, read_json, write_json
from graph_bandit_campaign.pool.prepared.pool import PreparedPool
from graph_bandit_campaign.pool.prepared.settings import PrepareSettings
from graph_bandit_campaign.pool.source import READING, Source
from graph_bandit_campaign.workers import results_of
from graph_bandit_env.pools import BadRowsError
from graph_bandit_env.storage import make_room, open_cache
from graph_bandit_env.tables import describe_shared, refuse_differing

SMALL = 300_000  # bytes; a smaller table is read by this process, before others would have started
QUESTION, LOCK = "prepare.json", "driver.lock"
KEPT = "Finished parts are kept: give the same command again, with fewer --workers."


def prepare(settings: PrepareSettings) -> PreparedPool:
    """Prepare a pool of molecules, or resume an interrupted preparation.

    The result depends only on the table and the settings, not on workers and interruptions. If another process prepares
    the same folder, the function waits.

    Returns:
        The pool.

    Raises:
        ValueError: if the table cannot be read or has no molecules, the folder has other content, or replicate rows
            differ in a column that is not ignored.
        FileNotFoundError: if the table does not exist.
        ImportError: if RDKit, pyarrow, DuckDB, or the package for reading the table is not installed.
        ChildProcessError: an OSError, if two workers die during the same part.
        OSError: if a file cannot be written, for example on a full disk. Finished parts are kept.
    """
    question, remarks = ask(settings)
    for remark in remarks:
        print(f"{remark[:1].upper()}{remark[1:]}.")
    begun = settings.out / QUESTION
    if begun.is_file() and read_json(begun, Question).key != question.key:
        text = f"Expected {settings.out} to hold this pool. It was begun with another table, settings or software."
        raise ValueError(f"{text} Give the same, choose another --out, or delete the folder.")
    settings.out.mkdir(parents=True, exist_ok=True)
    with FileLock(settings.out / LOCK):
        pool = make_pool(settings, question)
    made = pool.manifest
    texts = [f"{settings.out}: {made.molecules:,} molecules", *describe_shared(made.shared)]
    texts += [f"{made.merged:,} rows of equal molecules merged, {made.bad:,} bad rows left out ({pool.bad_rows.name})."]
    print(", ".join(texts))
    return pool


def open_table_pool(source: Source, stereo: bool = False) -> tuple[PreparedPool, list[str]]:
    """Prepare a table in the cache folder, unless it is there, and open it.

    Args:
        source: the table and its reading options.
        stereo: if True, fingerprints distinguish stereoisomers.

    Returns:
        The pool, and remarks about sheets.

    Raises:
        BadRowsError: a ValueError, if rows cannot be read and are not skipped.
        ValueError, OSError, ImportError: as in `prepare`.
    """
    cache = open_cache()
    if cache is None:
        cache = Path(mkdtemp())
        atexit.register(shutil.rmtree, cache, ignore_errors=True)
    same = {name: getattr(source, name) for name in READING}
    rows = 2 * PrepareSettings.block  # so that all processes have work
    settings = PrepareSettings(source.path, cache, stereo=stereo, part_rows=rows, **same)
    question, remarks = ask(settings)
    workers = source.workers if source.path.stat().st_size > SMALL else None
    settings = replace(settings, out=cache / f"{question.key}.pool", ignore_column=question.columns, workers=workers)
    with FileLock(settings.out.with_suffix(".lock")):  # wait for other processes that prepare the same table
        settings.out.mkdir(exist_ok=True)
        pool = make_pool(settings, question)
    settings.out.touch()
    make_room(cache)
    if pool.manifest.bad and not source.skip_bad_rows:
        raise BadRowsError(str(source.path), question.unit, pool.read_bad_rows())
    return pool, [*remarks, *describe_shared(pool.manifest.shared)]


def make_pool(settings: PrepareSettings, question: Question) -> PreparedPool:
    """Make the missing files of a pool."""
    out = settings.out.resolve()  # workers may be in other folders
    if not (out / MANIFEST).is_file():
        write_json(out / QUESTION, question)
        missing = (
            (number, table, question)
            for number, table in enumerate(read_chunks(settings.pool, question))
            if not part_path(out, number).is_file()
        )
        sum(results_of(partial(make_part, out), missing, settings.workers, "part-{:05d}.parquet", KEPT, "rows"))
        manifest = merge(out, question)
        refuse_differing(manifest.differing, settings.ignore_column, str(settings.pool))
        if not manifest.molecules:
            raise BadRowsError(str(settings.pool), question.unit, PreparedPool(out, manifest).read_bad_rows())
        write_json(out / MANIFEST, manifest)
    return PreparedPool.open(settings.out)
