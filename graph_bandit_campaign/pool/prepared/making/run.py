"""Prepare a pool: compute its parts in parallel, then merge equal molecules, and write the manifest last."""

from __future__ import annotations

import errno
import itertools
import shutil
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Never

from tqdm import tqdm

from graph_bandit_campaign.pool.prepared.making.folder import Folder, describe_kept
from graph_bandit_campaign.pool.prepared.making.merging import merge
from graph_bandit_campaign.pool.prepared.making.reuse import check_earlier
from graph_bandit_campaign.pool.prepared.making.source import Chunk, Source
from graph_bandit_campaign.pool.prepared.making.work import make_part, software, time_sample
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
from graph_bandit_campaign.text import duration
from graph_bandit_campaign.workers import deaths, opened, results_of
from graph_bandit_env.extras import require
from graph_bandit_lab.execution import Workers, choose_workers
from graph_bandit_lab.storage import sole_driver

SAMPLE = 512  # rows from which time and room are estimated
KEPT = (
    "Finished parts are kept: give the same command again, with fewer --workers, or with a lower --most-atoms in a new "
    "folder."
)
BUSY = 1.3  # times the CPU time that a sample may take before it is said that cores are busy


def prepare(settings: PrepareSettings) -> PreparedPool | None:
    """Prepare a pool of molecules, or continue where an interruption left it.

    What is prepared depends on the table and the settings alone, not on workers and interruptions.

    Returns:
        The pool; None if it is not finished because of `dry_run`.

    Raises:
        ValueError: if the table cannot be read or has no molecule, or the folder holds something else.
        FileNotFoundError: if there is no such table.
        ImportError: if RDKit, pyarrow, or the package that reads the table is not installed.
        ChildProcessError: an OSError, if two workers die over the same part.
        OSError: if a file cannot be written, as on a full disk. Finished parts stay.
        KeyboardInterrupt: after Ctrl-C; it says how much is stored.
    """
    try:
        return _prepare(settings)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(describe_kept(settings.out)) from None


def _prepare(settings: PrepareSettings) -> PreparedPool | None:
    for module in ("rdkit", "pyarrow"):
        require(module, "Preparing a pool")
    source = Source(settings)
    for remark in source.remarks:
        print(f"{remark[:1].upper()}{remark[1:]}.")
    files, rows = source.digest()
    question = ask(settings, source, files)
    if settings.reuse is not None:
        check_earlier(settings.reuse, question)
    folder = Folder(settings.out, question)  # refuses other folders before a lock is put into them
    if settings.dry_run:
        if folder.finished is not None:
            return _tell_finished(settings, folder.finished)
        _make_parts(folder, source, settings, rows)
        return None
    with sole_driver(settings.out):
        folder = Folder(settings.out.resolve(), question)  # workers may be in other folders
        if folder.finished is not None:
            folder.end()
            return _tell_finished(settings, folder.finished)
        try:
            manifest = _finish(folder, source, settings, rows)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise OSError(
                f"The disk of {settings.out} is full. Finished parts are kept: make room, and give the same command."
            ) from error
        folder.end()
    print(f"{settings.out}: {_describe(manifest)}.")
    return PreparedPool.open(settings.out)


def _finish(folder: Folder, source: Source, settings: PrepareSettings, rows: float) -> Manifest:
    """Make the parts that are missing, and write the manifest; return it."""
    folder.begin()
    manifest = merge(folder, _make_parts(folder, source, settings, rows))
    if not manifest.molecules:
        raise ValueError(
            f"Expected at least one molecule in {settings.pool}. Got none ({manifest.bad:,} bad rows, which "
            f"{settings.out / BAD_ROWS} lists)."
        )
    write_json(settings.out / MANIFEST, manifest)
    return manifest


def ask(settings: PrepareSettings, source: Source, files: tuple[TableFile, ...]) -> Question:
    """Return what is prepared: the table, and all settings on which the pool depends."""
    return Question(
        format=FORMAT,
        files=files,
        unit=source.unit,
        decimal=source.decimal,
        smiles=source.smiles,
        identifier=source.identifier,
        sheet=settings.sheet,
        columns=source.columns,
        traits=settings.traits,
        stereo=settings.stereo,
        most_atoms=settings.most_atoms,
        forms=settings.forms,
        part_rows=settings.part_rows,
        block=settings.block,
        versions=software(),
    )


