"""The same content says the same, whatever kind of file holds it."""

import csv
import datetime
import gzip
import io
import re
import sys
import warnings
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdkit import Chem

from graph_bandit_campaign.results.rows import BadResultsError, Columns, ResultTables
from graph_bandit_env import from_smiles_csv
from graph_bandit_env.extras import MissingExtraError
from graph_bandit_env.pools.molecule_rows import BadRowsError
from graph_bandit_env.tables import TooManyRowsError, open_table

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
        pool = from_smiles_csv(path, target="y", identifier="id", on_error="skip", cache=False)
    except ValueError as error:
        return str(error).replace(str(path), "")
    texts = [re.sub(r"in (line|row) \d+", "", text) for _, text in pool.skipped]
    return pool.smiles, pool.ids, pool.targets.tolist().__repr__(), texts, pool.merged, dict(pool.aliases)


def results_of(path):
    try:
        rows = ResultTables.open([path]).read(Columns("y", "id")).rows
    except BadResultsError as error:
        return [line.split(": ", 1)[-1] for line in str(error).splitlines()]
    except ValueError as error:
        return str(error)
    return [(row.identifier, row.smiles, row.value) for row in rows]


@given(ROWS, LENGTHS)
def test_random_ragged_tables_say_the_same_as_any_kind_of_file(tmp_path_factory, rows, lengths):
    folder, header = tmp_path_factory.mktemp("kinds"), ("id", "smiles", "y", "note")
    ragged = [[*row, "", ""][:length] if length else [] for row, length in zip(rows, lengths, strict=False)]
    paths = [write(folder, kind, header, ragged) for kind in KINDS]
    pools, results = [pool_of(path) for path in paths], [results_of(path) for path in paths]
    for kind, pool, result in zip(KINDS, pools, results, strict=True):
        assert pool == pools[0], kind
        assert result == results[0], kind


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


def test_a_semicolon_file_is_a_pool_too(table):
    molecules = from_smiles_csv(table("id;smiles;y\na;CCO;3,5\nb;C;1,5E-3\n"), target="y", identifier="id")
    assert (molecules.ids, molecules.targets.tolist()) == (("a", "b"), [3.5, 0.0015])


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
    with pytest.raises(ValueError, match="a sheet `Third` in .*. It has Hidden, First, Second"):
        rows_of(tmp_path / "book.xlsx", sheet="Third")
    with pytest.raises(ValueError, match="Expected a table with a header in .*. It is empty"):
        rows_of(tmp_path / "book.xlsx", sheet="Hidden")
    with pytest.raises(ValueError, match="a workbook .* with a sheet `First`"):
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


def test_a_date_in_a_column_of_numbers_is_told(tmp_path):
    book = openpyxl.Workbook()
    for row in (["smiles", "y"], ["C", datetime.date(2024, 5, 1)], ["CC", True], ["CCC", 1.0]):
        book.active.append(row)
    book.save(tmp_path / "book.xlsx")
    with pytest.raises(BadResultsError) as caught:
        ResultTables.open([tmp_path / "book.xlsx"]).read(Columns("y"))
    among = "a bound such as `>4.5`, `failed`, `pending` or nothing"
    assert f"row 2: expected a number, {among}. Got '2024-05-01'. That is a date" in str(caught.value)
    assert "row 3: expected a number, a bound such as `>4.5`, `failed`, `pending` or nothing. Got 'TRUE'" in str(
        caught.value
    )


def test_wrong_sizes_in_a_workbook_hide_no_rows(tmp_path):
    book = openpyxl.Workbook()
    for row in (["smiles", "y"], ["C", 1], ["CC", 2]):
        book.active.append(row)
    book.save(tmp_path / "book.xlsx")
    edited(tmp_path / "book.xlsx", (b'<dimension ref="A1:B3" />', b'<dimension ref="A1" />'))
    assert rows_of(tmp_path / "book.xlsx", "smiles", "y")[0] == [(2, ["C", "1"]), (3, ["CC", "2"])]


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
    with pytest.raises(BadRowsError, match="record 2: RDKit reads no molecule from the structure"):
        from_smiles_csv(structures / name)
    pool = from_smiles_csv(structures / name, identifier="id", target="y", on_error="skip")
    assert (pool.ids, pool.smiles, pool.targets[0]) == (("one", "three"), ("CCO", "c1ccccc1"), 1.5)


