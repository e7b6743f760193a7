"""What an entry of a pool is: a structure, and the cells of further columns that are part of it, such as conditions.

The text of an entry is its SMILES, and the cells in brackets behind it: `CCO [solvent=DMF; temp_c=90]`. RDKit reads the
brackets as a name, so that an entry has the structure of its SMILES, and equal texts are equal entries.
"""

from __future__ import annotations

import json
import math
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rdkit.Chem import Mol, QueryAtom

MOST_WORDS = 64  # of a column, each of which becomes a column of 0 and 1
PLAIN = re.compile(r"[^;\n\"]*")
NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,2})?\s*")
WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
NAMES = """
id ids identifier name names no nr number index row line entry compound molecule mol title label code cas inchi inchikey
iupac batch lot sample barcode plate well reference ref refs doi source url link file price prices cost stock amount
quantity availability available supplier vendor catalog catalogue delivery lead date day week month year created updated
timestamp comment comments note notes remark remarks
"""
NOT_PART = frozenset(NAMES.split())
"""Words in the names of columns that say nothing of what is measured."""


def write_smiles(molecule: Mol) -> str:
    """Return the canonical SMILES of a molecule without the numbers of its atoms, which are taken off.

    An extension says which stereocentres are of racemates or not known, and how a polymer repeats (CXSMILES).
    """
    from rdkit import Chem

    for atom in molecule.GetAtomsMatchingQuery(_is_numbered()):
        if atom.GetAtomicNum():
            atom.SetAtomMapNum(0)
    if not molecule.GetStereoGroups() and not Chem.GetMolSubstanceGroups(molecule):
        return Chem.MolToSmiles(molecule)
    editable = Chem.RWMol(molecule)
    groups = editable.GetStereoGroups()
    editable.SetStereoGroups([group for group in groups if group.GetGroupType() != Chem.STEREO_ABSOLUTE])
    Chem.CanonicalizeEnhancedStereo(editable)
    kinds = Chem.CXSmilesFields.CX_ENHANCEDSTEREO | Chem.CXSmilesFields.CX_POLYMER
    return Chem.MolToCXSmiles(editable, Chem.SmilesWriteParams(), int(kinds))


@cache
def _is_numbered() -> QueryAtom:
    from rdkit.Chem.rdqueries import HasPropQueryAtom

    return HasPropQueryAtom("molAtomMapNumber")


def write_entry(smiles: str, cells: Mapping[str, str]) -> str:
    """Return the text of an entry.

    Args:
        smiles: SMILES of the structure.
        cells: cells of the columns that are part of it, by column. Equal numbers are equal, however they are written.
    """
    texts = (f"{_quote(name)}={_quote(same_cell(cells[name]))}" for name in sorted(cells))
    return f"{smiles} [{'; '.join(texts)}]" if cells else smiles


def split_entry(text: str) -> tuple[str, str]:
    """Return the SMILES of an entry, and the rest of its text, empty if it is a structure alone."""
    smiles, bracket, rest = text.partition(" [")
    return smiles, f"{bracket}{rest}"


def same_cell(text: str) -> str:
    """Return a cell without blanks around it, a number as short as it can be written."""
    return f"{float(text):.10g}" if NUMBER.fullmatch(text) else " ".join(text.split())


def is_part(column: str) -> bool:
    """Return whether a column may be part of what an entry is, by its name."""
    return not NOT_PART.intersection(map(str.casefold, WORDS.findall(column)))


def are_structures(texts: Iterable[str]) -> bool:
    """Return whether some cells are SMILES: RDKit reads all of them, and one has a bond, a branch or a ring."""
    from rdkit import Chem, rdBase

    different = {*texts} - {""}
    with rdBase.BlockLogs():
        are_read = all(" " not in text and Chem.MolFromSmiles(text) is not None for text in different)
    return are_read and any(re.search(r"[()=#\[\]]|[a-zA-Z]1", text) for text in different)


def differing_columns(owners: Sequence[int], cells: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the columns in which rows of one entry say different things; an empty cell says nothing.

    Args:
        owners: the entry of each of R rows.
        cells: R cells by column.
    """
    differing = []
    for name, texts in cells.items():
        said = {(owner, text) for owner, text in zip(owners, map(same_cell, texts), strict=True) if text}
        differing += [name] * (len(said) > len({owner for owner, _ in said}))
    return differing


def refuse_differing(columns: Iterable[str], known: Collection[str], source: str, best_of: str = "") -> None:
    """Refuse rows of one structure that differ in other columns, since nobody said what these are.

    Args:
        columns: the columns in which they do.
        known: columns that have a use; those that are no part of an entry by their names are known, too.
        source: the table.
        best_of: the column of the goal, if rows of one structure differ in it, too.

    Raises:
        ValueError: if there is one.
    """
    columns = [name for name in columns if name not in known and is_part(name)]
    if not columns:
        return
    entry, ignored = (f"--{flag}-column {' '.join(map(shlex.quote, columns))}" for flag in ("entry", "ignore"))
    poses = f", or take the best row of each by `--best-of {shlex.quote(best_of)}`" * bool(best_of)
    raise ValueError(
        f"Rows of one molecule differ in {', '.join(f'`{name}`' for name in columns)} of {source}. Say whether that is "
        f"part of what an entry is, `{entry}`, or whether these rows are replicates, `{ignored}`{poses}. In Python, "
        "`entry_columns` and `ignore_columns` say it."
    )


@dataclass(frozen=True)
class EntryColumns:
    """The columns that are part of what an entry is, as numbers from which agents learn."""

    words: Mapping[str, tuple[str, ...]]
    """Different cells of each column, which become columns of 0 and 1; none if the column holds numbers."""

    @staticmethod
    def of(cells: Mapping[str, Sequence[str]]) -> EntryColumns:
        """Return the columns, given cells that show what they hold."""
        words = {}
        for name, texts in cells.items():
            counts = Counter(filter(None, map(same_cell, texts)))
            is_number = all(map(NUMBER.fullmatch, counts))
            words[name] = () if is_number else tuple(sorted(word for word, _ in counts.most_common(MOST_WORDS)))
        return EntryColumns(words)

    @property
    def columns_of_words(self) -> dict[str, tuple[str, str]]:
        """Return the column and the word of each column of 0 and 1."""
        return {f"{name}={word}": (name, word) for name, words in self.words.items() for word in words}

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the columns of numbers."""
        every = ([f"{name}={word}" for word in words] or [name] for name, words in self.words.items())
        return tuple(name for names in every for name in names)

    def numbers(self, cells: Mapping[str, Sequence[str]]) -> list[tuple[float, ...]]:
        """Return the c numbers of each of R rows; NaN where a cell is empty."""
        columns = list[list[float]]()
        for name, words in self.words.items():
            texts = [*map(same_cell, cells[name])]
            if words:
                columns += [[float(text == word) for text in texts] for word in words]
            else:
                columns.append([float(text) if NUMBER.fullmatch(text) else math.nan for text in texts])
        return list(zip(*columns, strict=True))


NO_ENTRY = EntryColumns({})
"""Of pools whose entries are structures alone."""


def _quote(text: str) -> str:
    return text if PLAIN.fullmatch(text) else json.dumps(text)
