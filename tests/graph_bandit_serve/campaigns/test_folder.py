import os

import pytest
from support.links import make_link
from support.served import write_campaign

from graph_bandit_serve.campaigns.folder import CampaignFolder, key_of
from graph_bandit_serve.settings import ServerLimits


def look(folder, **limits):
    files, is_cut = CampaignFolder(folder, ServerLimits(**limits)).list_files()
    return [file.name for file in files], is_cut


def test_campaigns_are_found_in_subfolders_too_in_the_order_of_their_names(tmp_path):
    for place in ("b", "A", "sub/c", "sub/deeper/d", ".git/a", ".hidden"):
        write_campaign(tmp_path / f"{place}.campaign.json")
    (tmp_path / "b.campaign.json.bak").write_text("{}")
    assert look(tmp_path) == (["A", "b", "sub/c", "sub/deeper/d"], False)
    assert look(tmp_path, depth=2) == (["A", "b", "sub/c"], False)
    assert look(tmp_path / "sub", campaigns=1) == look(tmp_path / "sub", entries=1) == (["c"], True)
    for k in range(9):
        (tmp_path / f".{k}").touch()  # what is not shown does not count
    assert look(tmp_path, entries=6) == (["A", "b", "sub/c"], True)


def test_a_file_is_found_by_its_key_alone(tmp_path):
    write_campaign(tmp_path / "one.campaign.json")
    folder = CampaignFolder(tmp_path, ServerLimits())
    assert folder.find(key_of("one.campaign.json")).name == "one"
    for key in ("", "one.campaign.json", str(tmp_path / "one.campaign.json"), "\0"):
        assert folder.find(key) is None


def test_links_are_left_out(tmp_path):
    inside = write_campaign(tmp_path / "served" / "data" / "real.json")
    for name, target in {"in": inside, "dangling": "nothing"}.items():
        make_link(tmp_path / "served" / f"{name}.campaign.json", target)
    write_campaign(tmp_path / "outside.campaign.json")
    make_link(tmp_path / "served" / "folder", tmp_path)
    assert look(tmp_path / "served") == ([], False)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a system without named pipes")
def test_a_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.campaign.json")
    with pytest.raises(ValueError, match="not a file of data"):
        CampaignFolder(tmp_path.resolve(), ServerLimits()).read(tmp_path.resolve() / "pipe.campaign.json")
