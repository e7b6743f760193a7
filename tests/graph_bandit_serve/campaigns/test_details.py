"""The table of the last suggestions, as it was written and not otherwise."""

import pytest

from graph_bandit_campaign import CampaignState, digest_of
from graph_bandit_serve.campaigns.details import read_details
from graph_bandit_serve.campaigns.folder import CampaignFolder, FoundFile
from graph_bandit_serve.settings import ServerLimits

TABLE = b"rank,id,smiles,predicted_logp,nearest,price\n1,'=a,CCO,1.5,m1,12\n2,b,CC,1.2,,\n"


def campaign(out="out.csv"):
    return CampaignState("random", True, 0, command={"out": out}, written=(digest_of(TABLE),))


@pytest.fixture
def path(tmp_path):
    (tmp_path / "out.csv").write_bytes(TABLE)
    return FoundFile("", "out", tmp_path / "out.campaign.json"), CampaignFolder(tmp_path, ServerLimits())


def test_the_cells_of_suggestions_are_read_but_for_predictions_unless_the_table_was_changed(path, tmp_path):
    assert read_details(campaign(), *path) == {"=a": {"nearest": "m1", "price": "12"}, "b": {}}
    (tmp_path / "out.csv").write_bytes(TABLE + b"3,c,C,1,,\n")
    assert read_details(campaign(), *path) == {}


@pytest.mark.parametrize("out", ["../out.csv", "/etc/out.csv", "out.xlsx", "a\0.csv", "nothing.csv", None])
def test_no_other_file_is_opened(path, out):
    assert read_details(campaign(out), *path) == {}
