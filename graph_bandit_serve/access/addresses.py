"""Know by which addresses the server is asked, so that a name of somebody else's that leads here is refused.

A page of an attacker may have a name that first leads to the attacker's machine and then to this one (DNS rebinding).
The browser takes both for one site. The name stands in the Host header of each request, and is none of these.
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
    """The addresses by which the server may be asked."""

    link: str
    """The beginning of the links that are printed."""
    origins: frozenset[str]
    """Origin headers of pages of the server itself, in small letters."""
    port: int
    """The port that it listens on."""

    def link_of(self, token: str) -> str:
        """Return a link that lets somebody in."""
        return f"{self.link}/enter?token={token}"

    @property
    def hosts(self) -> set[str]:
        """Return the Host headers that are answered, in small letters."""
        return {origin.partition("//")[2] for origin in self.origins}

    @property
    def is_encrypted(self) -> bool:
        """Return whether browsers connect by TLS, to a proxy."""
        return self.link.startswith("https:")


def find_addresses(host: str, port: int, public: str = "") -> Addresses:
    """Return the addresses of a server.

    Args:
        host: name or address that it listens on.
        port: the port that it listens on.
        public: address of a proxy in front of it; empty: there is none.
    """
    places = [("http", name, port) for name in _names_of(host)]
    if public:
        parts = urlsplit(public.lower())
        places.insert(0, (parts.scheme, _bracketed(parts.hostname or ""), parts.port or PORTS[parts.scheme]))
    ends = [f":{number}" * (number != PORTS[scheme]) for scheme, _, number in places]  # browsers leave out usual ports
    origins = [f"{scheme}://{name}{end}" for (scheme, name, _), end in zip(places, ends, strict=True)]
    return Addresses(origins[0], frozenset(origins), port)


def is_local(host: str) -> bool:
    """Return whether only programs of this machine can connect to an address."""
    return host.lower() == "localhost" or bool((address := _parse(host)) and address.is_loopback)


def _names_of(host: str) -> list[str]:
    """Return the names of the machine under which it is asked if it listens on an address, the best one first."""
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
