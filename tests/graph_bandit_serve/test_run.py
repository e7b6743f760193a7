"""The command, in a process of its own."""

import os
import re

import pytest
from support.served import Running, write_campaign

from graph_bandit_cli.main import main
from graph_bandit_serve import ServeSettings
from graph_bandit_serve.access.addresses import find_addresses
from graph_bandit_serve.access.keys import Keys
from graph_bandit_serve.run import introduce
from graph_bandit_serve.settings import ServerLimits


@pytest.mark.slow
def test_the_command_prints_its_links_serves_and_stops(tmp_path):
    path = write_campaign(tmp_path / "one.campaign.json")
    before = path.read_bytes()
    running = Running(tmp_path, "--guests")
    first, guests = running.tokens
    assert running.ask(f"/enter?token={first}", key=False).status_code == 303
    (campaign,) = running.get("/campaigns")["campaigns"]
    drawn = re.search(r'src="([^"]+svg)"', running.ask(f"/campaigns/{campaign['id']}").text)[1]
    assert "<path" in running.ask(drawn).text
    said = running.stop()
    assert "Stopped" in said or os.name == "nt"
    assert ("Traceback" in said, guests in said) == (False, False)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["one.campaign.json"]


def test_an_address_of_another_machine_is_refused(tmp_path, capsys):
    assert main(["serve", str(tmp_path), "--host", "203.0.113.1"]) == 1
    assert "--host" in capsys.readouterr().err


def test_links_are_printed_once_each(tmp_path):
    keys, addresses = Keys(True, ServerLimits()), find_addresses("127.0.0.1", 8765, "https://lab.example.org")
    text = "\n".join(introduce(ServeSettings(tmp_path, guests=True), addresses, keys))
    for key in (keys.link, keys.guest_link, keys.program):
        assert text.count(key) == 1
    assert f"https://lab.example.org/enter?token={keys.link}" in text
