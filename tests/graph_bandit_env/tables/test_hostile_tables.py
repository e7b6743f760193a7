"""A table that is damaged, oversized or in another encoding is refused in clear words, never read wrongly."""

import gzip
import io
import zipfile

import numpy as np
import pytest
from rdkit import Chem

from graph_bandit_campaign.results.rows import BadResultsError, Columns, ResultTables
from graph_bandit_env import from_smiles_csv
from graph_bandit_env.pools.molecule_rows import BadRowsError
from graph_bandit_env.tables import open_table

openpyxl = pytest.importorskip("openpyxl")
pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
HEADER, ROWS = ["id", "smiles", "y"], [["m0", "CCO", "1"], ["m1", "C", "2"], ["m2", "CCN", "3"]]
PACKED = ("table.csv.gz", "table.smi.gz", "table.sdf.gz", "table.xlsx", "table.parquet")
BLOCK = Chem.MolToMolBlock(Chem.MolFromSmiles("CCO"))


def put(path, header, rows):
    """Write a table of the kind that its name says; a row may be longer than the header."""
    kind = path.name.removeprefix(path.stem.split(".")[0])
    if kind == ".xlsx":
        book = openpyxl.Workbook()
        for row in (header, *rows):
            book.active.append(row)
        book.save(path)
    elif kind == ".parquet":
        arrays = [pa.array([row[k] for row in rows]) for k in range(len(header))]
        parquet.write_table(pa.Table.from_arrays(arrays, names=header), path, write_page_checksum=True)
    elif kind.startswith(".sdf"):
        records = (
            f"{row[0]}\n{BLOCK.split(chr(10), 1)[1]}"
            + "".join(f"> <{name}>\n{cell}\n\n" for name, cell in zip(header[2:], row[2:], strict=True))
            for row in rows
        )
        _put_text(path, "".join(f"{record}$$$$\n" for record in records))
    elif kind.startswith(".smi"):
        _put_text(path, "".join(f"{row[1]} {row[0]}\n" for row in rows))
    else:
        delimiter = "\t" if kind == ".tsv" else ";" if path.stem == "semicolons" else ","
        _put_text(path, "".join(delimiter.join(row) + "\n" for row in (header, *rows)))
    return path


def _put_text(path, text):
    path.write_bytes(gzip.compress(text.encode(), mtime=0) if path.suffix == ".gz" else text.encode())


def cells_of(path, *columns):
    with open_table(path) as table:
        return [cells for _, cells in table.rows(columns or table.columns)], table.problems


# --- What could be read as another value


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "semicolons.csv", "t.txt", "t.csv.gz", "t.xlsx"])
def test_a_decimal_comma_that_makes_one_cell_more_is_refused_with_its_line(tmp_path, name):
    rows = [["m0", "C", "1"], ["m1", "CC", "1", "5"], ["m2", "CCC", "2"]]
    path = put(tmp_path / name, HEADER, rows)
    unit, told = "row" if name.endswith("xlsx") else "line", "expected 3 cells, as the header has. Got 4"
    with pytest.raises(BadRowsError, match=f"{unit} 3: {told}"):
        from_smiles_csv(path, target="y", identifier="id")
    with pytest.raises(BadResultsError, match=f"{unit} 3: {told}"):
        ResultTables.open([path]).read(Columns("y", "id"))
    assert from_smiles_csv(path, target="y", identifier="id", on_error="skip").ids == ("m0", "m2")


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "semicolons.csv", "t.txt", "t.csv.gz", "t.xlsx", "t.parquet"])
def test_two_columns_of_one_name_are_refused(tmp_path, name):
    path = put(tmp_path / name, [*HEADER, "y"], [[*row, "9"] for row in ROWS])
    message = "columns with different names in .*. Got `y` more than once. Rename them."
    with pytest.raises(ValueError, match=message):
        from_smiles_csv(path, target="y")
    with pytest.raises(ValueError, match=message):
        ResultTables.open([path]).read(Columns("y"))


def test_a_property_twice_in_one_record_is_refused_with_its_number(tmp_path):
    path = put(tmp_path / "t.sdf", [*HEADER, "y"], [[*row, row[2]] for row in ROWS[:1]])
    path.write_text(path.read_text() + put(tmp_path / "u.sdf", HEADER, ROWS[1:]).read_text())
    told = "record 1: the property `y` stands there more than once. Is `.*` missing"
    with pytest.raises(BadRowsError, match=told):
        from_smiles_csv(path, target="y")
    with pytest.raises(BadResultsError, match=told):
        ResultTables.open([path]).read(Columns("y"))
    assert len(from_smiles_csv(path)) == 1  # where the property is not asked for, it does no harm


def test_two_structures_in_one_record_are_refused(tmp_path):
    (tmp_path / "t.sdf").write_text(f"{BLOCK}{BLOCK}$$$$\n")
    with pytest.raises(BadRowsError, match="record 1: there are two structures. Is `.*` missing"):
        from_smiles_csv(tmp_path / "t.sdf")


