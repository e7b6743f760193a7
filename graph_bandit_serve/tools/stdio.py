"""Offer the tools to the parent process over stdin and stdout."""

from __future__ import annotations

import sys
import threading

from graph_bandit_serve.settings import McpSettings, ServerLimits

WAKE_SECONDS = 0.5


def serve_tools(settings: McpSettings, limits: ServerLimits | None = None) -> None:
    """Offer the campaigns of a folder as tools until stdin is closed or Ctrl-C is pressed.

    Args:
        settings: the folder.
        limits: the limits. If None, those of the command.

    Raises:
        MissingExtraError: if the extra `serve` is not installed.
        ValueError: if there is no such folder.
    """
    if not settings.folder.is_dir():
        raise ValueError(f"Expected a folder. There is none at {settings.folder}.")
    from graph_bandit_env.extras import require

    for module in ("mcp", "pebble"):
        require(module, "`graph-bandit mcp`")
    import anyio

    from graph_bandit_serve.service import FUNCTIONS, Service
    from graph_bandit_serve.tools.server import make_tools
    from graph_bandit_serve.work.jobs import Jobs

    limits = limits or ServerLimits()
    jobs = Jobs(limits, FUNCTIONS)
    server = make_tools(Service(settings.folder, jobs, limits))
    # A thread that waits for a line of stdin cannot be stopped, but a daemon does not block the exit of the command.
    serving = threading.Thread(target=anyio.run, args=(server.run_stdio_async,), daemon=True)
    try:
        print(f"The campaigns of {settings.folder}, as tools over stdin and stdout. Ctrl-C stops.", file=sys.stderr)
        threading.Thread(target=jobs.open, daemon=True).start()  # Ctrl-C does not interrupt this thread
        serving.start()
        while serving.is_alive():
            serving.join(WAKE_SECONDS)  # on Windows, Ctrl-C does not interrupt an unlimited wait
    except KeyboardInterrupt:
        raise KeyboardInterrupt("Saved work is kept. The running operation was stopped.") from None
    finally:
        jobs.close()
