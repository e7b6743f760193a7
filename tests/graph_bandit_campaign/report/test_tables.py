"""Tables of all kinds hold the same, and are read again by the project's own readers."""

import openpyxl
import pytest

from graph_bandit_campaign.report.tables import KINDS, write_table
from graph_bandit_env.tables import open_table

ROWS = [
    ["rank", "id", "smiles", "predicted_IC50 <nM>", "nearest_1", "batch", "explanation"],
    ["1", "007", "C[C@H](N)C(=O)O", "-1.25", "12", "007", "atoms +1.45; most from lib-2"],
    ["2", "'=m1", "F/C=C/F", "1e-07", "5e1", "", "a, b\tc"],
    ["3", "Mölekül ²", "[Na+].[O-]c1ccccc1", "", "x", ">4.5", ""],
]


def read(path):
    with open_table(path) as table:
        return [list(table.columns), *(cells for _, cells in table.rows(table.columns))]


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_of_any_kind_is_read_again(tmp_path, kind):
    path = tmp_path / f"table{kind}"
    path.write_bytes(write_table(path, ROWS))
    found = read(path)
    heads = found[0]
    assert heads == ROWS[0]
    for expected, cells in zip(ROWS[1:], found[1:], strict=True):
        for name, text, cell in zip(ROWS[0], expected, cells, strict=True):
            is_equal = float(cell) == float(text) if text and name.startswith("predicted") else cell == text
            assert is_equal, name


def test_a_workbook_holds_numbers_and_leaves_names_alone(tmp_path):
    path = tmp_path / "table.xlsx"
    path.write_bytes(write_table(path, ROWS))
    first, second = list(openpyxl.load_workbook(path).active.values)[1:3]
    assert first[:6] == (1, "007", "C[C@H](N)C(=O)O", -1.25, "12", "007")
    assert second[1] == "'=m1"
