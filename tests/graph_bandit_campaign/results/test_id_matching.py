"""Graphs are found by their ids alone."""

import pytest

from graph_bandit_campaign.results.matching import IdMatcher
from graph_bandit_campaign.results.rows import MeasuredRow


def find(identifier, smiles=""):
    return IdMatcher(["net-1", "=a", "'=a"]).find(MeasuredRow("t.csv, line 2", identifier, smiles, 1.0))


def test_a_graph_is_found_by_its_id_also_as_a_spreadsheet_has_it():
    assert find("net-1").identifier == "net-1"
    assert find("=a").identifier == "=a"
    assert find("'=a").identifier == "'=a"
    assert find("''=a").identifier == "'=a"


def test_what_has_no_id_is_refused():
    with pytest.raises(ValueError, match="this row has no id"):
        find("", "CCO")
