import pandas as pd
import pytest
from support.messy import assert_as_in_memory, prepare_small

from graph_bandit_campaign import PrepareSettings
from graph_bandit_campaign.pool.prepared.making.work import ask
from graph_bandit_campaign.results.rows import Columns
from graph_bandit_env.tables import describe_shared, open_table
from graph_bandit_lab.design.own_graphs import PoolFile, read_own_graphs

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
    expected = assert_as_in_memory(pool, path, ("price",))
    assert expected.ids == ("a", "b", "d")
    assert pool.manifest.parts == 3


@pytest.mark.parametrize(
    ("name", "text", "ids", "remarks"),
    [
        ("pool.csv", "smiles,id\nCCO,a\nCCN,b\n", ("a", "b"), 0),
        ("pool.csv", "SMILES,ID\nCCO,a\nCCN,b\n", ("a", "b"), 1),
        ("pool.csv", "Name;Compound ID;Canonical_SMILES\nx;a;CCO\nx;b;CCN\n", ("a", "b"), 1),
        ("pool.csv", "Molecule ChEMBL ID,Smiles\na,CCO\nb,CCN\n", ("a", "b"), 1),
        ("pool.csv", "structure,compound\nCCO,a\nCCN,b\n", ("a", "b"), 1),
        ("pool.csv", "smiles,name\nCCO,a\nCCN,a\nCCCN,CCN\nCCCO,b\nCCCO,c\n", ("CCO", "CCN", "CCCN", "b"), 2),
        ("pool.csv", "smiles,logd\nCCO,1\nCCN,2\n", ("CCO", "CCN"), 0),
        ("pool.smi", "smiles name\nCCO a\nCCN |w:1.0| b c\n", ("a", "b c"), 0),
        ("pool.smi", "CCO\ta\nCCN |w:1.0|\n", ("a", "CCN"), 0),
    ],
)
def test_columns_of_structures_and_names_are_found_alike(tmp_path, name, text, ids, remarks):
    path = tmp_path / name
    path.write_text(text)
    with open_table(path) as table:
        naming = Columns("y").naming_of(table)
    question, said = ask(PrepareSettings(path, tmp_path / "out"))
    pool = prepare_small(path, tmp_path / "out")
    expected = assert_as_in_memory(pool, path, ())
    assert (expected.ids, len(expected.remarks)) == (ids, remarks)
    assert (naming.smiles, naming.identifier or None) == (question.smiles, question.identifier)
    assert [*said, *describe_shared(pool.manifest.shared)] == [*expected.remarks]
    assert read_own_graphs(PoolFile(source=str(path))).contents.remarks == expected.remarks


def test_a_table_without_any_molecule_is_refused_and_its_bad_rows_are_listed(tmp_path):
    (tmp_path / "pool.csv").write_text("smiles,id\nC1CC,a\n,b\nCC,c\nCCC,c\n")
    with pytest.raises(ValueError, match="4 rows are bad"):
        prepare_small(tmp_path / "pool.csv", tmp_path / "out")
    listed = (tmp_path / "out" / "bad_rows.csv").read_text().splitlines()
    assert len(listed) == 5
    assert not (tmp_path / "out" / "manifest.json").exists()
