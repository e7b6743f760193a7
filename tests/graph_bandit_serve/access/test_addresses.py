import socket

import pytest

from graph_bandit_serve.access.addresses import find_addresses

HERE = {"127.0.0.1:8000", "localhost:8000"}
NAMED = {*HERE, f"{socket.gethostname().lower()}:8000"}


@pytest.mark.parametrize(
    ("arguments", "hosts", "link"),
    [
        (("127.0.0.1", 8000), HERE, "http://127.0.0.1:8000"),
        (("::1", 8000), {"[::1]:8000", "localhost:8000"}, "http://[::1]:8000"),
        (("127.0.0.1", 80), {"127.0.0.1", "127.0.0.1:80", "localhost"}, "http://127.0.0.1"),
        (("Lab-PC", 8000), {"lab-pc:8000"}, "http://lab-pc:8000"),
        (("0.0.0.0", 8000), NAMED, ""),
        (("127.0.0.1", 8000, "https://Lab.example.org"), {*HERE, "lab.example.org"}, "https://lab.example.org"),
    ],
)
def test_a_server_has_the_names_under_which_it_is_reached_and_no_other(arguments, hosts, link):
    addresses = find_addresses(*arguments)
    assert hosts <= addresses.hosts
    assert addresses.link.startswith(link)
    assert not {"0.0.0.0:8000", "evil.example:8000"} & addresses.hosts
    assert addresses.is_encrypted == addresses.link.startswith("https")
    assert not addresses.is_encrypted or "http://lab.example.org" not in addresses.origins
