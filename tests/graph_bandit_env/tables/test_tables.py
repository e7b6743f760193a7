"""The same content says the same, whatever kind of file holds it; what cannot be read is refused."""

import csv
import gzip
import io
import re
import zipfile

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rdkit import Chem

from graph_bandit_env import from_smiles_csv
from graph_bandit_env.pools.molecule_rows import BadRowsError
from graph_bandit_env.tables import open_table
from graph_bandit_env.tables.opening import OTHERS, TEXT

openpyxl = pytest.importorskip("openpyxl")
pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
KINDS = ("comma.csv", "semicolon.csv", "decimal.csv", "tab.tsv", "packed.csv.gz", "book.xlsx", "file.parquet")
SMILES = ("C", "CC", "CCO", "OCC", "c1ccccc1", "nonsense", "")
NAMES = ("", "a", "b, or not", 'c"d', "7", "007", "é;1", "two\nlines")
VALUES = ("", "1", "2.5", "-3e-05", "0.1", "failed", "Pending", "n.d.", "high", "#N/A", "1e400", "2024-05-01")
NOTES = ("", "n", "a,b;c", "\t")
ROWS = st.lists(st.tuples(*map(st.sampled_from, (NAMES, SMILES, VALUES, NOTES))), max_size=12)
LENGTHS = st.lists(st.integers(0, 6), min_size=12, max_size=12)  # some rows are short, some have empty cells too many


def text_of(rows, delimiter, decimal="."):
    text = io.StringIO()
    cells = [[cell.replace(".", decimal) if is_number(cell) else cell for cell in row] for row in rows]
    csv.writer(text, delimiter=delimiter).writerows(cells)
    return text.getvalue()


def is_number(cell):
    try:
        return float(cell) is not None
    except ValueError:
        return False


def as_spreadsheets_hold(cell):
    """Numbers as numbers, unless that would change how they are written."""
    if not is_number(cell) or cell == "1e400" or (str(number := float(cell)) != cell and f"{number:.0f}" != cell):
        return cell or None
    return number


def book(*rows, change=lambda made: None):
    made, content = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        made.active.append(row)
    change(made)
    made.save(content)
    return content.getvalue()


