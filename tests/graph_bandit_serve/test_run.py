"""The command, in a process of its own."""

import os
import re
import socket

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
    host = f"127.0.0.1:{running.port}"
    answer = running.send(f"GET /enter?token={first} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    cookie = answer.headers["set-cookie"].partition(";")[0]
    page = running.send(f"GET / HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n".encode())
    assert "maximize affinity" in page.text
    (campaign,) = running.get("/api/v1/campaigns").json()["campaigns"]
    drawn = re.search(r'src="([^"]+svg)"', running.get(f"/campaigns/{campaign['id']}").text)[1]
    assert "<path" in running.get(drawn).text
    said = running.stop()
    assert "Stopped. The campaigns stay as they are." in said or os.name == "nt"
    assert "Traceback" not in said
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["one.campaign.json"]
    assert guests not in said


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--port", "70000"], "`port` to be an integer from 0 to 65535"),
        (["--host", "203.0.113.1"], "Expected an address of this machine and a free port. Got 203.0.113.1, 8765"),
        (["--host", "no such name"], "`host` to be a name or an address"),
        (["--address", "lab"], "`address` as https://lab.example.org"),
    ],
)
def test_what_cannot_be_is_refused_in_words(flags, message, tmp_path, capsys):
    try:
        code = main(["serve", str(tmp_path), *flags])
    except SystemExit as stopped:  # as for the settings of every command
        code = stopped.code
    assert code in (1, 2)
    assert message in re.sub(r"[\s│]+", " ", capsys.readouterr().err)


def test_another_file_and_a_folder_that_is_not_there_are_refused(tmp_path, capsys):
    path = tmp_path / "pool.csv"
    path.write_text("smiles")
    assert main(["serve", str(path)]) == 1
    assert "a file that ends in .campaign.json" in capsys.readouterr().err
    assert main(["serve", str(tmp_path / "nothing")]) == 1
    assert "Make it first" in capsys.readouterr().err


def test_a_port_that_is_taken_is_refused(tmp_path, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", str(tmp_path), "--port", str(port)]) == 1
    assert f"Got 127.0.0.1, {port}" in capsys.readouterr().err


def said_by(folder, host="127.0.0.1", address="", guests=False):
    settings = ServeSettings(folder, host=host, address=address, guests=guests)
    keys = Keys(guests, ServerLimits())
    return "\n".join(introduce(settings, find_addresses(host, 8765, address), keys)), keys


def test_links_are_printed_once_each(tmp_path):
    text, keys = said_by(tmp_path, guests=True)
    for key in (keys.link, keys.guest_link, keys.program):
        assert text.count(key) == 1
    assert "guests" not in said_by(tmp_path)[0]
    assert "encrypted" not in text


def test_links_begin_with_the_address_of_the_proxy(tmp_path):
    text, keys = said_by(tmp_path, address="https://lab.example.org")
    assert f"https://lab.example.org/enter?token={keys.link}" in text
