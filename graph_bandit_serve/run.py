"""Start the server, print its links, and serve until Ctrl-C."""

from __future__ import annotations

import html
import socket
import threading
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from graph_bandit_serve.settings import ServerLimits, ServeSettings

if TYPE_CHECKING:
    from graph_bandit_serve.access.addresses import Addresses
    from graph_bandit_serve.access.keys import Keys

LEAD_ON = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={}"><title>Campaigns</title>'


def serve(settings: ServeSettings, limits: ServerLimits | None = None) -> None:
    """Serve the campaigns of a folder until Ctrl-C, after printing the links and the key.

    Args:
        settings: the folder and the address.
        limits: the limits. If None, those of the command.

    Raises:
        MissingExtraError: if the extra `serve` is not installed.
        ValueError: if there is no such folder or campaign, or the server cannot listen there.
    """
    if not settings.folder.is_dir():
        raise ValueError(f"Expected a folder of campaigns. There is none at {settings.folder}.")
    from graph_bandit_env.extras import require

    for module in ("fastapi", "uvicorn", "mcp", "pebble"):
        require(module, "`graph-bandit serve`")
    import uvicorn

    from graph_bandit_serve.access.addresses import find_addresses
    from graph_bandit_serve.access.keys import Keys
    from graph_bandit_serve.app import make_app
    from graph_bandit_serve.service import FUNCTIONS
    from graph_bandit_serve.work.drawing import Drawer
    from graph_bandit_serve.work.jobs import Jobs

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            jobs.close()  # ends the events that open pages wait for
            await super().shutdown(sockets)

    limits = limits or ServerLimits()
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listener = socket.create_server((settings.host, settings.port), family=family)
    except OSError as error:
        raise ValueError(
            f"Expected an address of this machine and a free port. Got {settings.host}, {settings.port}: {error}. "
            f"Choose another with --host or --port. --port 0 takes any free port."
        ) from error
    with listener, TemporaryDirectory(prefix="graph-bandit-") as private:
        addresses = find_addresses(settings.host, listener.getsockname()[1], settings.address)
        keys, drawer, jobs = Keys(limits), Drawer(limits), Jobs(limits, FUNCTIONS)
        config = uvicorn.Config(
            make_app(settings.folder, keys, addresses, drawer, jobs, limits),
            http="h11",  # enforces the maximum size of headers
            ws="none",
            log_level="error",
            proxy_headers=False,
            server_header=False,
            h11_max_incomplete_event_size=limits.head_bytes,
            timeout_graceful_shutdown=2,
        )
        print("\n".join(introduce(settings, addresses, keys)), flush=True)
        threading.Thread(target=jobs.open, daemon=True).start()  # Ctrl-C does not interrupt this thread
        if settings.open:
            open_link(addresses.link_of(keys.link), Path(private))
        try:
            Server(config).run(sockets=[listener])
        except KeyboardInterrupt:
            pass  # not raised if Ctrl-C is ignored, as for background processes, but uvicorn still stops
        finally:
            jobs.close()
            drawer.close()
        raise KeyboardInterrupt("The campaigns stay as they are.")


def introduce(settings: ServeSettings, addresses: Addresses, keys: Keys) -> Iterator[str]:
    """Yield the lines to print at the start.

    The key of programs is printed rather than written to a file, because the folder may be shared and some file systems
    have no permissions.
    """
    from graph_bandit_serve.access.addresses import is_local

    yield f"The campaigns of {settings.folder}. Ctrl-C stops.\n"
    yield f"  your link, which works once:   {addresses.link_of(keys.link)}"
    yield f"  programs:                      {addresses.link}/api/v1/campaigns"
    yield f"  agents, by MCP:                {addresses.link}/mcp"
    yield f"    both with the header         Authorization: Bearer {keys.program}"
    if not is_local(settings.host):
        yield f"\nEverybody who reaches {settings.host} can try to connect, and read what others send: nothing is"
        yield "encrypted. Put a proxy with TLS in front, and name it by --address."


def open_link(address: str, private: Path) -> None:
    """Open a link in a browser through a private file: other users can see the arguments of programs."""
    page = private / "link.html"
    page.write_text(LEAD_ON.format(html.escape(address)), encoding="utf-8")
    webbrowser.open_new_tab(page.as_uri())
