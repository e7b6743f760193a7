import gzip

import pandas as pd
import pytest
from rdkit import Chem
from support.messy import TRAITS, assert_as_in_memory, messy_table, prepare_small

from graph_bandit_campaign import PrepareSettings
from graph_bandit_campaign.pool.prepared.making.source import Source, unpack

SOME = pd.DataFrame(
    {
        "id": ["a", "b", "c", "d", "e"],
        "smiles": ["CCO", "CCN", "OCC", "CCCl", "C1CC"],
        "price": [1.5, float("nan"), 3, 4, 5],
        "in stock": ["yes", "", "no", "yes", "no"],
    }
)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(PrepareSettings, "block", 2)


def write(folder, form):
    path = folder / f"pool{form}"
    if form == ".xlsx":
        SOME.to_excel(path, index=False)
    elif form == ".parquet":
        SOME.to_parquet(path)
    elif form in (".csv", ".csv.gz", ".tsv"):
        SOME.to_csv(path, index=False, sep="\t" if form == ".tsv" else ",")
    elif form in (".smi", ".smi.gz"):
        text = "".join(f"{smiles} {name}\n" for name, smiles in zip(SOME["id"], SOME["smiles"], strict=True))
        path.write_bytes(gzip.compress(text.encode()) if form.endswith(".gz") else text.encode())
    elif form == ".sdf":
        with Chem.SDWriter(str(path)) as writer:
            for name, smiles, price in SOME[["id", "smiles", "price"]].iloc[:4].itertuples(index=False):
                molecule = Chem.MolFromSmiles(smiles)
                molecule.SetProp("_Name", name)
                molecule.SetProp("price", str(price))
                writer.write(molecule)
    return path


@pytest.mark.parametrize("form", [".csv", ".csv.gz", ".tsv", ".smi", ".smi.gz", ".sdf", ".xlsx", ".parquet"])
def test_tables_of_any_form_are_read(tmp_path, form):
    path = write(tmp_path, form)
    pool = prepare_small(path, tmp_path / "out", 2)
    columns = () if "smi" in form else ("price",)
    expected = assert_as_in_memory(pool, path, columns, identifier="id")
    assert expected.ids == ("a", "b", "d")
    assert len(pool.parts) == (2 if form == ".sdf" else 3)


@pytest.mark.parametrize("form", [".csv", ".smi", ".sdf", ".parquet"])
def test_rows_are_counted_before_they_are_read(tmp_path, form):
    settings = PrepareSettings(pool=write(tmp_path, form), out=tmp_path / "out")
    _, rows = Source(settings).digest()
    assert abs(rows - 5) <= 1


def test_a_folder_of_tables_is_one_table_in_the_order_of_names(tmp_path):
    whole, folder = tmp_path / "pool.csv", tmp_path / "tables"
    whole.write_text(messy_table(150, seed=0))
    header, *rows = whole.read_text().splitlines(keepends=True)
    folder.mkdir()
    for name, part in (("b.csv", rows[70:90]), ("a.csv", rows[:70]), ("c.csv", rows[90:])):
        (folder / name).write_text(header + "".join(part))
    (folder / "notes.md").write_text("no table")
    (folder / ".a.csv.npz").write_text("no table")
    pool, one = prepare_small(folder, tmp_path / "out", 16), prepare_small(whole, tmp_path / "one", 16)
    loaded, expected = pool.load(["score"]), one.load(["score"])
    assert (loaded.ids, loaded.smiles) == (expected.ids, expected.smiles)
    assert dict(loaded.aliases) == dict(expected.aliases)
    assert [text.split(" is another")[0] for _, text in loaded.skipped] == [
        text.split(" is another")[0] for _, text in expected.skipped
    ]
    listed = pool.bad_rows.read_text().splitlines()
    assert listed[0] == "file,line,text,problem"
    assert {line.split(",")[0] for line in listed[1:]} == {"a.csv", "b.csv", "c.csv"}
    assert any("is another molecule in a.csv, line " in line for line in listed)


