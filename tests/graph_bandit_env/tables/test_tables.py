"""The same content says the same, whatever kind of file holds it."""

import csv
import gzip
import io
import re
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdkit import Chem

from graph_bandit_env import from_smiles_csv
from graph_bandit_env.pools.molecule_rows import BadRowsError
from graph_bandit_env.tables import open_table
from graph_bandit_env.tables.table import EITHER, Table, decimal_mark

openpyxl = pytest.importorskip("openpyxl")
pa = pytest.importorskip("pyarrow")
KINDS = ("comma.csv", "semicolon.csv", "decimal.csv", "tab.tsv", "packed.csv.gz", "book.xlsx", "file.parquet")
SMILES = ("C", "CC", "CCO", "OCC", "c1ccccc1", "nonsense", "")
NAMES = ("", "a", "b, or not", 'c"d', "7", "007", "é;1", "two\nlines")
VALUES = ("", "1", "2.5", "-3e-05", "0.1", "failed", "Pending", "n.d.", "high", "#N/A", "1e400", "2024-05-01")
NOTES = ("", "n", "a,b;c", "\t")
ROWS = st.lists(st.tuples(*map(st.sampled_from, (NAMES, SMILES, VALUES, NOTES))), max_size=12)
LENGTHS = st.lists(
    st.integers(0, 6), min_size=12, max_size=12
)  # of rows; some are short, some have empty cells too many


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


def write(folder, kind, header, rows):
    path = folder / kind
    delimiter = {"semicolon.csv": ";", "decimal.csv": ";", "tab.tsv": "\t"}.get(kind, ",")
    if kind == "book.xlsx":
        book = openpyxl.Workbook()
        for row in (header, *rows):
            book.active.append([as_spreadsheets_hold(cell) for cell in row])
        book.save(path)
    elif kind == "file.parquet":
        from pyarrow import parquet

        full = [[*row[:4], *[""] * (4 - len(row))] for row in rows]
        columns = {name: [row[k] or None for row in full] for k, name in enumerate(header)}
        parquet.write_table(pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()}), path)
    else:
        text = text_of([header, *rows], delimiter, "," if kind == "decimal.csv" else ".").encode()
        path.write_bytes(gzip.compress(text) if kind.endswith(".gz") else text)
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
    paths = [write(folder, kind, header, ragged) for kind in KINDS]
    pools = [pool_of(path) for path in paths]
    for kind, pool in zip(KINDS, pools, strict=True):
        assert pool == pools[0], kind


@pytest.fixture
def table(tmp_path):
    def put(content, name="pool.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


def rows_of(path, *columns, **more):
    with open_table(path, **more) as opened:
        return list(opened.rows(columns)), opened.problems


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("smiles\tIC50, nM", "C\t1"),
        ("smiles;IC50, nM, mean", "C;1"),
        ('"smiles";"a, b, c, d"', "C;1"),
        ("smiles,a;b", "C,1"),
        ('"smiles",y', '"C",1'),
    ],
)
def test_the_delimiter_is_what_header_and_rows_agree_on(table, header, row):
    ((number, cells),), _ = rows_of(table(f"{header}\n{row}\n"), "smiles")
    assert (number, cells) == (2, ["C"])


def test_rows_are_numbered_as_people_see_them(table, tmp_path):
    path = table('\nid,smiles,y\na,"C",1\n\nb,"two\nlines",2\n ,,\nc,C,3\n')
    assert [number for number, _ in rows_of(path, "id")[0]] == [3, 6, 8]
    book = openpyxl.Workbook()
    book.active.title = "Data"
    for row in ([], ["id", "smiles"], ["a", "C"], [None, " "], ["b", "C"]):
        book.active.append(row)
    book.create_sheet("Other").append(["smiles"])
    book.save(tmp_path / "book.xlsx")
    with open_table(tmp_path / "book.xlsx") as opened:
        assert [opened.where(number) for number, _ in opened.rows(["id"])] == [
            "book.xlsx, sheet `Data`, row 3",
            "book.xlsx, sheet `Data`, row 5",
        ]
        assert opened.sheets == ("Data", "Other")


