"""Jobs as programs and models see them: how they are stopped."""

import asyncio
from contextlib import closing

import anyio
import pytest
from mcp.server.mcpserver import Context, MCPServer
from support.ended import have_ended
from support.served import Served
from support.tooled import Tooled

from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.tools.server import finish
from graph_bandit_serve.work.jobs import Jobs


@pytest.fixture(scope="module")
def odd_jobs():
    """Jobs whose operations do what a test asks for, good or bad."""
    with closing(Jobs(ServerLimits(), "support.operations:OPERATIONS")) as jobs:
        yield jobs


@pytest.fixture
def served(tmp_path, odd_jobs):
    return Served(tmp_path, jobs=odd_jobs)


@pytest.fixture
def tooled(tmp_path, odd_jobs):
    """A tool that runs any operation."""
    tooled = Tooled(tmp_path, odd_jobs)
    tooled.server = MCPServer("operations of the tests")

    @tooled.server.tool()
    async def run(context: Context, operation: str, arguments: dict[str, int]) -> str:
        return f"{await finish(context, tooled.service, lambda: odd_jobs.start(operation, arguments))}"

    return tooled


def test_a_job_is_stopped_by_who_started_it_alone(served, odd_jobs):
    mine, other, last = (odd_jobs.start("hold", {}, person=person).id for person in ("program", "Bob", "program"))
    assert {view["id"]: view["is_mine"] for view in served.get("/jobs")} == {mine: True, other: False, last: True}
    assert served.post(f"/jobs/{other}/stop", {}).status_code == 403
    odd_jobs.stop(other)
    assert [served.post(f"/jobs/{each}/stop", {}).json()["status"] for each in (mine, last)] == ["stopped"] * 2
    assert served.post("/jobs/guess/stop", {}).status_code == 404


def test_the_client_of_a_tool_hears_of_progress_and_stops_the_job_when_it_gives_up(tooled, odd_jobs):
    heard = []

    async def give_up(client):
        with anyio.CancelScope() as scope:

            async def keep(progress, total, message):
                if message[0].isdigit():
                    heard.append(message)
                    scope.cancel()

            await client.call_tool("run", {"operation": "hold", "arguments": {}}, progress_callback=keep)
        while odd_jobs.queue():
            await asyncio.sleep(0.05)

    tooled.ask(give_up)
    assert have_ended(map(int, heard[0].split()[:2]))