def test_results_may_come_as_sdf_without_a_last_end(table):
    block = Chem.MolToMolBlock(Chem.MolFromSmiles("CCO"))
    path = table(f"\n{block.lstrip()}> 1 <id> (7)\nm7\n\n> <y>\n2\n", "results.sdf")
    rows = ResultTables.open([path]).read(Columns("y", "id")).rows
    assert [(row.where, row.identifier, row.smiles, row.value) for row in rows] == [
        ("results.sdf, record 1", "m7", "CCO", 2.0)
    ]


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ("", "pool.csv", "It is empty"),
        ("smiles\nC\n", "pool.csv.gz", "complete, and of the kind its name says"),
        (gzip.compress(b"smiles\nC\n", mtime=0)[:-9], "pool.csv.gz", "complete, and of the kind its name says"),
        ("", "pool.xlsx", "complete, and of the kind its name says"),
        ("", "pool.parquet", "complete, and of the kind its name says"),
        ("smiles,y,y\nC,1,2\n", "pool.csv", "columns with different names in .*. Got `y` more than once"),
        ("smiles\nC\n".encode("utf-16-le"), "pool.csv", "NUL bytes in line 1. Save it as `CSV UTF-8`"),
        (
            "smiles,n\nC,müller\n".encode("latin-1"),
            "pool.csv",
            "in UTF-8. Got other bytes at .*müller.*. Save it as",
        ),
        ("C müller\n".encode("latin-1"), "pool.smi", "in UTF-8. Got other bytes at 'C müller.*'. Save it as"),
        ('smiles,n\nC,"open\nCC,1\n', "pool.csv", "Line 3 cannot be read.*a quotation mark|A cell that begins with"),
        ("smiles\nC\n", "pool.xls", "Got pool.xls. Save it as .xlsx or CSV UTF-8"),
        ("smiles\nC\n", "pool.doc", "ends in .csv, .tsv, .txt, .smi, .sdf .each also .gz., .xlsx, .parquet"),
        ("smiles\nC\n", "pool.xlsx.gz", "ends in .csv"),
        ("smiles\n", "pool.csv", "at least one molecule in .*pool.csv. Got none"),
        ("smiles,id\nC,a,b\n", "pool.csv", "line 2: expected 2 cells, as the header has. Got 3"),
        ("SMILES,id\nC,a\n", "pool.csv", "a column `smiles` in .*. It has SMILES, id. Did you mean `SMILES`?"),
        ("C a\n", "pool.sdf", "record 1: RDKit reads no molecule"),
    ],
)
def test_what_cannot_be_read_is_told_at_the_door(table, content, name, message):
    with pytest.raises(ValueError, match=message):
        from_smiles_csv(table(content, name))


@pytest.mark.parametrize(
    ("name", "module", "package", "extra"),
    [
        ("pool.xlsx", "openpyxl", "openpyxl", "chem"),
        ("pool.parquet", "pyarrow", "pyarrow", "parquet"),
        ("pool.sdf", "rdkit", "RDKit", "chem"),
    ],
)
def test_a_package_that_is_missing_is_named_with_its_extra(table, monkeypatch, name, module, package, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        MissingExtraError, match=rf"Reading {name} needs {package}: pip install 'graph-bandit-env\[{extra}\]'"
    ):
        rows_of(table("", name))


def test_numbers_are_what_people_call_numbers(table):
    with open_table(table("id;y\n")) as opened:
        assert [opened.number(text) for text in ("1,5", "1.5", "-,25", "2,5e-3", "N/A", "")] == [
            *(1.5, 1.5, -0.25, 0.0025),
            *(None, None),
        ]
    for text in ("1_000", "1,234.5", "1e999", "inf", "TRUE"):
        with open_table(table("id,y\n")) as opened, pytest.raises(ValueError, match="expected a (finite )?number"):
            opened.number(text)


def test_rows_above_a_limit_are_counted_and_not_kept(table):
    path = table("smiles\n" + "C\n\n" * 7)
    for most in (7, 8):
        with open_table(path) as opened:
            assert len(list(opened.rows(["smiles"], most))) == 7
    with open_table(path) as opened, pytest.raises(TooManyRowsError, match="at most 5 rows in .*. Got 7") as caught:
        list(opened.rows(["smiles"], 5))
    assert caught.value.count == 7


def test_a_workbook_says_nothing_of_what_is_not_needed(tmp_path):
    """Excel writes extensions that openpyxl warns of."""
    book = openpyxl.Workbook()
    book.active.append(["smiles"])
    book.save(tmp_path / "book.xlsx")
    edited(tmp_path / "book.xlsx", (b"</worksheet>", b'<extLst><ext uri="{x}"/></extLst></worksheet>'))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rows_of(tmp_path / "book.xlsx", "smiles") == ([], [])
