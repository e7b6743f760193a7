"""Read an SDF file: the structure of each record as SMILES, its title as `id`, its properties as further columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from graph_bandit_env.tables.entries import write_smiles
from graph_bandit_env.tables.table import Table, UnknownCell
from graph_bandit_env.tables.text import lines_of

if TYPE_CHECKING:
    from rdkit.Chem import Mol

END = "$$$$"
END_OF_STRUCTURE = "M  END"
LONGEST = 1 << 22  # characters of a record
MOST_PROPERTIES = 4096
MOST_ATOMS = 5000  # RDKit ends the process when it writes the SMILES of a chain of 30,000


def open_sdf(path: Path, file: IO[str]) -> Table:
    """Open the records of an SDF file, numbered from 1.

    A property called `smiles` is left out, since `smiles` holds the drawn structure. If there is a property called
    `id`, the column of the titles is `title`.
    """
    records = _records_of(path, lines_of(path, file))
    names = dict.fromkeys(name for _, lines in records for line in lines if (name := _property_of(line)))
    if len(names) > MOST_PROPERTIES:
        raise ValueError(f"Expected at most {MOST_PROPERTIES:,} properties in {path}. Got {len(names):,}.")
    file.seek(0)
    title = "title" if "id" in names else "id"
    columns = ("smiles", title, *(name for name in names if name not in ("smiles", title)))
    records = _records_of(path, lines_of(path, file))
    return Table(path, columns, ((number, _cells_of(lines, columns)) for number, lines in records), "record")


def _records_of(path: Path, file: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the lines of each record."""
    lines: list[str] = []
    number, length = 1, 0
    for line in file:
        if line.rstrip() == END:
            yield number, lines
            lines, number, length = [], number + 1, 0
            continue
        lines.append(line.rstrip("\r\n"))
        length += len(line)
        if length > LONGEST:
            raise ValueError(
                f"Expected `{END}` after record {number} in {path}. Got {LONGEST:,} characters without it."
            )
    if any(line.strip() for line in lines):  # the last record has no end mark
        yield number, lines


def _cells_of(lines: Sequence[str], columns: Sequence[str]) -> list[str]:
    start = next((k for k, line in enumerate(lines) if _property_of(line) is not None), len(lines))
    cells = {columns[0]: _smiles_of(lines[:start]), columns[1]: lines[0] if lines else ""}
    name = None
    values: dict[str, list[str]] = {}
    for line in lines[start:]:
        started = _property_of(line)
        if started is not None:
            name = started
            if name in values:
                cells[name] = UnknownCell(f"the property `{name}` stands there more than once. Is `{END}` missing?")
            values.setdefault(name, [])
        elif not line.strip():
            name = None
        elif name is not None:
            values[name].append(line)
    cells = {key: "\n".join(value) for key, value in values.items()} | cells
    return [cells.get(column, "") for column in columns]


def _smiles_of(lines: Sequence[str]) -> str:
    from rdkit import Chem, rdBase

    if sum(line.startswith(END_OF_STRUCTURE) for line in lines) > 1:
        return UnknownCell(f"there are two structures. Is `{END}` missing?")
    with rdBase.BlockLogs():  # a bad record is reported with its number, not on stderr
        molecule: Mol | None = Chem.MolFromMolBlock("\n".join(lines))
    if molecule is None:
        return UnknownCell("RDKit reads no molecule from the structure.")
    if (atoms := molecule.GetNumAtoms()) > MOST_ATOMS:
        return UnknownCell(f"the structure has {atoms:,} atoms, more than {MOST_ATOMS:,}.")
    try:
        return write_smiles(molecule)
    except ValueError as error:  # more than 99 rings would be open at once
        return UnknownCell(f"RDKit writes no SMILES of the structure. It says: {error}")


def _property_of(line: str) -> str | None:
    """Return the name in a line such as `>  <name> (7)`; None if it is another line."""
    _, _, rest = line[1:].partition("<") if line.startswith(">") else ("", "", "")
    name, end, _ = rest.partition(">")
    return name.strip() if end else None
