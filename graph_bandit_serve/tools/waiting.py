"""Wait for a job on behalf of a language model: tell its progress, stop it if nobody waits, and say what was wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import anyio
from anyio import to_thread
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from graph_bandit_serve.service import Service, UnknownError
from graph_bandit_serve.tools.answers import tell_problem
from graph_bandit_serve.work.jobs import BusyError, Job

T = TypeVar("T")

UNKNOWN = "There is no such campaign or table. Call `list_campaigns` or `list_tables`, and name one of theirs."
REFUSED = "Nothing was done. Change what the problem says, and call again. If you cannot, tell the person you work for."
BUSY = "Nothing was done: too many jobs wait. Try again in a minute."
FAILED = (
    "It failed, and calling again in the same way will not help. `read_campaign` says how the campaign stands. Tell "
    "the person you work for."
)
STOPPED = "Somebody stopped this. What was saved before stays. Ask the person you work for before you call again."
STALE = (
    "Nothing was done: the campaign has changed since the version that you gave. Call `read_campaign`, look at what is "
    "new, and if the call still makes sense, repeat it with the new version."
)


async def ask(call: Callable[[], T]) -> T:
    """Call the service in a thread, since it reads files and waits for locks.

    Raises:
        ToolError: if there is not what is asked for, or it cannot be done.
    """
    try:
        return await to_thread.run_sync(call)
    except UnknownError as error:
        raise ToolError(UNKNOWN) from error
    except BusyError as error:
        raise ToolError(tell_problem(BUSY, {"problem": str(error)})) from error
    except ValueError as error:
        raise ToolError(tell_problem(REFUSED, {"problem": str(error)})) from error


async def finish(context: Context, service: Service, start: Callable[[], Job], version: str = "") -> object:
    """Start a job, and return its result once it has ended.

    Args:
        context: of the call; progress goes there if it is wanted.
        service: the campaigns.
        start: starts the job.
        version: the version of the campaign that the model has seen, if it said so.

    Raises:
        ToolError: if it does not end well.
    """
    job = await ask(start)
    try:
        step, told = 0, ""
        async for state in service.jobs.events(job.id):
            job = state
            line = job.progress[-1] if job.progress else job.status
            if line != told and not job.has_ended:
                step, told = step + 1, line
                await context.report_progress(step, message=line)
    finally:
        if not job.has_ended:
            with anyio.CancelScope(shield=True):  # nobody asks any more
                await to_thread.run_sync(partial(service.jobs.stop, job.id))
    if job.status == "refused":
        raise ToolError(tell_problem(REFUSED, {"problem": job.problem}))
    if job.status == "stopped":
        raise ToolError(STOPPED)
    if job.status != "done":
        raise ToolError(tell_problem(FAILED, {"problem": job.problem}))
    if isinstance(job.result, dict) and job.result.get("stale"):
        changes = await ask(partial(service.shelf.tell_changes, job.campaign, version))
        raise ToolError(tell_problem(STALE, {"version": f"{job.result['stale']}", "changes": changes}))
    return job.result
