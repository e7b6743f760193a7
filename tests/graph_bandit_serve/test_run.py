"""The command, in a process of its own."""

import os

import pytest
from support.served import Running, write_campaign

from graph_bandit_serve import ServeSettings, serve
from graph_bandit_serve.access.addresses import find_addresses
from graph_bandit_serve.access.keys import Keys
from graph_bandit_serve.run import introduce
from graph_bandit_serve.settings import ServerLimits


@pytest.mark.slow
def test_the_command_serves_draws_stops_and_leaves_files_as_they_were(tmp_path):
    before = write_campaign(tmp_path / "one.campaign.json").read_bytes()
    running = Running(tmp_path)
    assert [each["name"] for each in running.get("/campaigns")["campaigns"]] == ["one"]
    drawn = running.ask("/structure.svg?smiles=CCO")
    assert ("<path" in drawn.text, drawn.headers["content-type"]) == (True, "image/svg+xml")
    slots = '{"ligand_smiles": "CCO", "reagent": "NBS", "catalyst": "Pd(OAc)2", "heat": "60"}'
    assert running.ask("/structure.svg", params={"smiles": slots}).text == drawn.text
    said = running.stop()
    assert "Stopped" in said or os.name == "nt"
    assert "Traceback" not in said
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"one.campaign.json": before}


WRONG = {
    "host": ["203.0.113.1", "evil/x", ""],  # the first is of another machine
    "port": [65_536],
    "address": ["lab.example.org", "https://me:secret@lab.example.org/path", "https://lab.example.org:99999"],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name in WRONG for value in WRONG[name]])
def test_an_address_at_which_it_cannot_be_asked_is_refused(name, value, tmp_path):
    with pytest.raises(ValueError, match=name):
        serve(ServeSettings(tmp_path, **{name: value}))


def test_links_are_printed_once_each(tmp_path):
    keys, addresses = Keys(ServerLimits()), find_addresses("127.0.0.1", 8765, "https://lab.example.org")
    text = "\n".join(introduce(ServeSettings(tmp_path), addresses, keys))
    assert (text.count(keys.link), text.count(keys.program)) == (1, 1)
    assert f"https://lab.example.org/enter?token={keys.link}" in text
