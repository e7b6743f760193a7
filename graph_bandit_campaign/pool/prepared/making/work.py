"""Read the table of a pool in chunks of rows, and compute a part from each, in any process."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.descriptors import FINGERPRINTS, compute_descriptors, find_encoder
from graph_bandit_campaign.pool.prepared.manifest import MANIFEST, Question, part_path, software
from graph_bandit_campaign.pool.prepared.part import KNOWN, own, to_arrow
from graph_bandit_campaign.pool.prepared.settings import PrepareSettings
from graph_bandit_campaign.text import sheet_remarks
from graph_bandit_env.extras import require
from graph_bandit_env.pools import canonical_smiles, may_be_form, parent_smiles, smiles_problem
from graph_bandit_env.storage import replace_file
from graph_bandit_env.tables import find_naming, open_table

if TYPE_CHECKING:
    import pyarrow as pa

# Settings on which a pool depends.
SAME = ("sheet", "stereo", "most_atoms", "salts", "part_rows", "block")
LONGEST = 1000  # characters of a bad row that are kept
METHANE = "C"


def ask(settings: PrepareSettings) -> tuple[Question, list[str]]:
    """Return all inputs that determine a pool, with a digest of the table, and remarks about sheets and rows.

    Raises:
        FileNotFoundError: if the file does not exist.
        ValueError: if it cannot be opened, a column is missing, or the encoder is unknown.
        ImportError: if RDKit, pyarrow, DuckDB, or the package for reading the table is not installed.
    """
    for module in ("rdkit", "pyarrow", "duckdb"):
        require(module, "Preparing a pool")
    if (settings.pool / MANIFEST).is_file():
        raise ValueError(f"Expected a table. {settings.pool} is a prepared pool already.")
    with open_table(settings.pool, settings.sheet) as table:
        naming = find_naming(table, settings.smiles, settings.id)
        smiles, identifier = naming.smiles or settings.smiles, naming.identifier or settings.id
        used = [smiles, *filter(None, [identifier])]
        next(table.rows(used), None)  # reports a missing column
        columns = tuple(name for name in table.columns if name and name not in used)
        decimal, unit = table.decimal, table.unit
        remarks = [*sheet_remarks(table, settings.sheet, "--sheet"), *naming.remarks]
    same = {name: getattr(settings, name) for name in SAME}
    with settings.pool.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    question = Question(
        name=settings.pool.name,
        sha256=sha256,
        unit=unit,
        decimal=decimal,
        smiles=smiles,
        identifier=identifier,
        is_guessed=settings.id is None and identifier != "id",
        columns=columns,
        descriptors=(*settings.descriptors, *filter(None, [settings.encoder])),
        versions=software() | (find_encoder(settings.encoder)[1] if settings.encoder else {}),
        **same,
    )
    return question, remarks


def read_chunks(path: Path, question: Question) -> Iterator[pa.Table]:
    """Read all rows of a table in chunks, one for each part.

    Args:
        path: the table.
        question: inputs of the pool, including the columns.

    Yields:
        Rows: `row`, `problem`, `id`, `written` and the other columns of the table. Rows that cannot be read come last,
            with only their problem.

    Raises:
        ValueError: if it is damaged.
    """
    import pyarrow as pa

    columns = [question.smiles, *filter(None, [question.identifier])]
    names = ("written", *["id"] * (len(columns) - 1), *map(own, question.columns))
    schema = pa.schema([("row", pa.int64()), *((name, pa.large_string()) for name in ("problem", *names))])
    with open_table(path, question.sheet) as table:
        rows = ((row, None, *cells) for row, cells in table.rows(columns, texts=question.columns))
        every = chain(rows, ((row, problem, *[""] * len(names)) for row, problem in table.problems))
        while chunk := [*islice(every, question.part_rows)]:
            yield pa.Table.from_pydict(dict(zip(schema.names, zip(*chunk, strict=True), strict=True)), schema)


def make_part(folder: Path, number: int, table: pa.Table, question: Question) -> int:
    """Compute a part, and write its file.

    Args:
        folder: folder of the pool.
        number: number of the part.
        table: rows of the table.
        question: inputs of the pool.

    Returns:
        Number of its rows.

    Raises:
        OSError: if a file cannot be written. An incomplete file never has the final name.
    """
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    pa.set_cpu_count(1)
    prints = [name for name in question.descriptors if name in FINGERPRINTS]
    counts = [f"{name}_counts.list.element" for name in prints]
    encoding = {f"{name}_bins.list.element": "DELTA_BINARY_PACKED" for name in prints}
    sink = io.BytesIO()
    writer: Any = None
    for start in range(0, len(table), question.block):
        block = _describe(table.slice(start, question.block), question)
        writer = writer or ParquetWriter(
            sink, block.schema, compression="zstd", use_dictionary=counts, column_encoding=encoding
        )
        writer.write_table(block, row_group_size=question.block)  # regardless of the size of the part
    writer.close()
    replace_file(part_path(folder, number), sink.getvalue())
    return len(table)


def _describe(table: pa.Table, question: Question) -> pa.Table:
    """Return rows with canonical SMILES and descriptors. Invalid molecules get the descriptors of methane."""
    import pyarrow as pa

    written, most = table["written"].to_pylist(), question.most_atoms
    canonical = [canonical_smiles(text, most) if text else "" for text in written]
    named: list[str | None] = [None] * len(table)
    if question.identifier:
        named = [name or None for name in table["id"].to_pylist()]
    for k, form in enumerate(canonical):
        if question.salts == "merge" and may_be_form(written[k]):
            canonical[k] = parent_smiles(form)
            named[k] = named[k] or (form if form != canonical[k] else None)
    empty = f"expected a SMILES in `{question.smiles}`. Got nothing."
    problems = [
        problem or (None if text else smiles_problem(given, most) if given else empty)
        for problem, text, given in zip(table["problem"].to_pylist(), canonical, written, strict=True)
    ]
    sound = [text or METHANE for text in canonical]
    try:
        descriptors = compute_descriptors(sound, question.descriptors, question.stereo, question.left_out)
    except ValueError:  # RDKit writes a few SMILES that it cannot read
        for k in (k for k, text in enumerate(sound) if not canonical_smiles(text, most)):
            problems[k] = f"RDKit cannot read its own SMILES of it again, {canonical[k][:LONGEST]!r}."
            sound[k] = METHANE
        descriptors = compute_descriptors(sound, question.descriptors, question.stereo, question.left_out)
    texts = {"id": named, "smiles": canonical, "problem": problems}
    columns = dict(zip(table.column_names, table.columns, strict=True))
    columns |= {name: pa.array(texts[name], pa.large_string()) for name in texts}
    return pa.table({name: columns[name] for name in (*KNOWN, *map(own, question.columns))} | to_arrow(descriptors))
