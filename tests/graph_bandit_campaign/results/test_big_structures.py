"""Structures in tables of results have the limits of those in a pool."""

import pytest

from graph_bandit_campaign.results.books import match_rows
from graph_bandit_campaign.results.rows import BadResultsError, MeasuredRow
from graph_bandit_env import from_smiles


@pytest.mark.parametrize("identifier", ["", "m0", "stranger"])
def test_a_big_molecule_among_the_results_is_told_with_its_place(identifier):
    row = MeasuredRow("results.csv, line 7", identifier, "C" * 612, 1.0)
    with pytest.raises(BadResultsError, match="line 7: the molecule has 612 atoms, more than `most_atoms`, 250"):
        match_rows([row], from_smiles(["CCO"], ids=["m0"]))
