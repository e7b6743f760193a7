"""The table of the values: what is written is read, and another table is never replaced."""

import pytest

from graph_bandit_campaign import ScreenSettings
from graph_bandit_campaign.screening.run import read_scores, write_scores

SCORES = {
    "b": ("CCO", -3.0),
    "=1+1": ("CC", 2.5),
    "a b": ("CCC", 1e-7),
    "-rf": ("CCCC", None),
    "'-x": ("CN", 1.0),
}


def settings(folder, target="affinity"):
    return ScreenSettings(folder / "pool.csv", folder / "scores.csv", score="x", evaluations=9, maximize=(target,))


def test_no_cell_is_a_formula(tmp_path):
    write_scores(settings(tmp_path), SCORES)
    assert (tmp_path / "scores.csv").read_text().splitlines() == [
        "id,smiles,affinity",
        "b,CCO,-3.0",
        "'=1+1,CC,2.5",
        "a b,CCC,1e-07",
        "'-rf,CCCC,failed",
        "''-x,CN,1.0",
    ]
    assert read_scores(settings(tmp_path)) == SCORES


@pytest.mark.parametrize(
    ("text", "message"),
    [("id,smiles,qed\na,C,1\n", "smiles, y"), ("id,smiles,y\na,C,1\nb,CC,much\n", "line 3"), ("", "scores.csv")],
)
def test_another_table_is_refused(text, message, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_scores(settings(tmp_path, "y"))
    assert path.read_text() == text
