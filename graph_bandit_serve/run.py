"""Start the server, print its links, and serve until Ctrl-C."""

from __future__ import annotations

import html
import logging
import socket
import sys
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from graph_bandit_serve.settings import ServerLimits, ServeSettings

if TYPE_CHECKING:
    from graph_bandit_serve.access.addresses import Addresses
    from graph_bandit_serve.access.keys import Keys

PURPOSE = "`graph-bandit serve`"
CLOSING_SECONDS = 2
ENDING = ".campaign.json"
LEAD_ON = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={}"><title>Campaigns</title>'


def serve(settings: ServeSettings, limits: ServerLimits | None = None) -> None:
    """Serve the campaigns of a folder until Ctrl-C. Links and key are printed first.

    Args:
        settings: what is served, and where.
        limits: the limits; None: those of the command.

    Raises:
        MissingExtraError: if the extra `serve` is not installed.
        ValueError: if there is no such folder or campaign, or the server cannot listen there.
    """
    if not settings.folder.is_dir() and not (settings.folder.is_file() and settings.folder.name.endswith(ENDING)):
        what = "another file" if settings.folder.exists() else "nothing there. Make it first"
        raise ValueError(f"Expected {settings.folder} to be a folder, or a file that ends in {ENDING}. Got {what}.")
    from graph_bandit_env.extras import require

    for module in ("fastapi", "uvicorn", "python_multipart", "mcp"):
        require(module, PURPOSE)
    import uvicorn

    from graph_bandit_serve.access.addresses import find_addresses
    from graph_bandit_serve.access.keys import Keys
    from graph_bandit_serve.app import make_app
    from graph_bandit_serve.service import FUNCTIONS
    from graph_bandit_serve.work.drawing import Drawer
    from graph_bandit_serve.work.jobs import Jobs

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            jobs.close()  # with which their events end, that open pages wait for
            await super().shutdown(sockets)

    limits = limits or ServerLimits()
    with (
        listen(settings.host, settings.port) as listener,
        TemporaryDirectory(prefix="graph-bandit-") as private,
    ):
        say_errors("serve")
        addresses = find_addresses(settings.host, listener.getsockname()[1], settings.address)
        keys, drawer = Keys(settings.guests, limits), Drawer(limits)
        jobs = Jobs(limits, FUNCTIONS)
        app = make_app(settings.folder, keys, addresses, drawer, jobs, limits)
        config = uvicorn.Config(
            app,
            http="h11",  # which keeps to the longest head
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            h11_max_incomplete_event_size=limits.head_bytes,
            timeout_graceful_shutdown=CLOSING_SECONDS,
        )
        print("\n".join(introduce(settings, addresses, keys)), flush=True)
        root = settings.folder if settings.folder.is_dir() else settings.folder.parent
        jobs.start("clean", {"root": str(root.resolve())})  # in a process that then waits for the next job
        threading.Thread(target=drawer.start, daemon=True).start()
        if settings.open:
            open_link(link(addresses, keys.link), Path(private))
        try:
            Server(config).run(sockets=[listener])
        except KeyboardInterrupt:
            pass  # without one, Ctrl-C is ignored where the command was started, as in the background; uvicorn is not
        finally:
            jobs.close()
            drawer.close()
        raise KeyboardInterrupt("The campaigns stay as they are.")


def introduce(settings: ServeSettings, addresses: Addresses, keys: Keys) -> Iterator[str]:
    """Yield what is printed first.

    The key of programs is printed, not written to a file: the folder may be shared, and not on every disk can a file be
    kept from others.
    """
    from graph_bandit_serve.access.addresses import is_local

    what = "campaigns of " * settings.folder.is_dir()
    yield f"The {what or 'campaign '}{settings.folder}. Ctrl-C stops.\n"
    yield f"  your link, which works once:   {link(addresses, keys.link)}"
    if keys.guest_link:
        yield f"  guests, who may only read:     {link(addresses, keys.guest_link)}"
    yield f"  programs:                      {addresses.link}/api/v1/campaigns"
    yield f"  agents, by MCP:                {addresses.link}/mcp"
    yield f"    both with the header         Authorization: Bearer {keys.program}"
    if not is_local(settings.host):
        yield (
            f"\nEverybody who reaches {settings.host} can try to connect, and nothing is encrypted: who listens on the "
            "network reads links, keys and results. Put a proxy with TLS in front, and name it by --address."
        )


def link(addresses: Addresses, token: str) -> str:
    """Return a link that lets somebody in."""
    return f"{addresses.link}/enter?token={token}"


def open_link(address: str, private: Path) -> None:
    """Open a link in a browser by a file that its owner alone can read: others see the arguments of programs."""
    page = private / "link.html"
    page.write_text(LEAD_ON.format(html.escape(address)), encoding="utf-8")
    webbrowser.open_new_tab(page.as_uri())


@contextmanager
def listen(host: str, port: int) -> Iterator[socket.socket]:
    """Listen on an address for a `with` block.

    Raises:
        ValueError: if that is not possible; the message says what to do.
    """
    try:
        kind, *_, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.create_server(place[:2], family=kind)
    except (OSError, UnicodeError, OverflowError) as error:
        raise ValueError(
            f"Expected an address of this machine and a free port. Got {host}, {port}: {error}. Name another one by "
            "--host or --port; --port 0 takes any that is free."
        ) from error
    with listener:
        yield listener


def say_errors(command: str) -> None:
    """Print errors of requests to stderr, a line each.

    Args:
        command: name of the command that says them.
    """

    class OneLine(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            record.exc_info = record.exc_text = None
            return " ".join(super().format(record).split("\n"))

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneLine(f"graph-bandit {command}: %(message)s"))
    handler.addFilter(lambda record: record.name.startswith("graph_bandit_serve") or record.levelno >= logging.ERROR)
    for name in ("graph_bandit_serve", "uvicorn", "asyncio", "mcp"):
        logging.getLogger(name).addHandler(handler)
        logging.getLogger(name).propagate = False
