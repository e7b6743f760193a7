"""A finished table, or the prepared pool that was made of it, as it is replayed."""

import numpy as np
import pytest
from support.molecules import some_molecules
from support.prepared import prepare_in_parts
from support.tables import write

from graph_bandit_campaign import BacktestSettings
from graph_bandit_campaign.backtest.table import read_table

MOLECULES = some_molecules(60)
SMILES = MOLECULES.smiles
VALUES = MOLECULES.targets.tolist()


def write_table(folder, changes=(), more=(), **columns):
    """Write a table, some of whose values are changed."""
    values = [str(value) for value in VALUES]
    for k, text in dict(changes).items():
        values[k] = text
    rows = zip((f"m{k}" for k in range(60)), SMILES, values, *columns.values(), strict=True)
    return write(folder / "table.csv", [("id", "smiles", "y", *columns), *rows, *more])


def table(path, **more):
    return read_table(BacktestSettings(path, path.parent / "out", **{"maximize": "y", **more}))


def test_values_are_read_as_suggest_reads_results(tmp_path):
    changes = {0: "failed", 1: "", 2: ">4.5", 3: "1.0"}
    found = table(write_table(tmp_path, changes, [("m3", SMILES[3], "3.0")]))
    assert len(found.values) == 58
    assert found.molecules.ids[:2] == ("m2", "m3")
    assert found.values.tolist() == pytest.approx([4.5, 2.0, *VALUES[4:]])


def test_a_bound_that_may_hide_a_good_value_is_left_out(tmp_path):
    found = table(write_table(tmp_path, {0: "<99", 1: "<-99", 2: ">99"}))
    assert found.molecules.ids[:3] == ("m1", "m2", "m3")
    assert found.values[:2].tolist() == [-99, 99]


def test_bad_rows_are_refused_or_left_out(tmp_path):
    path = write_table(tmp_path, more=[("bad", "nonsense", "3.0")])
    with pytest.raises(ValueError, match="line 62"):
        table(path)
    assert len(table(path, skip_bad_rows=True).values) == 60


@pytest.mark.parametrize(
    ("values", "message"),
    [(["1"] * 39 + [""] * 21, "`y`"), ([""] * 60, "`y`"), (["1"] * 60, "`y`"), (["high"] * 60, "high")],
)
def test_tables_that_cannot_be_replayed_are_refused(tmp_path, values, message):
    with pytest.raises(ValueError, match=message):
        table(write_table(tmp_path, enumerate(values)))


def test_the_budget_is_a_quarter_of_the_table_or_two_batches(tmp_path):
    path = write_table(tmp_path)
    assert table(path).budget == 26  # 10 and two batches of 8
    assert table(path, n=(2,)).budget == 15
    assert table(path, budget=59).budget == 59
    for given, named in (({"budget": 10}, "10"), ({"budget": 60}, "60"), ({"n": (20,)}, "--n")):
        with pytest.raises(ValueError, match=named):
            table(path, **given)


@pytest.mark.parametrize("features", [(), ("dock",)])
def test_a_prepared_pool_is_replayed_as_its_table(tmp_path, features):
    changes = {0: "failed", 1: "", 2: ">4.5", 3: "1.0"}
    more = [("again3", SMILES[3], 3.0, 8, ""), ("salt", "[Na+].CC(=O)[O-]", "-0.5", 1, "")]
    dock = ["" if k == 9 else k % 7 for k in range(60)]
    path = write_table(tmp_path, changes, more, dock=dock, rat=[-value for value in VALUES])
    given = {"features": features, "ignore_column": ("dock", "rat")}
    pool = prepare_in_parts(path, tmp_path / "pool", 16, ignore_column=("y", "dock", "rat"))
    plain, prepared = table(path, **given), table(pool, **given)
    assert (prepared.molecules.ids, prepared.values.tolist()) == (plain.molecules.ids, plain.values.tolist())
    np.testing.assert_array_equal(prepared.molecules.columns, plain.molecules.columns)
    assert (prepared.remarks, prepared.budget) == (plain.remarks, plain.budget)
    assert set(plain.molecules.descriptors.names) <= set(prepared.molecules.descriptors.names)