def test_a_property_without_a_name_is_left_out(tmp_path):
    (tmp_path / "t.sdf").write_text(f"{BLOCK}> <y>\n1\n\n> <>\nx\n\n$$$$\n")
    assert cells_of(tmp_path / "t.sdf") == ([["CCO", "", "1"]], [])


def test_text_of_a_parquet_file_need_not_be_marked_as_text(tmp_path):
    columns = {"smiles": [b"CCO", b"C"], "id": ["é".encode(), None]}
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    assert cells_of(tmp_path / "t.parquet") == ([["CCO", "é"], ["C", ""]], [])


# --- Encodings


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("name", ["t.csv", "t.txt", "t.csv.gz"])
def test_utf_16_is_read_by_its_mark(tmp_path, name, encoding):
    text = "id\tsmiles\ty\nmüller–7\tCCO\t1.5\n"
    content = ("\ufeff" + text if encoding == "utf-16-be" else text).encode(encoding)
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert cells_of(tmp_path / name) == ([["müller–7", "CCO", "1.5"]], [])


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "mac-roman", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("name", ["t.csv", "t.smi", "t.sdf", "t.csv.gz"])
def test_text_of_another_encoding_is_refused_with_what_to_save_it_as(tmp_path, name, encoding):
    content = ("id,smiles\n" * 9000 + "müller,CCO\n").encode(encoding)  # far from the beginning too
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(ValueError, match=r"(?s)^Expected .*Got .*Save it as `CSV UTF-8`"):
        cells_of(tmp_path / name)


def test_utf_16_that_is_cut_off_is_refused(tmp_path):
    (tmp_path / "t.csv").write_bytes("id,smiles\na,C\n".encode("utf-16")[:-1])
    with pytest.raises(ValueError, match="in UTF-16. Got other bytes"):
        cells_of(tmp_path / "t.csv")


# --- Damage


@pytest.mark.parametrize("name", PACKED)
def test_a_packed_table_that_is_cut_off_is_refused(tmp_path, name):
    path = put(tmp_path / name, HEADER, ROWS)
    whole, generator = path.read_bytes(), np.random.default_rng(0)
    for length in (1, len(whole) - 1, *generator.integers(1, len(whole), 8)):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="to be complete, and of the kind its name says"):
            cells_of(path)


@pytest.mark.parametrize("name", PACKED)
def test_a_flipped_bit_of_a_packed_table_never_changes_a_cell(tmp_path, name):
    path = put(tmp_path / name, HEADER, ROWS)
    whole, generator = path.read_bytes(), np.random.default_rng(1)
    right, names = cells_of(path), {"id", "smiles", "y"}
    for place, bit in zip(generator.integers(len(whole), size=25), generator.integers(8, size=25), strict=True):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
        refused, columns, cells = "", (), []
        try:
            with open_table(path) as table:
                columns, cells = table.columns, [cells for _, cells in table.rows(table.columns)]
        except ValueError as error:
            refused = str(error)
        # The names of columns in a Parquet file have no checksum.
        assert refused.startswith("Expected") or cells == right[0] or set(columns) != names


def test_a_parquet_file_that_ends_before_its_last_row_is_refused(tmp_path):
    path = put(tmp_path / "t.parquet", HEADER, ROWS * 12)
    whole, lost = path.read_bytes(), []
    for place in range(4, 170):  # a zero ends the header of a page, which has no checksum
        path.write_bytes(whole[:place] + b"\0" + whole[place + 1 :])
        try:
            lost += [place] if cells_of(path)[0] != ROWS * 12 else []
        except ValueError as error:
            lost += [] if "to be complete" in str(error) else [place]
    assert lost == []


# --- Files that unpack to gigabytes, and lines and cells without end


@pytest.fixture
def small_limits(monkeypatch):
    """The limits divided by a thousand, so that nothing big has to be written."""
    monkeypatch.setattr("graph_bandit_env.tables.damage.MOST_UNPACKED", 1 << 14)
    monkeypatch.setattr("graph_bandit_env.tables.lines.LONGEST", 1 << 12)
    monkeypatch.setattr("graph_bandit_env.tables.sdf.LONGEST", 1 << 12)
    monkeypatch.setattr("graph_bandit_env.tables.workbook.MOST_CELLS", 1000)
    monkeypatch.setattr("graph_bandit_env.tables.workbook.MOST_ROWS", 1000)


def packed_sheet(path, sheet):
    put(path, HEADER, ROWS)
    content = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, sheet(old.read(name)) if name.endswith("sheet1.xml") else old.read(name))
    path.write_bytes(content.getvalue())
    return path


