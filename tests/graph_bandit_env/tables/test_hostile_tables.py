"""A table that is damaged, oversized or in another encoding is refused in clear words, never read wrongly."""

import gzip
import io
import zipfile

import numpy as np
import pytest
from rdkit import Chem

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


@pytest.mark.parametrize("name", ["t.csv", "semicolons.csv", "t.xlsx"])
def test_a_decimal_comma_that_makes_one_cell_more_is_refused_with_its_line(tmp_path, name):
    rows = [["m0", "C", "1"], ["m1", "CC", "1", "5"], ["m2", "CCC", "2"]]
    path = put(tmp_path / name, HEADER, rows)
    with pytest.raises(BadRowsError, match=r"(row|line) 3: .* 3 cells"):
        from_smiles_csv(path, target="y", identifier="id")
    assert from_smiles_csv(path, target="y", identifier="id", on_error="skip").ids == ("m0", "m2")


def test_a_property_twice_in_one_record_is_refused_with_its_number(tmp_path):
    path = put(tmp_path / "t.sdf", [*HEADER, "y"], [[*row, row[2]] for row in ROWS[:1]])
    path.write_text(path.read_text() + put(tmp_path / "u.sdf", HEADER, ROWS[1:]).read_text())
    with pytest.raises(BadRowsError, match="record 1: the property `y`"):
        from_smiles_csv(path, target="y")
    assert len(from_smiles_csv(path, ignore_columns=["y"])) == 1  # where the property is not asked for, it does no harm


def test_two_structures_in_one_record_are_refused(tmp_path):
    (tmp_path / "t.sdf").write_text(f"{BLOCK}{BLOCK}$$$$\n")
    with pytest.raises(BadRowsError, match="record 1"):
        from_smiles_csv(tmp_path / "t.sdf")


# --- Encodings


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("name", ["t.txt", "t.csv.gz"])
def test_utf_16_is_read_by_its_mark(tmp_path, name, encoding):
    text = "id\tsmiles\ty\nmüller–7\tCCO\t1.5\n"
    content = ("\ufeff" + text if encoding == "utf-16-be" else text).encode(encoding)
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert cells_of(tmp_path / name) == ([["müller–7", "CCO", "1.5"]], [])


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16-le", "utf-32"])
@pytest.mark.parametrize("name", ["t.csv", "t.sdf"])
def test_text_of_another_encoding_is_refused_with_what_to_save_it_as(tmp_path, name, encoding):
    content = ("id,smiles\n" * 9000 + "müller,CCO\n").encode(encoding)  # far from the beginning too
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(ValueError, match="UTF-8"):
        cells_of(tmp_path / name)


# --- Damage


@pytest.mark.parametrize("name", PACKED)
def test_a_flipped_bit_of_a_packed_table_never_changes_a_cell(tmp_path, name):
    path = put(tmp_path / name, HEADER, ROWS)
    whole, generator = path.read_bytes(), np.random.default_rng(1)
    right, names = cells_of(path), {"id", "smiles", "y"}
    for place, bit in zip(generator.integers(len(whole), size=12), generator.integers(8, size=12), strict=True):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
        refused, columns, cells = "", (), []
        try:
            with open_table(path) as table:
                columns, cells = table.columns, [cells for _, cells in table.rows(table.columns)]
        except ValueError as error:
            refused = str(error)
        # The names of columns in a Parquet file have no checksum.
        assert refused.startswith("Expected") or cells == right[0] or set(columns) != names


# --- Files that unpack to gigabytes, and lines and cells without end


@pytest.fixture
def small_limits(monkeypatch):
    """The limits divided by a thousand, so that nothing big has to be written."""
    monkeypatch.setattr("graph_bandit_env.tables.damage.MOST_UNPACKED", 1 << 14)
    monkeypatch.setattr("graph_bandit_env.tables.text.LONGEST", 1 << 12)
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


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("name", ["t.csv.gz", "t.smi.gz", "t.sdf.gz"])
def test_a_packed_text_of_many_lines_is_refused_as_soon_as_it_is_too_big(tmp_path, name):
    (tmp_path / name).write_bytes(gzip.compress(b"smiles\n" + b"C\n$$$$\n" * 10_000))
    with pytest.raises(ValueError, match="unpack"):
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
        (lambda sheet: sheet + b" " * 10**6, "unpack"),
        (lambda sheet: sheet.replace(b'<row r="2"', b'<row r="99999999999"'), "rows"),
        (lambda sheet: sheet.replace(b'r="C2"', b'r="XFE2"'), "columns"),
        (lambda sheet: b'<!DOCTYPE x [<!ENTITY a "b">]>' + sheet[:-5], "complete"),
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
    with pytest.raises(ValueError, match="unpack"):
        cells_of(tmp_path / "t.parquet")


@pytest.mark.usefixtures("small_limits")
def test_a_record_of_an_sdf_file_without_end_is_refused(tmp_path):
    (tmp_path / "t.sdf").write_text(f"{BLOCK}$$$$\n" + "x\n" * 5000)
    with pytest.raises(ValueError, match="record 2"):
        cells_of(tmp_path / "t.sdf")


def test_an_sdf_file_of_endless_properties_is_refused(tmp_path):
    (tmp_path / "t.sdf").write_text("".join(f"> <p{k}>\n1\n\n$$$$\n" for k in range(5000)))
    with pytest.raises(ValueError, match="properties"):
        cells_of(tmp_path / "t.sdf")
