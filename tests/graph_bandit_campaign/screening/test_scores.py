"""The table of the values: what is written is read, and another table is never replaced."""

import pytest

from graph_bandit_campaign.screening.run import Scores

SMILES = {"b": "CCO", "a": "C", "=1+1": "CC", "a b": "CCC", "-rf": "CCCC", "'-x": "CN"}


def test_rows_are_in_the_order_of_the_suggestions_and_no_cell_is_a_formula(tmp_path):
    path, order = tmp_path / "scores.csv", [*SMILES]
    scores = Scores(path, "affinity")
    scores.add({"a": 0.1, "-rf": None}, SMILES, order)
    scores.add({"a b": 1e-7, "b": -3.0, "=1+1": 2.5, "'-x": 1.0}, SMILES, order)
    assert path.read_text().splitlines() == [
        "id,smiles,affinity",
        "b,CCO,-3.0",
        "a,C,0.1",
        "'=1+1,CC,2.5",
        "a b,CCC,1e-07",
        "'-rf,CCCC,failed",
        "''-x,CN,1.0",
    ]
    again = Scores(path, "affinity")
    assert again == scores == {"b": -3, "a": 0.1, "=1+1": 2.5, "a b": 1e-7, "-rf": None, "'-x": 1}
    assert again.smiles == SMILES


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,smiles,qed\na,C,1\n", "smiles, y"),
        ("id,smiles,y\na,C,1\nb,CC,>3\n", "line 3"),
        ("id,smiles,y\na,C,1\na,CC,2\n", "line 3"),
        ("id,smiles,y\n,C,1\n", "line 2"),
        ("", "scores.csv"),
    ],
)
def test_another_table_is_refused(text, message, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        Scores(path, "y")
    assert path.read_text() == text
