import pandas as pd
import pytest
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


@pytest.mark.parametrize(("form", "write"), [(".csv.gz", pd.DataFrame.to_csv), (".parquet", pd.DataFrame.to_parquet)])
def test_tables_of_any_form_are_read(tmp_path, form, write):
    path = tmp_path / f"pool{form}"
    write(SOME, path, index=False)
    pool = prepare_small(path, tmp_path / "out", 2)
    expected = assert_as_in_memory(pool, path, ("price",), identifier="id")
    assert expected.ids == ("a", "b", "d")
    assert len(pool.parts) == 3


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
    listed = pool.bad_rows.read_text().splitlines()
    assert {line.split(",")[0] for line in listed[1:]} == {"a.csv", "b.csv", "c.csv"}


def test_a_table_without_any_molecule_is_refused_and_its_bad_rows_are_listed(tmp_path):
    (tmp_path / "pool.csv").write_text("smiles,id\nC1CC,a\n,b\nCC,c\nCCC,c\n")
    with pytest.raises(ValueError, match="4 rows are bad"):
        prepare_small(tmp_path / "pool.csv", tmp_path / "out")
    listed = (tmp_path / "out" / "bad_rows.csv").read_text().splitlines()
    assert len(listed) == 5
    assert not (tmp_path / "out" / "manifest.json").exists()
