import os

import pytest
from support.links import make_link
from support.served import write_campaign

from graph_bandit_serve.campaigns.folder import CampaignFolder, key_of
from graph_bandit_serve.settings import ServerLimits


def names(folder, **limits):
    return [file.name for file in CampaignFolder(folder, ServerLimits(**limits)).list_files().files]


def test_campaigns_are_found_in_subfolders_too_in_the_order_of_their_names(tmp_path):
    for place in ("b", "A", "sub/c", "sub/deeper/d", ".git/a", ".hidden"):
        write_campaign(tmp_path / f"{place}.campaign.json")
    (tmp_path / "other.json").write_text("{}")
    (tmp_path / "b.campaign.json.bak").write_text("{}")
    assert names(tmp_path) == ["A", "b", "sub/c", "sub/deeper/d"]
    assert names(tmp_path, depth=2) == ["A", "b", "sub/c"]
    assert names(tmp_path, depth=1) == ["A", "b"]


def test_too_many_are_cut_and_told(tmp_path):
    for k in range(9):
        write_campaign(tmp_path / f"{k}.campaign.json")
    assert not CampaignFolder(tmp_path, ServerLimits(campaigns=9)).list_files().is_cut
    for limits in (ServerLimits(campaigns=5), ServerLimits(entries=5)):
        listing = CampaignFolder(tmp_path, limits).list_files()
        assert (len(listing.files), listing.is_cut) == (5, True)


def test_a_file_is_found_by_its_key_alone(tmp_path):
    write_campaign(tmp_path / "one.campaign.json")
    folder = CampaignFolder(tmp_path, ServerLimits())
    assert folder.find(key_of("one.campaign.json")).name == "one"
    for key in ("", "one", "one.campaign.json", "../one", str(tmp_path / "one.campaign.json"), "\0", "." * 5000):
        assert folder.find(key) is None


def test_links_are_left_out(tmp_path):
    inside = write_campaign(tmp_path / "served" / "data" / "real.json")
    outside = write_campaign(tmp_path / "outside.campaign.json")
    served = tmp_path / "served"
    for name, target in {"in": inside, "out": outside, "dangling": "nothing"}.items():
        make_link(served / f"{name}.campaign.json", target)
    make_link(served / "folder", tmp_path)
    assert names(served) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a system without named pipes")
def test_a_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.campaign.json")
    folder = CampaignFolder(tmp_path, ServerLimits())
    (file,) = folder.list_files().files
    with pytest.raises(ValueError, match="not a file of data"):
        folder.read(file)


def test_a_large_file_is_refused_with_its_size(tmp_path):
    (tmp_path / "large.campaign.json").write_bytes(b" " * 1_500_000)
    folder = CampaignFolder(tmp_path, ServerLimits(file_bytes=1_000_000))
    (file,) = folder.list_files().files
    with pytest.raises(ValueError, match=r"It has 1\.5 MB\. At most 1\.0 MB are read"):
        folder.read(file)


def test_one_campaign_of_a_folder_is_served_alone(tmp_path):
    paths = [write_campaign(tmp_path / f"{name}.campaign.json") for name in ("one", "two")]
    folder = CampaignFolder(paths[0], ServerLimits())
    assert [file.name for file in folder.list_files().files] == ["one"]
    assert (folder.is_one, folder.root) == (True, tmp_path)
    assert folder.find(key_of("two.campaign.json")) is None
