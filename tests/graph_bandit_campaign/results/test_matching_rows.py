import pytest

from graph_bandit_campaign.results.matching import Matcher, match_rows
from graph_bandit_campaign.results.rows import BadResultsError, MeasuredRow
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.verbs import tell
from graph_bandit_env import GraphPool, from_smiles

POOL = from_smiles(["CCO", "c1ccccc1", "CCN"], ids=["a", "b", "c"])
OWN = ("dock", "dose")


def match(*rows, files=("results.csv",), pool=POOL):
    places = [(file, f"{file}, line {line}") for file in files for line in range(2, 2 + len(rows) // len(files))]
    measured = [MeasuredRow(where, *row, table=file) for (file, where), row in zip(places, rows, strict=True)]
    matcher = Matcher(pool)
    return match_rows({"": measured}, matcher, OWN, sources={file: file for file in files}), matcher.outside


def told(*rows, **given):
    return tell(CampaignState("random", True, 0), match(*rows, **given)[0])


def pairs(state):
    """Return ids and exact values."""
    return tuple((each.id, each.value) for each in state.measured if not each.bound)


def test_names_come_first_then_canonical_smiles():
    rows = ("a", "", 1.0), ("", "C1=CC=CC=C1", 2.0), ("other", "NCC", 3.0)
    assert pairs(told(*rows)[0]) == (("a", 1.0), ("b", 2.0), ("c", 3.0))
    assert not match(*rows)[1]


def test_molecules_outside_the_pool_are_kept_with_their_values():
    rows = ("x", "OCCC", 1.0), ("", "CCCO", 2.0), ("", "CCCCO", 3.0), ("y", "CCl", "failed"), ("z", "CI", "pending")
    state, outside = told(*rows)[0], match(*rows)[1]
    assert pairs(state) == (("CCCCO", 3.0), ("x", 1.0), ("x", 2.0))
    assert outside == {"x": "CCCO", "CCCCO": "CCCCO", "y": "CCl", "z": "CI"}
    assert (state.failed, state.pending) == (("y",), ())  # those outside are nobody's to wait for


def test_a_value_settles_what_failed_or_was_under_way():
    rows = ("a", "", "failed"), ("b", "", "pending"), ("a", "", 1.0), ("c", "", "failed"), ("c", "", "failed")
    state = told(*rows)[0]
    assert (pairs(state), state.failed, state.pending) == ((("a", 1.0),), ("c",), ("b",))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("z", "", 1.0), "line 3: .*z"),
        (("", "nonsense", 1.0), "line 3: .*nonsense"),
        (("a", "CCN", 1.0), "line 3: .*CCO.*CCN"),
        (("x", "CCCCl", 1.0), "line 3: .*CCCO.*CCCCl"),
    ],
)
def test_rows_whose_molecule_is_unclear_are_named(row, message):
    with pytest.raises(BadResultsError, match=message):
        match(("x", "CCCO", 1.0), row)


def test_equal_rows_count_once_and_others_of_the_same_molecule_beside_each_other():
    rows = (("a", "", 1.0), ("a", "", 1.5), ("b", "", 2.0))
    state, said = told(*rows, *rows, files=("one.csv", "two.csv"))
    assert pairs(state) == (("a", 1.0), ("a", 1.5), ("b", 2.0))
    assert {result.sources for result in state.measured} == {("one.csv", "two.csv")}
    assert (said.twice, said.replicates) == (3, ("a",))


@pytest.mark.parametrize(("cell", "side"), [(">2", "above"), ("≥ 2", "above"), ("<=2", "below"), ("<2", "below")])
def test_bounds_have_a_side_and_equal_ones_count_once(cell, side):
    state, _ = told(("a", "", 2.0, cell), ("b", "", 1.0), ("a", "", 2.0, cell), ("b", "", 9.0, cell))
    assert [(each.id, each.value, each.bound) for each in state.counted() if each.bound] == [("a", 2.0, side)]
    assert pairs(state) == (("b", 1.0),)


def test_a_merged_row_of_the_pool_is_known_by_its_own_name_too():
    pool = from_smiles(["CCO", "OCC", "C"], ids=["a", "twin", "c"])
    assert pairs(told(("twin", "", 1.0), pool=pool)[0]) == (("a", 1.0),)


def test_columns_of_a_molecule_have_the_mean_of_what_its_rows_know():
    nan = float("nan")
    matched, _ = match(
        ("a", "", 1.0, "", (1.0, nan)),
        ("", "OCC", "failed", "", (4.0, 2.0)),
        ("b", "", 2.0, "", (nan, nan)),
        ("x", "CCl", 3.0, "", (nan, 5.0)),
    )
    assert matched.features == {"a": {"dock": 2.5, "dose": 2.0}, "x": {"dose": 5.0}}


@pytest.mark.parametrize(("name", "found"), [("net-1", "net-1"), ("=a", "=a"), ("'=a", "'=a"), ("''=a", "'=a")])
def test_other_graphs_are_found_by_their_ids_alone_also_as_a_spreadsheet_has_them(name, found):
    pool = GraphPool([[[1.0]]] * 3, [[]] * 3, ids=("net-1", "=a", "'=a"))
    assert pairs(told((name, "", 1.0), pool=pool)[0]) == ((found, 1.0),)
    with pytest.raises(BadResultsError, match="line 2"):
        match(("", "CCO", 1.0), pool=pool)
