import socket

import pytest

from graph_bandit_serve.access.addresses import find_addresses


def test_a_server_on_this_machine_has_the_names_of_this_machine():
    addresses = find_addresses("127.0.0.1", 8000)
    assert addresses.hosts == {"127.0.0.1:8000", "localhost:8000"}
    assert addresses.origins == {"http://127.0.0.1:8000", "http://localhost:8000"}
    assert addresses.link == "http://127.0.0.1:8000"
    assert find_addresses("::1", 8000).hosts == {"[::1]:8000", "localhost:8000"}


def test_the_port_of_the_web_may_be_left_out():
    assert {"127.0.0.1", "127.0.0.1:80"} < find_addresses("127.0.0.1", 80).hosts
    assert "http://127.0.0.1" in find_addresses("127.0.0.1", 80).origins


def test_another_address_is_itself_alone():
    assert find_addresses("192.0.2.7", 8000).hosts == {"192.0.2.7:8000"}
    assert find_addresses("Lab-PC", 8000).hosts == {"lab-pc:8000"}


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_all_addresses_are_those_of_this_machine(host):
    hosts = find_addresses(host, 8000).hosts
    assert {"localhost:8000", "127.0.0.1:8000", f"{socket.gethostname().lower()}:8000"} <= hosts
    assert not {"0.0.0.0:8000", "[::]:8000", "evil.example:8000"} & hosts


def test_a_proxy_gives_links_their_beginning():
    addresses = find_addresses("127.0.0.1", 8000, "https://Lab.example.org")
    assert addresses.link == "https://lab.example.org"
    assert addresses.is_encrypted
    assert {"lab.example.org", "lab.example.org:443", "127.0.0.1:8000"} <= addresses.hosts
    assert "http://lab.example.org" not in addresses.origins
    assert find_addresses("127.0.0.1", 8000, "http://lab:81").hosts > {"lab:81"}