def _make_parts(folder: Folder, source: Source, settings: PrepareSettings, rows: float) -> int:
    """Compute the parts that are not finished yet; return how many there are."""
    open_workers, slots = choose_workers(settings.workers, settings.scheduler)
    earlier = None if settings.reuse is None else settings.reuse.resolve()  # workers may be in other folders
    total = round(rows)
    bar: tqdm[Never] = tqdm(total=total, unit="row", unit_scale=True, disable=None, smoothing=0, file=sys.stderr)
    with bar:
        missing = _Missing(folder, source, settings.part_rows, bar)
        first = next(missing, None)
        if first is not None:
            with opened(open_workers) as workers:
                _say(_estimate(first, workers, folder, slots, rows - bar.n, earlier), bar)
                if not settings.dry_run:
                    _make(itertools.chain([first], missing), workers, folder, bar, earlier)
        elif settings.dry_run:
            _say("All parts are finished.", bar)
    return missing.count


class _Missing:
    """The chunks of a table whose parts are not finished, and how many chunks there are.

    Raises:
        ValueError: if the table is damaged, or changes while it is read.
    """

    def __init__(self, folder: Folder, source: Source, size: int, bar: tqdm[Never]) -> None:
        self.count, self._folder, self._bar = 0, folder, bar
        self._source, self._chunks = source, source.chunks(size)

    def __iter__(self) -> _Missing:
        return self

    def __next__(self) -> Chunk:
        for chunk in self._chunks:
            self._source.check_unchanged(self._folder.question.files)  # so all that was read is of the same table
            self.count += 1
            if not self._folder.is_done(chunk.number):
                return chunk
            self._bar.update(len(chunk) + len(chunk.problems))
            self._bar.initial = self._bar.n  # the speed is that of what is computed now
        raise StopIteration


def _make(chunks: Iterator[Chunk], workers: Workers, folder: Folder, bar: tqdm[Never], earlier: Path | None) -> None:
    tasks = ((chunk.number, chunk.to_bytes(), chunk.problems, folder.question, earlier) for chunk in chunks)
    work = partial(make_part, folder.path)
    for rows in results_of(workers, work, tasks, lambda number, *_: part_name(number), KEPT):
        bar.update(rows)


def _estimate(chunk: Chunk, workers: Workers, folder: Folder, slots: int, rows: float, earlier: Path | None) -> str:
    """Say how long the rest will take, and how much room it needs, from rows spread over a chunk."""
    if not len(chunk):
        return "No row can be read so far."
    rows = max(rows, len(chunk))
    spread = range(0, len(chunk), max(1, len(chunk) // SAMPLE))
    try:
        sample = chunk.to_bytes(spread), folder.question, chunk.number, earlier
        seconds, busy, size = workers.submit(time_sample, *sample).result()
    except deaths():
        return f"About {rows:,.0f} rows. The worker died over a sample of them, so nobody knows how long they take."
    there = folder.path
    while not there.exists():
        there = there.parent
    free = shutil.disk_usage(there).free
    free_cores = ""
    if seconds > BUSY * busy:
        free_cores = f" ({duration(busy * rows / slots)} if the cores had nothing else to do)"
    return (
        f"About {rows:,.0f} rows to prepare, by a timed sample of {len(spread):,}: "
        f"{duration(seconds * rows / slots)} with {slots} at a time{free_cores}, {size * rows / 1e6:,.0f} MB in "
        f"{folder.path}, where {free / 1e6:,.0f} MB are free." + " That is not enough." * (size * rows > free)
    )


def _describe(manifest: Manifest) -> str:
    bad = f", {manifest.bad:,} bad rows left out ({BAD_ROWS})" if manifest.bad else ""
    merged = f", {manifest.merged:,} rows of equal molecules merged" if manifest.merged else ""
    name = manifest.question.identifier
    named = f"named by `{name}`" if name else "named by their SMILES, since the table has no names"
    parts = f"{len(manifest.parts)} parts" if len(manifest.parts) > 1 else "1 part"
    return f"{manifest.molecules:,} molecules in {parts}, {named}{merged}{bad}"


def _say(text: str, bar: tqdm[Never]) -> None:
    bar.write(text, file=sys.stderr)


def _tell_finished(settings: PrepareSettings, manifest: Manifest) -> PreparedPool:
    print(f"{settings.out} is finished already: {_describe(manifest)}.")
    return PreparedPool.open(settings.out)
