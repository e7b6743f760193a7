import pytest
from rdkit import Chem
from rdkit.Chem.FilterCatalog import FilterCatalog, FilterCatalogParams
from support.molecules import ODD_MOLECULES, some_molecules

from graph_bandit_campaign.constraints.limits.requirements import Pattern, catalog_names

ALERTS = ("O=C1CSC(=S)N1", "O=N(=O)c1ccc(Br)cc1", "CCOC(=O)CC=O", "O=C1C=CC(=O)C=C1", "c1ccc(N=Nc2ccccc2)cc1")
MOLECULES = [Chem.MolFromSmiles(text) for text in (*some_molecules(20).smiles, *ODD_MOLECULES, *ALERTS)]


@pytest.mark.parametrize("name", ["pains", "BRENK", "nih", "Chembl_Dundee"])
def test_catalogs_are_those_of_rdkit(name):
    kind = getattr(FilterCatalogParams.FilterCatalogs, catalog_names()[name.lower()])
    catalog = FilterCatalog(FilterCatalogParams(kind))
    found = [not Pattern.parse(name).checker()(molecule) for molecule in MOLECULES]
    assert found == [catalog.HasMatch(molecule) for molecule in MOLECULES]
    assert any(found)


def test_a_file_has_a_smarts_in_a_line_with_names_and_comments(tmp_path):
    path = tmp_path / "alerts.txt"
    path.write_text("# two alerts\n\n[#6]Br  bromide\n  [N+](=O)[O-] # nitro\n[#6]Br again\n", encoding="utf-8-sig")
    assert Pattern.parse(str(path)).smarts == ("[#6]Br", "[N+](=O)[O-]")
    plain = path.rename(tmp_path / "alerts")
    assert Pattern.parse(str(plain)).smarts == ("[#6]Br", "[N+](=O)[O-]")


def test_bad_lines_of_a_file_are_listed(tmp_path):
    path = tmp_path / "alerts.smarts"
    path.write_text("[#6]Br\n# fine\n[N+\nC(\n")
    with pytest.raises(ValueError, match="line 3.*line 4"):
        Pattern.parse(str(path))


@pytest.mark.parametrize("text", ["", " ", "[N+", "C C", "C" * 6000, "pain"])
def test_what_is_not_a_smarts_is_refused(text):
    with pytest.raises(ValueError, match="pains"):
        Pattern.parse(text)
