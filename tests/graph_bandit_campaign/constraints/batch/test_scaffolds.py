from graph_bandit_campaign.constraints.batch import murcko_scaffolds


def test_scaffolds_are_rings_and_what_joins_them():
    found = murcko_scaffolds(["Cc1ccccc1", "OCc1ccc(Cl)cc1", "c1ccccc1CCC1CC1", "CCO", "O=C1CCCCC1C"])
    assert found == ["c1ccccc1", "c1ccccc1", "c1ccc(CCC2CC2)cc1", "", "O=C1CCCCC1"]


def test_stereoisomers_have_one_scaffold():
    one, other = murcko_scaffolds(["N[C@@H]1CC[C@H](O)CC1", "N[C@@H]1CC[C@@H](O)CC1"])
    assert one == other == "C1CCCCC1"
