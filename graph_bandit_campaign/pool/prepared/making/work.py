"""Read the table of a pool in chunks of rows, and compute a part of each, in whatever process."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.traits import NUMBERS, compute_traits
from graph_bandit_campaign.pool.prepared.manifest import MANIFEST, Question, TableFile, part_path, software, write_json
from graph_bandit_campaign.pool.prepared.part import KNOWN, own, to_arrow
from graph_bandit_campaign.pool.prepared.settings import PrepareSettings
from graph_bandit_campaign.text import sheet_remarks
from graph_bandit_env.extras import require
from graph_bandit_env.pools import canonical_smiles, may_be_form, parent_smiles, smiles_problem
from graph_bandit_env.storage import replace_file
from graph_bandit_env.tables import find_naming, open_table

if TYPE_CHECKING:
    import pyarrow as pa

SAME = ("sheet", "traits", "stereo", "most_atoms", "salts", "part_rows", "block")  # settings on which a pool depends
LONGEST = 1000  # characters of a bad row that are kept

BadRow = tuple[int, str, str]
"""Row as people count, what stands there, and the problem."""


def ask(settings: PrepareSettings) -> tuple[Question, list[str]]:
    """Return all that a pool depends on, for which all bytes of the table are read; and remarks on sheets and rows.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it cannot be opened, or lacks a column.
        ImportError: if RDKit, pyarrow, DuckDB, or the package that reads the table is not installed.
    """
    for module in ("rdkit", "pyarrow", "duckdb"):
        require(module, "Preparing a pool")
    if (settings.pool / MANIFEST).is_file():
        raise ValueError(f"Expected a table. {settings.pool} is a prepared pool already.")
    with open_table(settings.pool, settings.sheet) as table:
        naming = find_naming(table, settings.smiles, settings.id, settings.entry_column)
        smiles, identifier = naming.smiles or settings.smiles, naming.identifier or settings.id
        used = [smiles, *filter(None, [identifier])]
        next(table.rows([*used, *settings.entry_column]), None)  # says which column is missing
        columns = tuple(name for name in table.columns if name and name not in used)
        decimal, unit = table.decimal, table.unit
        remarks = [*sheet_remarks(table, settings.sheet, "--sheet"), *naming.remarks]
    same = {name: getattr(settings, name) for name in SAME}
    question = Question(
        file=TableFile.of(settings.pool),
        unit=unit,
        decimal=decimal,
        smiles=smiles,
        identifier=identifier,
        is_guessed=settings.id is None and identifier != "id",
        columns=columns,
        **same,
    )
    return question, remarks


def read_chunks(path: Path, question: Question) -> Iterator[tuple[pa.Table, list[BadRow]]]:
    """Read all rows of a table, as many at a time as become one part.

    Yields:
        Rows: `row`, `id`, `written` and the other columns of the table; and the rows among them, or after
        the last chunk, that could not be read.

    Raises:
        ValueError: if it is damaged, or has changed since it was asked about.
    """
    import pyarrow as pa

    columns = [question.smiles, *filter(None, [question.identifier])]
    names = ("written", *["id"] * (len(columns) - 1), *map(own, question.columns))
    schema = pa.schema([("row", pa.int64()), *((name, pa.large_string()) for name in names)])
    with open_table(path, question.sheet) as table:
        rows = ((row, *cells) for row, cells in table.rows(columns, texts=question.columns))
        while (chunk := [*islice(rows, question.part_rows)]) or table.problems:
            if TableFile.of(path, digest=False) != replace(question.file, sha256=""):  # all is of the same table
                raise ValueError(f"Expected {path} to stay as it was while it was read. It has changed. Start again.")
            problems = [(number, "", text[:LONGEST]) for number, text in table.problems]
            table.problems.clear()
            columnwise = zip(*chunk, strict=True) if chunk else [()] * len(schema)
            yield pa.Table.from_pydict(dict(zip(schema.names, columnwise, strict=True)), schema), problems


def make_part(folder: Path, number: int, table: pa.Table, problems: Sequence[BadRow], question: Question) -> int:
    """Compute a part, and write its files: the list of bad rows first.

    Args:
        folder: folder of the pool.
        number: number of the part.
        table: rows of the table.
        problems: rows that could not be read.
        question: what the pool is made from.

    Returns:
        How many rows it was made from.

    Raises:
        ValueError: if this process has other versions of the software.
        OSError: if a file cannot be written; nothing half-written has its name.
    """
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    if software() != question.versions:
        raise ValueError(f"Expected workers with {question.versions}. Got {software()}. Install the same versions.")
    pa.set_cpu_count(1)
    prints = [name for name in question.traits if name not in NUMBERS]
    counts = [f"{name}_counts.list.element" for name in prints]
    encoding = {f"{name}_bins.list.element": "DELTA_BINARY_PACKED" for name in prints}
    sink, bad, path = io.BytesIO(), [*problems], part_path(folder, number)
    writer: Any = None
    for start in range(0, max(1, len(table)), question.block):
        block, more = _describe(table.slice(start, question.block), question)
        bad += more
        writer = writer or ParquetWriter(
            sink, block.schema, compression="zstd", use_dictionary=counts, column_encoding=encoding
        )
        writer.write_table(block, row_group_size=question.block)  # whatever the size of the part
    writer.close()
    write_json(path.with_suffix(".json"), bad)
    replace_file(path, sink.getvalue())
    return len(table) + len(problems)


def _describe(table: pa.Table, question: Question) -> tuple[pa.Table, list[BadRow]]:
    """Return the rows that are molecules, with their canonical SMILES and traits, and the others."""
    import pyarrow as pa

    written = table["written"].to_pylist()
    canonical = [canonical_smiles(text, question.most_atoms) if text else "" for text in written]
    named: list[str | None] = [None] * len(table)
    if question.identifier:
        named = [name or None for name in table["id"].to_pylist()]
    for k, form in enumerate(canonical):
        if question.salts == "merge" and may_be_form(written[k]):
            canonical[k] = parent_smiles(form)
            named[k] = named[k] or (form if form != canonical[k] else None)
    good = [k for k, text in enumerate(canonical) if text]
    compute = partial(compute_traits, names=question.traits, stereo=question.stereo, left_out=question.left_out)
    try:
        traits = compute([canonical[k] for k in good])
    except ValueError:  # RDKit writes few SMILES that it cannot read again
        good = [k for k in good if canonical_smiles(canonical[k], question.most_atoms)]
        traits = compute([canonical[k] for k in good])
    bad, rows = list[BadRow](), table["row"].to_pylist()
    for k in sorted({*range(len(table))}.difference(good)):
        bad.append((rows[k], written[k][:LONGEST], _problem(written[k], canonical[k], question)))
    texts = {"id": pa.array(named, pa.large_string()), "smiles": pa.array(canonical, pa.large_string())}
    columns = dict(zip(table.column_names, table.columns, strict=True)) | texts
    whole = pa.table({name: columns[name] for name in (*KNOWN, *map(own, question.columns))})
    kept = whole.take(pa.array(good, pa.int64()))
    return pa.table(dict(zip(kept.column_names, kept.columns, strict=True)) | to_arrow(traits)), bad


def _problem(written: str, canonical: str, question: Question) -> str:
    if not written:
        return f"expected a SMILES in `{question.smiles}`. Got nothing."
    if canonical:
        return f"RDKit cannot read its own SMILES of it again, {canonical[:LONGEST]!r}."
    return smiles_problem(written, question.most_atoms)
