"""Find the addresses of the server, so that requests for other host names are rejected.

An attacker's host name can first resolve to the attacker's machine and then to this one (DNS rebinding). The browser
treats both as one site, but sends that name in the Host header of each request.
"""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

import psutil

PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Addresses:
    """The valid addresses of the server."""

    link: str
    """Base URL of the printed links."""
    origins: frozenset[str]
    """Origin headers of the server's own pages, in lower case."""
    port: int
    """Port of the server."""

    def link_of(self, token: str) -> str:
        """Return a login link with a token."""
        return f"{self.link}/enter?token={token}"

    @property
    def hosts(self) -> set[str]:
        """Return the accepted Host headers, in lower case."""
        return {origin.partition("//")[2] for origin in self.origins}

    @property
    def is_encrypted(self) -> bool:
        """Return True if browsers connect by TLS, to a proxy."""
        return self.link.startswith("https:")


def find_addresses(host: str, port: int, public: str = "") -> Addresses:
    """Return the addresses of a server.

    Args:
        host: name or address to listen on.
        port: port to listen on.
        public: address of a proxy in front of the server. Empty if there is none.
    """
    places = [("http", name, port) for name in _names_of(host)]
    if public:
        parts = urlsplit(public.lower())
        places.insert(0, (parts.scheme, _bracketed(parts.hostname or ""), parts.port or PORTS[parts.scheme]))
    ends = [f":{number}" * (number != PORTS[scheme]) for scheme, _, number in places]  # browsers omit default ports
    origins = [f"{scheme}://{name}{end}" for (scheme, name, _), end in zip(places, ends, strict=True)]
    return Addresses(origins[0], frozenset(origins), port)


def is_local(host: str) -> bool:
    """Return True if only programs on this machine can connect to an address."""
    return host.lower() == "localhost" or bool((address := _parse(host)) and address.is_loopback)


def _names_of(host: str) -> list[str]:
    """Return the host names of a server that listens on an address, the best one first."""
    address = _parse(host)
    if address is not None and address.is_unspecified:
        own = [card.address.split("%")[0] for cards in psutil.net_if_addrs().values() for card in cards]
        reachable = [text for text in own if (parsed := _parse(text)) and parsed.version <= address.version]
        return list(dict.fromkeys([socket.gethostname().lower(), "localhost", *map(_bracketed, reachable)]))
    name = _bracketed(host.lower())
    return list(dict.fromkeys([name, "localhost"])) if is_local(host) else [name]


def _parse(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _bracketed(name: str) -> str:
    return f"[{name}]" if ":" in name else name
