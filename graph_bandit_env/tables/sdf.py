"""Read an SDF file: the structure of each record as SMILES, its title as `id`, its properties as further columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from graph_bandit_env.tables.table import Table, UnknownCell

PROPERTY = re.compile(r">.*?<([^>]*)>")
END = "$$$$"


def open_sdf(path: Path, file: IO[str]) -> Table:
    """Open the records of an SDF file, numbered from 1.

    A property called `smiles` is left out, since `smiles` holds the drawn structure. If there is a property called
    `id`, the column of the titles is `title`.
    """
    names = dict.fromkeys(name for line in file if (name := _property_of(line)) is not None)
    file.seek(0)
    title = "title" if "id" in names else "id"
    columns = ("smiles", title, *(name for name in names if name not in ("smiles", title)))
    return Table(path, columns, _records_of(file, columns), "record")


def _records_of(file: IO[str], columns: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    lines: list[str] = []
    number = 0
    for line in file:
        if line.rstrip() != END:
            lines.append(line.rstrip("\r\n"))
            continue
        number += 1
        yield number, _cells_of(lines, columns)
        lines = []
    if any(line.strip() for line in lines):  # the last record has no end mark
        yield number + 1, _cells_of(lines, columns)


def _cells_of(lines: Sequence[str], columns: Sequence[str]) -> list[str]:
    start = next((k for k, line in enumerate(lines) if _property_of(line) is not None), len(lines))
    cells = {columns[1]: lines[0] if lines else ""}
    name = None
    values: dict[str, list[str]] = {}
    for line in lines[start:]:
        started = _property_of(line)
        if started is not None:
            name = started
        elif not line.strip():
            name = None
        elif name is not None:
            values.setdefault(name, []).append(line)
    cells |= {key: "\n".join(value) for key, value in values.items() if key not in columns[:2]}
    return [_smiles_of("\n".join(lines[:start])), *(cells.get(column, "") for column in columns[1:])]


def _smiles_of(block: str) -> str:
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():  # a bad record is reported with its number, not on stderr
        molecule = Chem.MolFromMolBlock(block)
    return (
        UnknownCell("RDKit reads no molecule from the structure.") if molecule is None else Chem.MolToSmiles(molecule)
    )


def _property_of(line: str) -> str | None:
    match = PROPERTY.match(line) if line.startswith(">") else None
    return None if match is None else match[1].strip()
