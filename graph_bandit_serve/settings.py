"""Settings of `graph-bandit serve`, whose docstrings are also its `--help`, and the limits that it keeps to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import tyro

PORTS = 65_536
ADDRESS = re.compile(r"https?://([\w.-]+|\[[\da-f:.]+\])(:(?P<port>\d{1,5}))?/?", re.ASCII | re.IGNORECASE)
"""Scheme, host and perhaps a port, and nothing else."""


@dataclass(frozen=True)
class ServeSettings:
    """Serve the campaigns of a folder to a team: as pages in a browser, as JSON to robots, and as tools to agents.

    Raises:
        ValueError: if a value is not as described.
    """

    folder: tyro.conf.Positional[Path]
    """Folder of campaigns: files that end in .campaign.json, those in its subfolders too. It may be empty."""
    port: int = 8765
    """Port, from 0 to 65535. 0 takes any free port, which the command prints."""
    host: str = "127.0.0.1"
    """Address to listen on: an address of this machine, or 0.0.0.0 for all. By default only programs on this machine
    can connect. Traffic is not encrypted, so put a TLS proxy in front of a public server."""
    address: str = ""
    """Address of that proxy, as users type it: https://lab.example.org. Links start with it, and requests for it are
    answered."""
    open: bool = False
    """Open the first link in a browser."""

    def __post_init__(self) -> None:
        if not self.host or not 0 <= self.port < PORTS:
            raise ValueError(f"Expected a `host` and a `port` below {PORTS}. Got {self.host!r}, {self.port}.")
        found = ADDRESS.fullmatch(self.address)
        if self.address and (found is None or int(found["port"] or 1) not in range(1, PORTS)):
            raise ValueError(
                "Expected `address` as https://lab.example.org or http://lab:8000, without a path. Got "
                f"{self.address!r}."
            )


@dataclass(frozen=True)
class McpSettings:
    """Offer the campaigns of a folder as tools to a language model, over stdin and stdout (MCP)."""

    folder: tyro.conf.Positional[Path]
    """Folder of campaigns and tables, its subfolders too. New campaigns get folders in it."""


@dataclass(frozen=True, kw_only=True)
class ServerLimits:
    """Limits of the server."""

    campaigns: int = 500
    """Most campaigns of a folder; further ones are left out, and told."""
    depth: int = 5
    """Most folders in each other that are looked into."""
    entries: int = 20_000
    """Most files and folders that are looked at to find campaigns."""
    file_bytes: int = 16_000_000
    """Largest file of a campaign that is read."""
    kept_bytes: int = 64_000_000
    """Size of the files whose content is kept in memory until they change."""
    shown: int = 200
    """Most rows of a table of a page, and most cards; programs get all."""
    text_characters: int = 300
    """Longest name or reason on a page; longer ones are cut."""
    head_bytes: int = 16_384
    """Longest head of a request."""
    form_bytes: int = 1_000_000
    """Largest body that is a form without files, or JSON."""
    upload_bytes: int = 200_000_000
    """Largest body that is a form with files, or a file."""
    session_seconds: float = 7 * 24 * 3600.0
    """Time after which a browser is let in no longer."""
    invitation_seconds: float = 24 * 3600.0
    """Time after which such a link lets nobody in."""
    upload_life_seconds: float = 24 * 3600.0
    """Time after which such a file is removed."""
    smiles_characters: int = 2_000
    """Longest SMILES that is drawn."""
    drawing_seconds: float = 3.0
    """Time in which a molecule is drawn, or not at all."""
    workers: int = 8
    """Most jobs that run at once, each in a process. A person has one, and one that only looks."""
    waiting_jobs: int = 50
    """Most jobs that wait, of all campaigns."""
    job_seconds: float = 3600.0
    """Time in which a job ends, or is stopped."""
    job_bytes: int = 12_000_000_000
    """Memory of the process of a job and all that it starts. What these share counts for each."""
    look_seconds: float = 60.0
    """Time in which a preview, a page of a table, a download or a figure is made, or given up."""
    kept_jobs: int = 200
    """Most jobs that are kept after they have ended."""
    kept_job_bytes: int = 64_000_000
    """Size of the results of those, and of the largest one, as JSON."""
