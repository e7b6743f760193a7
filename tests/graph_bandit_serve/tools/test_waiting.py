"""Jobs that a tool waits for: their progress, their end, and clients that go away."""

import asyncio

import anyio
import pytest
from mcp.server.mcpserver import Context, MCPServer
from support.ended import have_ended
from support.tooled import Tooled

from graph_bandit_serve.tools.waiting import finish


@pytest.fixture
def tooled(tmp_path, odd_jobs):
    tooled = Tooled(tmp_path, odd_jobs)
    tooled.server = MCPServer("operations of the tests")

    @tooled.server.tool()
    async def run(context: Context, operation: str, arguments: dict[str, int]) -> str:
        return f"{await finish(context, tooled.service, lambda: odd_jobs.start(operation, arguments))}"

    return tooled


@pytest.mark.parametrize(("operation", "message"), [("refuse", '"Expected a table. Got a poem."'), ("die", "memory")])
def test_a_job_that_does_not_end_well_is_an_error_that_says_what_to_do(operation, message, tooled):
    assert message in tooled.refusal("run", operation=operation, arguments={})


def test_a_mistake_of_the_program_hides_its_trace(tooled):
    assert "a secret" not in tooled.refusal("run", operation="err", arguments={})


def test_progress_goes_to_a_client_that_asks_for_it(tooled):
    lines = []

    async def keep(progress, total, message):
        lines.append((progress, message))

    given = {"operation": "count", "arguments": {"lines": 3}}
    tooled.ask(lambda client: client.call_tool("run", given, progress_callback=keep))
    assert [number for number, _ in lines] == sorted({number for number, _ in lines})
    assert {text for _, text in lines} <= {"waiting", "running", *(f"{number} of 3" for number in range(3))}
    assert lines


def test_a_job_is_stopped_when_its_client_gives_up(tooled, odd_jobs):
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
    assert have_ended(map(int, heard[0].split()))