@pytest.mark.parametrize("name", ["t.csv.gz", "t.smi.gz", "t.sdf.gz"])
def test_a_packed_text_of_zeros_is_refused_before_it_is_unpacked(tmp_path, name):
    (tmp_path / name).write_bytes(gzip.compress(b"smiles\nC\n") + gzip.compress(bytes(1 << 20)) * 256)
    with pytest.raises(ValueError, match=r"lines of at most 4,194,304 characters in .*. Line [13] is longer"):
        cells_of(tmp_path / name)


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("name", ["t.csv.gz", "t.smi.gz", "t.sdf.gz"])
def test_a_packed_text_of_many_lines_is_refused_as_soon_as_it_is_too_big(tmp_path, name):
    (tmp_path / name).write_bytes(gzip.compress(b"smiles\n" + b"C\n$$$$\n" * 10_000))
    with pytest.raises(ValueError, match=r"to unpack to at most 50 times its .* bytes. .* as a plain .csv file"):
        cells_of(tmp_path / name)


@pytest.mark.usefixtures("small_limits")
def test_a_big_table_that_is_packed_as_tables_are_is_read(tmp_path):
    numbers = np.random.default_rng(0).integers(10**9, size=5000)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress("\n".join(["y", *map(str, numbers)]).encode()))
    assert len(cells_of(tmp_path / "t.csv.gz")[0]) == 5000


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda sheet: sheet + b" " * 10**6, "to unpack to at most 50 times"),
        (lambda sheet: sheet.replace(b'<row r="2"', b'<row r="99999999999"'), "at most 1,000 rows"),
        (lambda sheet: sheet.replace(b'r="C2"', b'r="XFE2"'), "16,384 columns"),
        (lambda sheet: sheet.replace(b'r="C2"', b'r="BBB2"'), "and 1,000 cells"),
        (lambda sheet: b'<!DOCTYPE x [<!ENTITY a "b">]>' + sheet[:-5], "to be complete, and of the kind"),
    ],
)
def test_a_sheet_without_measure_is_refused(tmp_path, monkeypatch, change, message):
    monkeypatch.setattr("graph_bandit_env.tables.damage.MOST_UNPACKED", 1 << 16)
    with pytest.raises(ValueError, match=message):
        cells_of(packed_sheet(tmp_path / "t.xlsx", change))


@pytest.mark.usefixtures("small_limits")
def test_a_parquet_file_of_endless_rows_is_refused(tmp_path):
    rows = pa.table({"smiles": pa.array(["C"] * 10**5).dictionary_encode()})
    with parquet.ParquetWriter(tmp_path / "t.parquet", rows.schema) as writer:
        for _ in range(10):
            writer.write_table(rows)
    with pytest.raises(ValueError, match="to unpack to at most 50 times"):
        cells_of(tmp_path / "t.parquet")


@pytest.mark.parametrize("name", ["t.csv", "t.tsv"])
def test_a_cell_of_a_million_characters_is_refused_in_clear_words(tmp_path, name):
    for rows in ([["m0", "C", "x" * 10**6]], [*ROWS * 40, ["m0", "C", "x" * 10**6]]):
        with pytest.raises(ValueError, match="^Expected a table .* no cell may have more than 131,072 characters"):
            cells_of(put(tmp_path / name, HEADER, rows))


@pytest.mark.usefixtures("small_limits")
def test_a_record_of_an_sdf_file_without_end_is_refused(tmp_path):
    (tmp_path / "t.sdf").write_text(f"{BLOCK}$$$$\n" + "x\n" * 5000)
    with pytest.raises(ValueError, match=r"Expected `\$\$\$\$` after record 2 in .*. Got 4,096 characters without it"):
        cells_of(tmp_path / "t.sdf")


def test_an_sdf_file_of_endless_properties_is_refused(tmp_path):
    (tmp_path / "t.sdf").write_text("".join(f"> <p{k}>\n1\n\n$$$$\n" for k in range(5000)))
    with pytest.raises(ValueError, match="at most 4,096 properties in .*. Got 5,000"):
        cells_of(tmp_path / "t.sdf")


def test_a_giant_structure_of_an_sdf_file_is_a_bad_record(tmp_path, monkeypatch):
    monkeypatch.setattr("graph_bandit_env.tables.sdf.MOST_ATOMS", 2)
    with pytest.raises(BadRowsError, match="record 1: the structure has 3 atoms, more than 2"):
        from_smiles_csv(put(tmp_path / "t.sdf", HEADER, ROWS))


def test_a_header_of_100_000_columns_is_read_in_a_moment(tmp_path):
    (tmp_path / "t.csv").write_text(",".join(f"c{k}" for k in range(100_000)) + "\n1\n")
    assert cells_of(tmp_path / "t.csv", "c0") == ([["1"]], [])


@pytest.mark.parametrize("far", [0, 200])
def test_nul_bytes_are_refused_wherever_they_are(tmp_path, far):
    (tmp_path / "t.csv").write_text("id,smiles\n" + "a,C\n" * far + "b,C\0C\n")
    with pytest.raises(ValueError, match=f"NUL bytes in line {far + 2}"):
        cells_of(tmp_path / "t.csv")
