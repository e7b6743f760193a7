"""Prepare a pool: compute its parts in parallel, then merge equal molecules, and write the manifest last."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from typing import Never

from tqdm import tqdm

from graph_bandit_campaign.pool.prepared.making.folder import Folder, describe_kept
from graph_bandit_campaign.pool.prepared.making.merging import merge
from graph_bandit_campaign.pool.prepared.making.reuse import check_earlier
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
from graph_bandit_campaign.workers import results_of
from graph_bandit_env.extras import require
from graph_bandit_lab.execution import choose_workers
from graph_bandit_lab.storage import sole_driver

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


def _prepare(settings: PrepareSettings) -> PreparedPool:
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
    with sole_driver(settings.out):
        folder = Folder(settings.out.resolve(), question)  # workers may be in other folders
        if folder.finished is not None:
            folder.end()
            print(f"{settings.out} is finished already: {_describe(folder.finished)}.")
            return PreparedPool.open(settings.out)
        folder.begin()
        manifest = merge(folder, _make_parts(folder, source, settings, rows))
        if not manifest.molecules:
            raise ValueError(
                f"Expected at least one molecule in {settings.pool}. Got none ({manifest.bad:,} bad rows, which "
                f"{settings.out / BAD_ROWS} lists)."
            )
        write_json(settings.out / MANIFEST, manifest)
        folder.end()
    print(f"{settings.out}: {_describe(manifest)}.")
    return PreparedPool.open(settings.out)


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
    earlier = None if settings.reuse is None else settings.reuse.resolve()  # workers may be in other folders
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
                yield chunk.number, chunk.to_bytes(), chunk.problems, folder.question, earlier

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
    parts = f"{len(manifest.parts)} parts" if len(manifest.parts) > 1 else "1 part"
    return f"{manifest.molecules:,} molecules in {parts}, {named}{merged}{bad}"
