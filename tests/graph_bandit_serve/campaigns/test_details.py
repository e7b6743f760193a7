"""The small tables next to a campaign, as they were written and not otherwise."""

import pytest

from graph_bandit_campaign import CampaignState, digest_of
from graph_bandit_serve.campaigns.details import read_details, read_typed
from graph_bandit_serve.campaigns.folder import CampaignFolder, FoundFile
from graph_bandit_serve.settings import ServerLimits

TABLE = b"rank,id,smiles,predicted_logp,nearest,price\n1,'=a,CCO,1.5,m1,12\n2,b,CC,1.2,,\n"


def campaign(content=TABLE, **command):
    written = (digest_of(content),)
    return CampaignState("random", True, 0, command={"out": "out.csv", **command}, written=written)


@pytest.fixture
def path(tmp_path):
    (tmp_path / "out.csv").write_bytes(TABLE)
    path = tmp_path / "out.campaign.json"
    return FoundFile("", "out", path), CampaignFolder(tmp_path, ServerLimits())


def test_the_cells_of_suggestions_are_read_but_for_predictions(path):
    assert read_details(campaign(), *path) == {"=a": {"nearest": "m1", "price": "12"}, "b": {}}


def test_a_table_that_was_changed_is_not_shown(path):
    path[0].path.with_name("out.csv").write_bytes(TABLE + b"3,c,C,1,,\n")
    assert read_details(campaign(), *path) == {}


@pytest.mark.parametrize("out", ["../out.csv", "/etc/out.csv", "out.xlsx", "..", "a\0.csv", "nothing.csv", 5, None])
def test_no_other_file_is_opened(path, out):
    assert read_details(campaign(out=out), *path) == {}


def test_results_that_were_typed_are_known_by_their_ids(path):
    assert read_typed(*path) == set()
    path[0].path.with_name("out.results.csv").write_bytes(b"id,logp\n'=a,1\nb,2\nb,3\n,4\n")
    assert read_typed(*path) == {"=a", "b"}
