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
    (tmp_path / "b.campaign.json.bak").write_text("{}")
    assert names(tmp_path) == ["A", "b", "sub/c", "sub/deeper/d"]
    assert names(tmp_path, depth=2) == ["A", "b", "sub/c"]
    for limits in ({"campaigns": 1}, {"entries": 1}):
        listing = CampaignFolder(tmp_path / "sub", ServerLimits(**limits)).list_files()
        assert (len(listing.files), listing.is_cut) == (1, True)
    for k in range(9):
        (tmp_path / f".{k}").touch()  # what is not shown does not count
    assert names(tmp_path, entries=6) == ["A", "b", "sub/c"]


def test_a_file_is_found_by_its_key_alone(tmp_path):
    write_campaign(tmp_path / "one.campaign.json")
    folder = CampaignFolder(tmp_path, ServerLimits())
    assert folder.find(key_of("one.campaign.json")).name == "one"
    for key in ("", "one.campaign.json", "../one", str(tmp_path / "one.campaign.json"), "\0", "." * 5000):
        assert folder.find(key) is None


def test_links_are_left_out(tmp_path):
    inside = write_campaign(tmp_path / "served" / "data" / "real.json")
    outside = write_campaign(tmp_path / "outside.campaign.json")
    for name, target in {"in": inside, "out": outside, "dangling": "nothing"}.items():
        make_link(tmp_path / "served" / f"{name}.campaign.json", target)
    make_link(tmp_path / "served" / "folder", tmp_path)
    assert names(tmp_path / "served") == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a system without named pipes")
def test_a_pipe_and_a_large_file_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.campaign.json")
    (tmp_path / "large.campaign.json").write_bytes(b" " * 1_500_000)
    folder = CampaignFolder(tmp_path, ServerLimits(file_bytes=1_000_000))
    for file, words in zip(folder.list_files().files, (r"1\.5 MB", "not a file of data"), strict=True):
        with pytest.raises(ValueError, match=words):
            folder.read(file)
