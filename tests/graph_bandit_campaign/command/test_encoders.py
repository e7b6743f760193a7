"""Campaigns that are told by a pretrained encoder what molecules are like."""

import csv
from pathlib import Path

import pytest
from support.encoders import install
from support.molecules import some_molecules
from support.tables import write

from agents.descriptors.encoders import encode
from graph_bandit_campaign import PrepareSettings, SuggestSettings, prepare, suggest

MOLECULES = some_molecules(60)
VALUES = [str(text.count("C")) for text in MOLECULES.smiles]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    install(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    rows = [*zip(MOLECULES.ids, MOLECULES.smiles, strict=True)]
    write(tmp_path / "pool.csv", [("id", "smiles"), *rows[:50]])
    told = [("id", "smiles", "y"), *((*row, value) for row, value in zip(rows, VALUES, strict=True))]
    write(tmp_path / "measured.csv", [*told[:13], *told[51:]])  # those at the end are not in the pool
    yield
    encode.cache_clear()


def ask(name, pool="pool.csv", **more):
    given = {"measured": (Path("measured.csv"),), "maximize": ("y",), "n": 4, "workers": None, **more}
    suggest(SuggestSettings(pool=Path(pool), out=Path(f"{name}.csv"), **given))
    return [*csv.DictReader(Path(f"{name}.csv").read_text().splitlines())]


def test_its_numbers_teach_in_tables_and_prepared_pools_alike():
    rows = ask("a", encoder="mine")
    assert [row["predicted_y"] for row in rows] != [row["predicted_y"] for row in ask("b")]
    assert any("mine" in row["explanation"] for row in rows)
    prepare(PrepareSettings(Path("pool.csv"), Path("prepared"), encoder="mine", workers=None))
    assert ask("c", "prepared") == ask("d", "prepared", encoder="mine") == rows


def test_molecules_that_it_cannot_read_are_counted(capsys):
    with Path("pool.csv").open("a") as file:
        file.write("odd,C[SiH3]\n")
    ask("a", encoder="mine")
    assert "molecules that mine cannot read: 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "message"),
    [({"encoder": "other"}, "encoder"), ({"encoder": "mine", "agent": "gnn-ts"}, "--encoder")],
)
def test_what_cannot_be_used_is_refused(more, message):
    with pytest.raises(ValueError, match=message):
        ask("a", **more)


def test_a_pool_that_was_prepared_without_it_is_refused():
    prepare(PrepareSettings(Path("pool.csv"), Path("prepared"), workers=None))
    with pytest.raises(ValueError, match="--encoder mine"):
        ask("a", "prepared", encoder="mine")
