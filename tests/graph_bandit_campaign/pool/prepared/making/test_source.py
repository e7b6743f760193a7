import gzip

import pandas as pd
import pytest
from rdkit import Chem
from support.messy import assert_as_in_memory, messy_table, prepare_small

from graph_bandit_campaign import PrepareSettings

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


def test_decimal_commas_are_read_as_in_memory(tmp_path):
    (tmp_path / "pool.csv").write_text("smiles;y\nCCO;1,5\nOCC;2,5\nCCN;n/a\n")
    pool = prepare_small(tmp_path / "pool.csv", tmp_path / "out")
    assert pool.load(["y"]).columns[:1].tolist() == [[2.0]]
    assert_as_in_memory(pool, tmp_path / "pool.csv", ("y",))
