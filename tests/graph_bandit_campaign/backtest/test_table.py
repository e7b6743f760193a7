import pandas as pd
import pytest
from support.molecules import some_molecules

from graph_bandit_campaign import BacktestSettings
from graph_bandit_campaign.backtest.table import read_table

MOLECULES = some_molecules(60)


def write(folder, **columns):
    path = folder / "table.csv"
    pd.DataFrame({"smiles": MOLECULES.smiles, "y": MOLECULES.targets, **columns}).to_csv(path, index=False)
    return path


def settings(path, **more):
    return BacktestSettings(path, path.parent / "out", **{"maximize": "y", **more})


def test_values_are_read_as_suggest_reads_results(tmp_path):
    values = [str(value) for value in MOLECULES.targets]
    values[0], values[1], values[2], values[3] = "failed", "", ">4.5", "1.0"
    path = write(tmp_path, y=values, id=[f"m{k}" for k in range(60)])
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{MOLECULES.smiles[3]},3.0,m3\n")
    table = read_table(settings(path))
    assert len(table.values) == 58
    assert table.molecules.ids[:2] == ("m2", "m3")
    assert table.values[:2].tolist() == [4.5, 2.0]
    assert table.values[2:] == pytest.approx(MOLECULES.targets[4:])


def test_a_bound_that_may_hide_a_good_value_is_left_out(tmp_path):
    values = [str(value) for value in MOLECULES.targets]
    values[0], values[1], values[2] = "<99", "<-99", ">99"
    table = read_table(settings(write(tmp_path, y=values, id=[f"m{k}" for k in range(60)])))
    assert table.molecules.ids[:3] == ("m1", "m2", "m3")
    assert table.values[:2].tolist() == [-99, 99]


def test_bad_rows_are_refused_or_left_out(tmp_path):
    path = write(tmp_path)
    with path.open("a", encoding="utf-8") as file:
        file.write("nonsense,3.0\n")
    with pytest.raises(ValueError, match="line 62"):
        read_table(settings(path))
    table = read_table(settings(path, skip_bad_rows=True))
    assert len(table.values) == 60


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": ["1"] * 39 + [""] * 21}, "`y`"),
        ({"y": [""] * 60}, "`y`"),
        ({"y": ["1"] * 60}, "y"),
        ({"y": ["high"] * 60}, "high"),
    ],
)
def test_tables_that_cannot_be_replayed_are_refused(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        read_table(settings(write(tmp_path, **change)))


def test_the_budget_is_a_quarter_of_the_table_or_two_batches(tmp_path):
    path = write(tmp_path)
    assert read_table(settings(path)).budget == 26  # 10 and two batches of 8
    assert read_table(settings(path, n=(2,))).budget == 15
    assert read_table(settings(path, budget=59)).budget == 59
    for budget in (10, 60):
        with pytest.raises(ValueError, match=str(budget)):
            read_table(settings(path, budget=budget))
    with pytest.raises(ValueError, match="--n"):
        read_table(settings(path, n=(20,)))