def test_tables_of_a_folder_with_other_columns_are_refused(tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "a.csv").write_text("smiles,score\nCC,1\n")
    (tmp_path / "tables" / "b.csv").write_text("smiles,scores\nCC,1\n")
    with pytest.raises(ValueError, match="Only one of a.csv and b.csv has score, scores"):
        prepare_small(tmp_path / "tables", tmp_path / "out")
    (tmp_path / "tables" / "b.csv").write_text("smiles;score\nCC;1\n")
    with pytest.raises(ValueError, match="equal decimal marks in .*. Got `.` in a.csv, and `,` in b.csv"):
        prepare_small(tmp_path / "tables", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_is_no_table_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(FileNotFoundError, match="Expected a folder with tables"):
        prepare_small(tmp_path, tmp_path / "out")
    with pytest.raises(FileNotFoundError, match="there is no such file or folder"):
        prepare_small(tmp_path / "no.csv", tmp_path / "out")
    path = write(tmp_path, ".csv")
    with pytest.raises(ValueError, match="Expected a column `SMI`.*Did you mean `smiles`"):
        prepare_small(path, tmp_path / "out", smiles="SMI")
    prepare_small(path, tmp_path / "out")
    with pytest.raises(ValueError, match="out is a prepared pool already"):
        prepare_small(tmp_path / "out", tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_a_table_without_any_molecule_is_refused_and_its_bad_rows_are_listed(tmp_path):
    (tmp_path / "pool.csv").write_text("smiles,id\nC1CC,a\n,b\nCC,c\nCCC,c\n")
    with pytest.raises(ValueError, match=r"Got none \(4 bad rows, which .*bad_rows.csv lists\)"):
        prepare_small(tmp_path / "pool.csv", tmp_path / "out")
    listed = (tmp_path / "out" / "bad_rows.csv").read_text().splitlines()
    assert len(listed) == 5
    assert listed[3] == "pool.csv,4,CC,`c` is another molecule in line 5."
    assert not (tmp_path / "out" / "manifest.json").exists()
    with pytest.raises(ValueError, match="Got none"):
        prepare_small(tmp_path / "pool.csv", tmp_path / "out")


def test_a_formula_in_a_column_that_nobody_asks_for_is_no_bad_row(tmp_path):
    from openpyxl import Workbook

    book = Workbook()
    for row in (["smiles", "remark"], ["CCO", "=1+1"], ["CCN", 3]):
        book.active.append(row)
    book.save(tmp_path / "pool.xlsx")
    pool = prepare_small(tmp_path / "pool.xlsx", tmp_path / "out")
    (block,) = pool.blocks(columns=["remark"])
    assert block.smiles == ["CCO", "CCN"]
    with pytest.raises(ValueError, match="pool.xlsx, row 2: expected a number.*a formula without a value"):
        block.numbers(["remark"])


def test_decimal_commas_are_read_as_in_memory(tmp_path):
    (tmp_path / "pool.csv").write_text("smiles;y\nCCO;1,5\nOCC;2,5\nCCN;n/a\n")
    pool = prepare_small(tmp_path / "pool.csv", tmp_path / "out")
    assert pool.load(["y"]).columns[:1].tolist() == [[2.0]]
    assert_as_in_memory(pool, tmp_path / "pool.csv", ("y",))


def test_capitals_of_the_column_of_names_do_not_count(tmp_path):
    (tmp_path / "pool.csv").write_text("ID,smiles\na,CCO\nb,CCN\n")
    assert [block.ids for block in prepare_small(tmp_path / "pool.csv", tmp_path / "out")] == [["a", "b"]]


def test_sheets_and_hidden_rows_are_told(tmp_path, capsys):
    from openpyxl import Workbook

    book = Workbook()
    for row in (["smiles"], ["CCO"], ["CCN"]):
        book.active.append(row)
    book.active.row_dimensions[2].hidden = True
    book.create_sheet("Other")
    book.save(tmp_path / "pool.xlsx")
    prepare_small(tmp_path / "pool.xlsx", tmp_path / "out")
    assert capsys.readouterr().out.startswith(
        "1 hidden rows of pool.xlsx read, too.\n"
        "Sheet `Sheet` of pool.xlsx read, the first of 2 (--sheet names another).\n"
    )


def test_chunks_are_packed_and_unpacked(tmp_path):
    source = Source(PrepareSettings(pool=write(tmp_path, ".csv"), out=tmp_path / "out", traits=TRAITS))
    first, second, third = source.chunks(2)
    assert [chunk.number for chunk in (first, second, third)] == [0, 1, 2]
    assert unpack(second.to_bytes())["row"].to_pylist() == [4, 5]
    assert unpack(third.to_bytes())["column:in stock"].to_pylist() == ["no"]
