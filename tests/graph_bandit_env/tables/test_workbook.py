import pytest

from graph_bandit_env.tables import open_table

openpyxl = pytest.importorskip("openpyxl")


def rows_of(path, *columns):
    with open_table(path) as opened:
        return list(opened.rows(columns)), opened.problems


def test_a_merged_cell_is_bad_where_it_is_needed_and_the_first_of_it_is_not(tmp_path):
    book = openpyxl.Workbook()
    for row in (["id", "y", "note"], ["a", 1, "n"], ["b", None, None], ["c", 3, None]):
        book.active.append(row)
    for cells in ("B2:B3", "C2:C4", "A6:C9"):
        book.active.merge_cells(cells)
    book.save(tmp_path / "book.xlsx")
    rows, problems = rows_of(tmp_path / "book.xlsx", "id", "y")
    assert rows == [(2, ["a", "1"]), (4, ["c", "3"])]
    assert [(number, text.split(".")[0]) for number, text in problems] == [
        (3, "a cell that is merged with others, B2:B3")
    ]


def test_hidden_rows_are_read_and_counted(tmp_path):
    book = openpyxl.Workbook()
    for row in (["id", "y"], *(["a", k] for k in range(200))):
        book.active.append(row)
    for number in (1, 3, 201, 202):
        book.active.row_dimensions[number].hidden = True
    book.save(tmp_path / "book.xlsx")
    with open_table(tmp_path / "book.xlsx") as opened:
        assert (opened.hidden, sum(1 for _ in opened.rows(["y"]))) == (2, 200)


@pytest.mark.parametrize(("share", "text"), [(0.12, "12%"), (0.1234567, "12.34567%"), (0.29, "29%"), (1.5, "150%")])
def test_a_share_is_read_as_it_is_shown_without_rounding_errors(tmp_path, share, text):
    book = openpyxl.Workbook()
    for row in (["id", "yield"], ["a", share]):
        book.active.append(row)
    book.active["B2"].number_format = "0%"
    book.save(tmp_path / "book.xlsx")
    assert rows_of(tmp_path / "book.xlsx", "yield") == ([(2, [text])], [])
