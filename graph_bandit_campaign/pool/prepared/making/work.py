"""Compute one part of a prepared pool, in whatever process, and write it with a small file that says so."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from agents.traits import Moments, Traits, compute_traits
from graph_bandit_campaign.pool.prepared.columns import KNOWN, own, to_arrow, traits_left_out
from graph_bandit_campaign.pool.prepared.making.source import LONGEST, BadRow, unpack
from graph_bandit_campaign.pool.prepared.manifest import PartRecord, Question, part_name, write_json
from graph_bandit_env.pools import canonical_smiles, may_be_form, parent_smiles, smiles_problem
from graph_bandit_env.storage import replace_file

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, kw_only=True)
class FinishedPart:
    """The file that is written after a part: the part is finished if it is there."""

    key: str
    """Key of the question that it answers."""
    record: PartRecord
    bad: list[BadRow]
    moments: list[dict[str, dict[str, list[float]]]] = field(default_factory=list)
    """Moments of the numbers of each block of rows, by trait."""


def software() -> dict[str, str]:
    """Return the versions that SMILES and traits depend on."""
    return {name: version(name) for name in ("graph-bandit-env", "rdkit")}


def make_part(
    folder: Path,
    number: int,
    packed: bytes,
    problems: Sequence[BadRow],
    question: Question,
) -> int:
    """Compute a part, and write its files; the last one says that it is finished.

    Args:
        folder: folder of the pool.
        number: number of the part.
        packed: rows of the table, from `Chunk.to_bytes`.
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
    name, table = part_name(number), unpack(packed)
    content, count, bad, moments = encode(table, number, question)
    replace_file(folder / f"{name}.parquet", content)
    record = PartRecord(
        name=f"{name}.parquet",
        read=len(table) + len(problems),
        rows=count,
        bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
    )
    finished = FinishedPart(
        key=question.key,
        record=record,
        bad=sorted([*problems, *bad]),
        moments=moments,
    )
    write_json(folder / f"{name}.json", finished)
    return record.read


def encode(
    table: pa.Table, number: int, question: Question
) -> tuple[bytes, int, list[BadRow], list[dict[str, dict[str, list[float]]]]]:
    """Compute a part: its Parquet file, how many molecules it has, bad rows, and moments of each block.

    Each row group holds the molecules of as many rows of the table, whatever the size of the part.
    """
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    pa.set_cpu_count(1)
    sink, schema = io.BytesIO(), _schema(question, number)
    texts = [name for name in schema.names if name.endswith("_bins")]
    options = {
        "compression": "zstd",
        "write_page_checksum": True,
        "use_dictionary": [f"{name.removesuffix('_bins')}_counts.list.element" for name in texts] + ["file"],
        "column_encoding": {f"{name}.list.element": "DELTA_BINARY_PACKED" for name in texts},
    }
    bad, moments = list[BadRow](), []
    with ParquetWriter(sink, schema, **options) as writer:
        done = 0
        for start in range(0, len(table), question.block):
            block, problems, traits = _describe(table.slice(start, question.block), question)
            bad += problems
            moments.append({name: Moments.of(traits.numbers[name]).to_dict() for name in traits.numbers})
            columns = [*(block[name].combine_chunks() for name in schema.names if name in block.column_names)]
            writer.write_table(
                pa.table([*columns, *to_arrow(traits).values()], schema=schema), row_group_size=question.block
            )
            done += len(block)
    return sink.getvalue(), done, bad, moments


def _describe(table: pa.Table, question: Question) -> tuple[pa.Table, list[BadRow], Traits]:
    """Return the rows that are molecules, with their canonical SMILES, the others, and the traits of molecules."""
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
    kept = set(good)
    bad = []
    for k in (k for k in range(len(written)) if k not in kept):
        file, row = (table[name][k].as_py() for name in ("file", "row"))
        bad.append((file, row, written[k][:LONGEST], _problem(written[k], canonical[k], question)))
    import pyarrow as pa

    columns = {name: table[name] for name in table.column_names}
    columns |= {"id": pa.array(named, pa.large_string()), "smiles": pa.array(canonical, pa.large_string())}
    whole = pa.table({name: columns[name] for name in (*KNOWN, *map(own, question.columns))})
    return whole.take(pa.array(good, pa.int64())), bad, traits


def _problem(written: str, canonical: str, question: Question) -> str:
    if not written:
        return f"expected a SMILES in `{question.smiles}`. Got nothing."
    if canonical:
        return f"RDKit cannot read its own SMILES of it again, {canonical[:LONGEST]!r}."
    return smiles_problem(written, question.most_atoms)


def _traits(smiles: Sequence[str], question: Question) -> Traits:
    return compute_traits(smiles, question.traits, question.stereo, traits_left_out(question.traits))


def _schema(question: Question, number: int) -> pa.Schema:
    import pyarrow as pa

    kinds = {"file": pa.int32(), "row": pa.int64()}
    fields = [(name, kinds.get(name, pa.large_string())) for name in (*KNOWN, *map(own, question.columns))]
    fields += [(name, array.type) for name, array in to_arrow(_traits([], question)).items()]
    return pa.schema(fields, {"pool": question.key, "part": str(number)})
