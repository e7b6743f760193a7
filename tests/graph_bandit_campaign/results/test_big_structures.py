"""Structures in tables of results have the limits of those in a pool."""

import dataclasses

import pytest

from graph_bandit_campaign import SuggestSettings, suggest
from graph_bandit_campaign.results.books import match_rows
from graph_bandit_campaign.results.rows import BadResultsError, MeasuredRow
from graph_bandit_env import from_smiles
from graph_bandit_env.pools import MOST_ATOMS


@pytest.mark.parametrize("identifier", ["", "m0", "stranger"])
def test_a_big_molecule_among_the_results_is_told_with_its_place(identifier):
    row = MeasuredRow("results.csv, line 7", identifier, "C" * 612, 1.0)
    with pytest.raises(BadResultsError, match="line 7: the molecule has 612 atoms, more than `most_atoms`, 250"):
        match_rows([row], from_smiles(["CCO"], ids=["m0"]))


def test_the_limit_of_the_command_is_that_of_the_readers(tmp_path):
    settings = SuggestSettings(tmp_path / "pool.csv", tmp_path / "out.csv", maximize="y")
    assert settings.most_atoms == MOST_ATOMS


def test_the_limit_can_be_raised(tmp_path):
    pool, out = tmp_path / "pool.csv", tmp_path / "out.csv"
    pool.write_text(f"smiles\nCCO\n{'C' * 260}\n", encoding="utf-8")
    command = SuggestSettings(pool, out, maximize="y", n=1, agent="random")
    with pytest.raises(ValueError, match="line 3: the molecule has 260 atoms"):
        suggest(command)
    assert suggest(dataclasses.replace(command, most_atoms=300))