def test_sheets_are_chosen_by_name_and_hidden_ones_are_not_the_first(tmp_path, table):
    book = openpyxl.Workbook()
    book.active.title, book.active.sheet_state = "Hidden", "hidden"
    for name in ("First", "Second"):
        book.create_sheet(name).append(["smiles", name])
    book.save(tmp_path / "book.xlsx")
    for sheet, found in ((None, "First"), ("Second", "Second")):
        with open_table(tmp_path / "book.xlsx", sheet) as opened:
            assert opened.columns == ("smiles", found)
    with pytest.raises(ValueError, match="Third"):
        rows_of(tmp_path / "book.xlsx", sheet="Third")
    with pytest.raises(ValueError, match="Hidden"):
        rows_of(tmp_path / "book.xlsx", sheet="Hidden")
    with pytest.raises(ValueError, match="First"):
        rows_of(table("smiles\nC\n"), sheet="First")


def edited(path, *replacements):
    """A workbook whose first sheet was written by another program."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for old, new in replacements:
        assert old in parts["xl/worksheets/sheet1.xml"]
        parts["xl/worksheets/sheet1.xml"] = parts["xl/worksheets/sheet1.xml"].replace(old, new)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def test_formulas_count_as_they_were_last_computed(tmp_path):
    path, book = tmp_path / "book.xlsx", openpyxl.Workbook()
    for row in (["id", "y", "note"], ["a", "=1+1", 1], ["b", "=2+2", 2], ["c", '=""', 3], ["d", 4, "=5"]):
        book.active.append(row)
    book.save(path)
    rows, problems = rows_of(path, "id", "y")  # openpyxl computes nothing
    assert rows == [(5, ["d", "4"])]
    assert [number for number, _ in problems] == [2, 3, 4]
    assert problems[0][1] == "a formula without a value, =1+1. Open the workbook in Excel and save it again."
    edited(path, (b"<f>1+1</f><v />", b"<f>1+1</f><v>2</v>"), (b"<f>2+2</f><v />", b"<f>2+2</f><v>4</v>"))
    edited(path, (b'<c r="B4"><f>""</f><v />', b'<c r="B4" t="str"><f>""</f><v></v>'))
    assert rows_of(path, "id", "y") == ([(2, ["a", "2"]), (3, ["b", "4"]), (4, ["c", ""]), (5, ["d", "4"])], [])


@pytest.fixture
def structures(tmp_path):
    """Three records as a drawing program writes them: the second is broken."""
    text = ""
    for title, smiles, properties in (
        ("one", "CCO", {"y": "1.5", "smiles": "wrong"}),
        ("two", "C", {"y": "failed", "note": "first\nsecond"}),
        ("three", "c1ccccc1", {"extra": "x"}),
    ):
        molecule = Chem.MolFromSmiles(smiles)
        molecule.SetProp("_Name", title)
        block = Chem.MolToMolBlock(molecule)
        block = block.replace(" C ", " Qq", 1) if title == "two" else block
        text += block + "".join(f">  <{name}>\n{value}\n\n" for name, value in properties.items()) + "$$$$\n"
    (tmp_path / "pool.sdf").write_text(text)
    (tmp_path / "pool.sdf.gz").write_bytes(gzip.compress(text.replace("\n", "\r\n").encode()))
    return tmp_path


@pytest.mark.parametrize("name", ["pool.sdf", "pool.sdf.gz"])
def test_records_of_an_sdf_file_are_rows(structures, name):
    with open_table(structures / name) as opened:
        assert opened.columns == ("smiles", "id", "y", "note", "extra")
        rows = list(opened.rows(opened.columns))
    assert rows == [(1, ["CCO", "one", "1.5", "", ""]), (3, ["c1ccccc1", "three", "", "", "x"])]
    assert opened.problems == [(2, "RDKit reads no molecule from the structure.")]
    with pytest.raises(BadRowsError, match="record 2"):
        from_smiles_csv(structures / name)
    pool = from_smiles_csv(structures / name, identifier="id", target="y", on_error="skip")
    assert (pool.ids, pool.smiles, pool.targets[0]) == (("one", "three"), ("CCO", "c1ccccc1"), 1.5)


@pytest.mark.parametrize(
    ("content", "name", "field"),
    [
        ("", "pool.csv", "empty"),
        (gzip.compress(b"smiles\nC\n", mtime=0)[:-9], "pool.csv.gz", "complete"),
        ("", "pool.xlsx", "complete"),
        ("", "pool.parquet", "complete"),
        ("smiles,y,y\nC,1,2\n", "pool.csv", "`y`"),
        ("smiles\nC\0\n", "pool.csv", "line 2"),
        ("C müller\n".encode("latin-1"), "pool.smi", "UTF-8"),
        ('smiles,n\nC,"open\nCC,1\n', "pool.csv", "Line 3"),
        ("smiles\nC\n", "pool.xls", ".xlsx"),
        ("smiles\nC\n", "pool.xlsx.gz", "ends in .csv"),
        ("smilse,id\nC,a\n", "pool.csv", "smilse"),
        ("SMILES,Smiles\nC,C\n", "pool.csv", "--smiles"),
        ("CanonicalSMILES,IsomericSMILES\nC,C\n", "pool.csv", "--smiles"),
        ("smiles,ID,Id\nC,a,b\n", "pool.csv", "--id"),
        ("C a\n", "pool.sdf", "record 1"),
    ],
)
def test_what_cannot_be_read_is_told_at_the_door(table, content, name, field):
    with pytest.raises(ValueError, match=field):
        from_smiles_csv(table(content, name))


@pytest.mark.parametrize(
    ("text", "decimal", "value"),
    [
        ("1.234", ".", 1.234),
        ("1,234", ",", 1.234),
        ("1.5", ",", 1.5),
        ("0.234", ",", 0.234),
        ("1234.567", ",", 1234.567),
        ("1.234e3", ",", 1234.0),
        ("4,0", EITHER, 4.0),
        ("1.234", EITHER, 1.234),
        ("0,234", EITHER, 0.234),
        ("-,25e2", ",", -25.0),
        ("\N{MINUS SIGN}2", ".", -2.0),
        ("n.d.", ",", None),
        ("-", ".", None),
    ],
)
def test_what_can_only_be_one_number_is_read(text, decimal, value):
    assert Table(Path("t.csv"), ("y",), (), decimal=decimal).number(text) == value


@pytest.mark.parametrize(
    ("text", "decimal"),
    [
        *(("1.234", ","), ("-12.345", ","), ("1,234", EITHER), ("1,5", "."), ("1,234,567", EITHER)),
        *((text, ".") for text in ("5-Mar", "02.03.2026", "5 ± 1", "2 to 3", "1_000", "inf", "1e999")),
    ],
)
def test_what_could_be_two_numbers_or_none_is_refused(text, decimal):
    with pytest.raises(ValueError, match="`y`"):
        Table(Path("t.csv"), ("y",), (), decimal=decimal).number(text, " in `y`")


@pytest.mark.parametrize(
    ("delimiter", "cells", "mark"),
    [
        (",", ["1,5"], "."),
        (";", [], ","),
        (";", ["1,5", "1.5"], ","),
        (";", ["1.5", "950"], "."),
        (";", ["1.234", "950"], ","),
        (";", ["1,234", "0.5"], "."),
        ("\t", [], "."),
        ("\t", ["1,5", "950"], ","),
        ("\t", ["1,5", "1.5"], "."),
        ("\t", ["1,234", "950"], "."),
    ],
)
def test_the_decimal_mark_is_what_clear_numbers_show(delimiter, cells, mark):
    assert decimal_mark(delimiter, cells) == mark
