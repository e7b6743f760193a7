"""Settings and limits of `graph-bandit serve`. The docstrings of the settings are also its `--help`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import tyro

PORTS = 65_536
ADDRESS = re.compile(r"https?://([\w.-]+|\[[\da-f:.]+\])(:(?P<port>\d{1,5}))?/?", re.ASCII | re.IGNORECASE)
"""Only a scheme, a host and an optional port."""


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
    """Maximum number of campaigns in a folder. Skipped ones are reported."""
    depth: int = 5
    """Maximum depth of nested folders."""
    entries: int = 20_000
    """Maximum number of files and folders to search for campaigns."""
    file_bytes: int = 16_000_000
    """Maximum size of a campaign file."""
    kept_bytes: int = 64_000_000
    """Maximum total size of the campaign files cached in memory."""
    shown: int = 200
    """Maximum number of table rows or cards on a page. The API for programs returns all."""
    text_characters: int = 300
    """Maximum length of a name or reason on a page. Longer ones are truncated."""
    head_bytes: int = 16_384
    """Maximum size of the headers of a request."""
    form_bytes: int = 1_000_000
    """Maximum body of JSON or a form without files."""
    upload_bytes: int = 200_000_000
    """Maximum body of a file or a form with files."""
    session_seconds: float = 7 * 24 * 3600.0
    """Lifetime of a browser session."""
    invitation_seconds: float = 24 * 3600.0
    """Lifetime of an invitation link."""
    upload_life_seconds: float = 24 * 3600.0
    """Lifetime of an uploaded file."""
    smiles_characters: int = 2_000
    """Maximum length of a SMILES to draw."""
    drawing_seconds: float = 3.0
    """Time limit for drawing a molecule."""
    workers: int = 8
    """Maximum number of jobs that run at once, each in a process. A person can run one, and one read-only job."""
    waiting_jobs: int = 50
    """Maximum number of waiting jobs of all campaigns."""
    job_seconds: float = 3600.0
    """Time limit of a job."""
    job_bytes: int = 12_000_000_000
    """Memory limit of the process of a job and its child processes. Shared memory counts once for each process."""
    look_seconds: float = 60.0
    """Time limit of a preview, a page of a table, a download or a figure."""
    kept_jobs: int = 200
    """Maximum number of ended jobs to keep."""
    kept_job_bytes: int = 64_000_000
    """Maximum size of their results in total, and of each result, as JSON."""
