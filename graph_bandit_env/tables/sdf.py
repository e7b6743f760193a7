"""Read an SDF file: the structure of each record as SMILES, its title as `id`, its properties as other columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from graph_bandit_env.tables.smiles import write_smiles
from graph_bandit_env.tables.table import Table, UnknownCell
from graph_bandit_env.tables.text import lines_of

if TYPE_CHECKING:
    from rdkit.Chem import Mol

END = "$$$$"
END_OF_STRUCTURE = "\nM  END"
PROPERTY = re.compile(r"^>[^<\n]*<([^>\n]*)>.*\n?((?:(?!>[^<\n]*<[^>\n]*>).*\S.*\n?)*)", re.MULTILINE)
"""A line such as `>  <name> (7)`, and the lines of its value up to an empty line."""
LONGEST = 1 << 22  # characters of a record
MOST_PROPERTIES = 4096
MOST_ATOMS = 5000  # RDKit crashes when writing the SMILES of a chain of 30,000


def open_sdf(path: Path, file: IO[str]) -> Table:
    """Open the records of an SDF file, numbered from 1.

    A property `smiles` is skipped, since `smiles` is the column of the drawn structure. If there is a property `id`,
    the column of the titles is `title`.
    """
    records = _records_of(path, lines_of(path, file))
    names = dict.fromkeys(name.strip() for _, record in records for name, _ in PROPERTY.findall(record))
    if len(names) > MOST_PROPERTIES:
        raise ValueError(f"Expected at most {MOST_PROPERTIES:,} properties in {path}. Got {len(names):,}.")
    file.seek(0)
    title = "title" if "id" in names else "id"
    columns = ("smiles", title, *(name for name in names if name not in ("smiles", title)))
    records = _records_of(path, lines_of(path, file))
    return Table(path, columns, ((number, _cells_of(record, columns)) for number, record in records), "record")


def _records_of(path: Path, file: Iterator[str]) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each record."""
    lines: list[str] = []
    number, length = 1, 0
    for line in file:
        if line.rstrip() == END:
            yield number, "\n".join(lines)
            lines, number, length = [], number + 1, 0
            continue
        lines.append(line.rstrip("\r\n"))
        length += len(line)
        if length > LONGEST:
            raise ValueError(
                f"Expected `{END}` after record {number} in {path}. Got {LONGEST:,} characters without it."
            )
    if any(line.strip() for line in lines):  # the last record has no end mark
        yield number, "\n".join(lines)


def _cells_of(record: str, columns: Sequence[str]) -> list[str]:
    cells: dict[str, str] = {}
    for found, value in PROPERTY.findall(record):
        name = found.strip()
        repeated = UnknownCell(f"the property `{name}` stands there more than once. Is `{END}` missing?")
        cells[name] = repeated if name in cells else value.rstrip("\n")
    structure, *_ = PROPERTY.split(record, maxsplit=1)
    cells |= {columns[0]: _smiles_of(structure), columns[1]: record.partition("\n")[0]}
    return [cells.get(column, "") for column in columns]


def _smiles_of(structure: str) -> str:
    from rdkit import Chem, rdBase

    if structure.count(END_OF_STRUCTURE) > 1:
        return UnknownCell(f"there are two structures. Is `{END}` missing?")
    with rdBase.BlockLogs():  # bad records are reported with their number instead
        molecule: Mol | None = Chem.MolFromMolBlock(structure)
    if molecule is None:
        return UnknownCell("RDKit reads no molecule from the structure.")
    if (atoms := molecule.GetNumAtoms()) > MOST_ATOMS:
        return UnknownCell(f"the structure has {atoms:,} atoms, more than {MOST_ATOMS:,}.")
    try:
        return write_smiles(molecule)
    except ValueError as error:  # more than 99 rings would be open at once
        return UnknownCell(f"RDKit writes no SMILES of the structure. It says: {error}")