def edited(content, change):
    """A workbook whose first sheet was written by another program."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, change(old.read(name)) if name.endswith("sheet1.xml") else old.read(name))
    return made.getvalue()


def write(folder, kind, header, rows):
    path = folder / kind
    if kind == "book.xlsx":
        path.write_bytes(book(*([as_spreadsheets_hold(cell) for cell in row] for row in (header, *rows))))
    elif kind == "file.parquet":
        full = [[*row[:4], *[""] * (4 - len(row))] for row in rows]
        columns = {name: pa.array([row[k] or None for row in full], pa.string()) for k, name in enumerate(header)}
        parquet.write_table(pa.table(columns), path, write_page_checksum=True)
    else:
        delimiter = {"semicolon.csv": ";", "decimal.csv": ";", "tab.tsv": "\t"}.get(kind, ",")
        text = text_of([header, *rows], delimiter, "," if kind == "decimal.csv" else ".").encode()
        path.write_bytes(gzip.compress(text, mtime=0) if kind.endswith(".gz") else text)
    return path


def pool_of(path):
    try:
        pool = from_smiles_csv(path, target="y", identifier="id", on_error="skip")
    except ValueError as error:
        return str(error).replace(str(path), "")
    texts = [re.sub(r"in (line|row) \d+", "", text) for _, text in pool.skipped]
    return pool.smiles, pool.ids, pool.targets.tolist().__repr__(), texts, pool.merged, dict(pool.aliases)


@settings(max_examples=10)
@given(ROWS, LENGTHS)
def test_random_ragged_tables_say_the_same_as_any_kind_of_file(tmp_path_factory, rows, lengths):
    folder, header = tmp_path_factory.mktemp("kinds"), ("id", "smiles", "y", "note")
    ragged = [[*row, "", ""][:length] if length else [] for row, length in zip(rows, lengths, strict=False)]
    first, *others = [pool_of(write(folder, kind, header, ragged)) for kind in KINDS]
    for kind, pool in zip(KINDS[1:], others, strict=True):
        assert pool == first, kind


def outcome(path):
    """Columns, rows and problems; None if the table was refused in the words that all refusals begin with."""
    try:
        with open_table(path) as table:
            return table.columns, [cells for _, cells in table.rows(table.columns)], table.problems
    except ValueError as error:
        if str(error).startswith("Expected"):
            return None
        raise


MARKUP = (b'"', b"<", b">", b"> <y>\n1\n", b"$$$$\n", b"\0", b"\xff\xfe", b"\xfc")
PIECES = (b"id", b"smiles", b"C", b"\n", b"\r", b",", b";", b"\t", *MARKUP)
ANY_BYTES = st.binary(max_size=200) | st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join)


@settings(max_examples=40)
@given(st.sampled_from((*TEXT, *(f"{kind}.gz" for kind in TEXT), *OTHERS)), ANY_BYTES, st.booleans())
@example(".csv", "id\n".encode("utf-32"), False)
@example(".xlsx", b"PK\x05\x06" + bytes(18), False)
@example(".parquet", b"PAR1" + bytes(4) + b"PAR1", False)
def test_any_bytes_are_a_clear_error_or_a_table(tmp_path_factory, kind, content, packed):
    path = tmp_path_factory.getbasetemp() / f"any{kind}"
    path.write_bytes(gzip.compress(content) if packed and kind.endswith(".gz") else content)
    if (found := outcome(path)) is not None:
        columns, rows, problems = found
        assert all(len(row) == len(columns) and all(isinstance(cell, str) for cell in row) for row in rows)
        assert all(number > 0 and text for number, text in problems)


@pytest.mark.parametrize("kind", ["packed.csv.gz", "book.xlsx", "file.parquet"])
def test_a_flipped_bit_of_a_packed_table_never_changes_a_cell(tmp_path, kind):
    path = write(tmp_path, kind, ("id", "smiles", "y"), [["m0", "CCO", "1"], ["m1", "C", "2"], ["m2", "CCN", "3"]])
    whole, (names, right, _), generator = path.read_bytes(), outcome(path), np.random.default_rng(1)
    for place, bit in zip(generator.integers(len(whole), size=12), generator.integers(8, size=12), strict=True):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
        found = outcome(path)
        # The names of columns in a Parquet file have no checksum.
        assert found is None or found[1] == right or set(found[0]) != set(names)


BLOCK = Chem.MolToMolBlock(Chem.MolFromSmiles("CCO"))
TWICE, UMLAUT = "> <y>\n1\n\n" * 2, "id\tsmiles\ty\nmüller–7\tCCO\t1.5\n"
FORMULAS = book(["id", "y", "note"], ["a", "=1+1", 1], ["b", "=2+2", 2], ["c", '=""', 3], ["d", 4, "=5"])
COMPUTED = {b"<f>1+1</f><v />": b"<f>1+1</f><v>2</v>", b"<f>2+2</f><v />": b"<f>2+2</f><v>4</v>"} | {
    b'<c r="B4"><f>""</f><v />': b'<c r="B4" t="str"><f>""</f><v></v>'
}


def compute(sheet):
    for old, new in COMPUTED.items():
        sheet = sheet.replace(old, new)
    return sheet


def merge(made):
    for cells in ("B2:B3", "C2:C4", "A6:C9"):
        made.active.merge_cells(cells)


def show_as_share(made):
    for row in range(2, 6):
        made.active[f"A{row}"].number_format = "0%"


READ = {
    "tabs": ("t.csv", "smiles\tIC50, nM\nC\t1\n", [(2, ["C"])], []),
    "semicolons": ("t.csv", "smiles;IC50, nM, mean\nC;1\n", [(2, ["C"])], []),
    "commas": ("t.csv", "smiles,a;b\nC,1\n", [(2, ["C"])], []),
    "lines": ("t.csv", '\nid,x\na,"C"\n\nb,"two\nlines"\n ,\nc,C\n', [(3, ["a"]), (6, ["b"]), (8, ["c"])], []),
    "rows": ("t.xlsx", book([], ["id", "x"], ["a", "C"], [None, " "], ["b", "C"]), [(3, ["a"]), (5, ["b"])], []),
    "a decimal comma": ("t.csv", "id,y\na,1\nb,1,5\nc,2\n", [(2, ["a"]), (4, ["c"])], [3]),
    "a cell more": ("t.xlsx", book(["id", "y"], ["a", 1], ["b", 1, 5], ["c", 2]), [(2, ["a"]), (4, ["c"])], [3]),
    "a property twice": ("t.sdf", f"{BLOCK}{TWICE}$$$$\n{BLOCK}> <y>\n3\n$$$$\n", [(2, ["3"])], [1]),
    "two structures": ("t.sdf", f"{BLOCK}{BLOCK}$$$$\n{BLOCK}$$$$\n", [(2, ["CCO"])], [1]),
    **{
        f"{code} in {name}": (name, UMLAUT.encode(code), [(2, ["müller–7", "CCO", "1.5"])], [])
        for code in ("utf-8-sig", "utf-16")
        for name in ("t.txt", "t.csv.gz")
    },
    "utf-16 of other computers": ("t.txt", f"\ufeff{UMLAUT}".encode("utf-16-be"), [(2, ["müller–7"])], []),
    "formulas": ("t.xlsx", FORMULAS, [(5, ["d", "4"])], [2, 3, 4]),  # openpyxl computes nothing
    "computed formulas": (
        "t.xlsx",
        edited(FORMULAS, compute),
        [(2, ["a", "2"]), (3, ["b", "4"]), (4, ["c", ""]), (5, ["d", "4"])],
        [],
    ),
    "merged cells": (
        "t.xlsx",
        book(["id", "y", "note"], ["a", 1, "n"], ["b", None, None], ["c", 3, None], change=merge),
        [(2, ["a", "1"]), (4, ["c", "3"])],
        [3],
    ),
    "shares": (
        "t.xlsx",
        book(["y"], [0.12], [0.1234567], [0.29], [1.5], change=show_as_share),
        [(2, ["12%"]), (3, ["12.34567%"]), (4, ["29%"]), (5, ["150%"])],
        [],
    ),
}


@pytest.mark.parametrize(("name", "content", "expected", "bad"), READ.values(), ids=READ)
def test_rows_are_read_and_bad_ones_have_the_number_that_people_see(tmp_path, name, content, expected, bad):
    content = content.encode() if isinstance(content, str) else content
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with open_table(tmp_path / name) as table:
        asked = ["y"] if name == "t.sdf" and "y" in table.columns else table.columns[: len(expected[0][1])]
        assert list(table.rows(asked)) == expected
        assert [number for number, _ in table.problems] == bad


def test_sheets_are_chosen_by_name_and_hidden_ones_are_not_the_first(tmp_path):
    def change(made):
        made.active.title, made.active.sheet_state = "Hidden", "hidden"
        for name in ("First", "Second"):
            made.create_sheet(name).append(["smiles", name])
            made[name].append(["C", "1"])
        made["First"].row_dimensions[2].hidden = True

    path, text = tmp_path / "book.xlsx", tmp_path / "t.csv"
    path.write_bytes(book(change=change))
    text.write_text("smiles\nC\n")
    for sheet, found, hidden in ((None, "First", 1), ("Second", "Second", 0)):
        with open_table(path, sheet) as table:
            assert (table.columns, table.sheets, table.hidden) == (("smiles", found), ("First", "Second"), hidden)
            assert [table.where(number) for number, _ in table.rows([])] == [f"book.xlsx, sheet `{found}`, row 2"]
    for file, sheet in ((path, "Third"), (path, "Hidden"), (text, "First")):
        with pytest.raises(ValueError, match=sheet), open_table(file, sheet):
            pass


@pytest.mark.parametrize("name", ["pool.sdf", "pool.sdf.gz"])
def test_records_of_an_sdf_file_are_rows(tmp_path, name):
    """Three records as a drawing program writes them: the second is broken."""
    text = ""
    for title, smiles, properties in (
        ("one", "CCO", {"y": "1.5", "smiles": "wrong"}),
        ("two", "C", {"y": "failed", "note": "first\nsecond"}),
        ("three", "c1ccccc1", {"extra": "x"}),
    ):
        block = Chem.MolToMolBlock(Chem.MolFromSmiles(smiles))
        block = title + (block.replace(" C ", " Qq", 1) if title == "two" else block)
        text += block + "".join(f">  <{name}>\n{value}\n\n" for name, value in properties.items()) + "$$$$\n"
    packed = gzip.compress(text.replace("\n", "\r\n").encode())
    (tmp_path / name).write_bytes(packed if name.endswith(".gz") else text.encode())
    with open_table(tmp_path / name) as table:
        assert table.columns == ("smiles", "id", "y", "note", "extra")
        rows = list(table.rows(table.columns))
    assert rows == [(1, ["CCO", "one", "1.5", "", ""]), (3, ["c1ccccc1", "three", "", "", "x"])]
    with pytest.raises(BadRowsError, match="record 2"):
        from_smiles_csv(tmp_path / name)
    pool = from_smiles_csv(tmp_path / name, identifier="id", target="y", on_error="skip")
    assert (pool.ids, pool.smiles, pool.targets[0]) == (("one", "three"), ("CCO", "c1ccccc1"), 1.5)


SHEET = book(["id", "smiles", "y"], ["m0", "CCO", "1"])
OTHER_ENCODINGS = [
    ("id,smiles\n$$$$\n" * 9000 + "müller,CCO\n").encode(code) for code in ("latin-1", "utf-16-le", "utf-32")
]


@pytest.mark.parametrize(
    ("name", "content", "field"),
    [
        ("t.csv", "", "empty"),
        ("t.csv.gz", gzip.compress(b"smiles\nC\n", mtime=0)[:-9], "complete"),
        ("t.xlsx", "", "complete"),
        ("t.parquet", "", "complete"),
        ("t.csv", "smiles,y,y\nC,1,2\n", "`y`"),
        ("t.csv", "smiles\nC\0\n", "line 2"),
        *((name, content, "UTF-8") for content in OTHER_ENCODINGS for name in ("t.csv", "t.sdf")),
        ("t.csv", 'smiles,n\nC,"open\nCC,1\n', "Line 3"),
        ("t.xls", "smiles\nC\n", ".xlsx"),
        ("t.xlsx.gz", "smiles\nC\n", "ends in .csv"),
        ("t.csv", "smilse,id\nC,a\n", "smilse"),
        ("t.csv", "SMILES,Smiles\nC,C\n", "--smiles"),
        ("t.csv", "CanonicalSMILES,IsomericSMILES\nC,C\n", "--smiles"),
        ("t.csv", "smiles,ID,Id\nC,a,b\n", "--id"),
        ("t.sdf", "C a\n", "record 1"),
        ("t.sdf", f"{BLOCK}$$$$\n" + "x\n" * 5000, "record 2"),
        ("t.sdf", "".join(f"> <p{k}>\n1\n\n$$$$\n" for k in range(5000)), "properties"),
        ("t.sdf.gz", gzip.compress(b"smiles\n" + b"C\n$$$$\n" * 10**4), "unpack"),
        ("t.xlsx", edited(SHEET, lambda sheet: sheet.replace(b'r="C2"', b'r="XFE2"')), "columns"),
        ("t.xlsx", edited(SHEET, lambda sheet: b'<!DOCTYPE x [<!ENTITY a "b">]>' + sheet[:-5]), "complete"),
    ],
)
def test_what_cannot_be_read_is_refused_at_the_door(tmp_path, monkeypatch, name, content, field):
    """The limits are divided by a thousand, so that nothing big has to be written."""
    monkeypatch.setattr("graph_bandit_env.tables.damage.MOST_UNPACKED", 1 << 16)
    monkeypatch.setattr("graph_bandit_env.tables.text.LONGEST", 1 << 12)
    monkeypatch.setattr("graph_bandit_env.tables.sdf.LONGEST", 1 << 12)
    monkeypatch.setattr("graph_bandit_env.tables.workbook.MOST_CELLS", 1000)
    (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ValueError, match=field):
        from_smiles_csv(tmp_path / name)


def test_a_big_table_that_is_packed_as_tables_are_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("graph_bandit_env.tables.damage.MOST_UNPACKED", 1 << 14)
    numbers = np.random.default_rng(0).integers(10**9, size=5000)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress("\n".join(["y", *map(str, numbers)]).encode()))
    assert len(outcome(tmp_path / "t.csv.gz")[1]) == 5000
