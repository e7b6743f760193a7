"""The command, in a process of its own."""

import html
import os
import re

import pytest
from support.served import Running, write_campaign

from graph_bandit_serve import ServeSettings, serve
from graph_bandit_serve.access.addresses import find_addresses
from graph_bandit_serve.access.keys import Keys
from graph_bandit_serve.run import introduce
from graph_bandit_serve.settings import ServerLimits


@pytest.mark.slow
def test_the_command_prints_its_links_serves_and_stops(tmp_path):
    path = write_campaign(tmp_path / "one.campaign.json")
    before = path.read_bytes()
    running = Running(tmp_path)
    (first,) = running.tokens
    assert running.ask(f"/enter?token={first}", key=False).status_code == 303
    (campaign,) = running.get("/campaigns")["campaigns"]
    drawn = re.search(r'src="(/structure[^"]+)"', running.ask(f"/campaigns/{campaign['id']}").text)[1]
    assert "<path" in running.ask(html.unescape(drawn)).text
    said = running.stop()
    assert "Stopped" in said or os.name == "nt"
    assert "Traceback" not in said
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["one.campaign.json"]


WRONG = [
    ("host", "203.0.113.1"),  # of another machine
    ("host", "evil/x"),
    ("host", ""),
    ("port", 65_536),
    ("address", "lab.example.org"),
    ("address", "https://me:secret@lab.example.org/path"),
    ("address", "https://lab.example.org:99999"),
]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_an_address_at_which_it_cannot_be_asked_is_refused(name, value, tmp_path):
    with pytest.raises(ValueError, match=name):
        serve(ServeSettings(tmp_path, **{name: value}))


def test_links_are_printed_once_each(tmp_path):
    keys, addresses = Keys(ServerLimits()), find_addresses("127.0.0.1", 8765, "https://lab.example.org")
    text = "\n".join(introduce(ServeSettings(tmp_path), addresses, keys))
    for key in (keys.link, keys.program):
        assert text.count(key) == 1
    assert f"https://lab.example.org/enter?token={keys.link}" in text
