"""Compute one part of a prepared pool, in whatever process; it is finished once its file is there."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from agents.traits import Traits, compute_traits
from graph_bandit_campaign.pool.prepared.making.source import LONGEST, BadRow
from graph_bandit_campaign.pool.prepared.manifest import Question, part_path, software, write_json
from graph_bandit_campaign.pool.prepared.part import KNOWN, own, to_arrow
from graph_bandit_env.pools import canonical_smiles, may_be_form, parent_smiles, smiles_problem
from graph_bandit_env.storage import replace_file

if TYPE_CHECKING:
    import pyarrow as pa


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
    if software() != question.versions:
        raise ValueError(
            f"Expected workers with the versions {question.versions}, as the process that started them. Got "
            f"{software()}. Install the same ones."
        )
    content, bad = encode(table, question)
    path = part_path(folder, number)
    write_json(path.with_suffix(".json"), [*problems, *bad])
    replace_file(path, content)
    return len(table) + len(problems)


def encode(table: pa.Table, question: Question) -> tuple[bytes, list[BadRow]]:
    """Compute the Parquet file of a part, and bad rows.

    Each row group holds the molecules of as many rows of the table, whatever the size of the part.
    """
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    pa.set_cpu_count(1)
    starts, sink, bad = range(0, max(1, len(table)), question.block), io.BytesIO(), list[BadRow]()
    blocks = (_describe(table.slice(start, question.block), question) for start in starts)
    begin = next(blocks)
    names = begin[0].column_names
    prints = [name.removesuffix("_bins") for name in names if name.endswith("_bins")]
    options = {
        "compression": "zstd",
        "use_dictionary": [f"{name}_counts.list.element" for name in prints] + ["file"],
        "column_encoding": {f"{name}_bins.list.element": "DELTA_BINARY_PACKED" for name in prints},
    }
    with ParquetWriter(sink, begin[0].schema, **options) as writer:
        for block, problems in chain([begin], blocks):
            bad += problems
            writer.write_table(block, row_group_size=question.block)
    return sink.getvalue(), bad


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
    try:
        traits = _traits([canonical[k] for k in good], question)
    except ValueError:  # RDKit writes few SMILES that it cannot read again
        good = [k for k in good if canonical_smiles(canonical[k], question.most_atoms)]
        traits = _traits([canonical[k] for k in good], question)
    bad, files, rows = list[BadRow](), table["file"].to_pylist(), table["row"].to_pylist()
    for k in sorted({*range(len(table))}.difference(good)):
        bad.append((files[k], rows[k], written[k][:LONGEST], _problem(written[k], canonical[k], question)))
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


def _traits(smiles: Sequence[str], question: Question) -> Traits:
    return compute_traits(smiles, question.traits, question.stereo, question.left_out)
