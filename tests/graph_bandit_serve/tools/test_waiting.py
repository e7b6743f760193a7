"""Jobs that a tool waits for: their progress, their end, and clients that go away."""

import asyncio

import anyio
import pytest
from mcp.server.mcpserver import Context, MCPServer
from support.ended import have_ended
from support.served import write_campaign
from support.tooled import Tooled

from graph_bandit_serve.tools.waiting import finish


@pytest.fixture(scope="module")
def tooled(tmp_path_factory):
    root = tmp_path_factory.mktemp("folder")
    write_campaign(root / "one.campaign.json")
    tooled = Tooled(root, operations="support.operations:OPERATIONS", waiting_jobs=1, workers=1)
    tooled.server = MCPServer("operations of the tests")
    (file,) = tooled.service.folder.list_files().files

    @tooled.server.tool()
    async def run(context: Context, operation: str, arguments: dict[str, int]) -> str:
        found = await finish(
            context, tooled.service, lambda: tooled.service.jobs.start(operation, arguments, campaign=file.key)
        )
        return f"{found}"

    yield tooled
    tooled.service.jobs.close()


def run(tooled, operation, **arguments):
    given = {"operation": operation, "arguments": arguments}
    answer = tooled.ask(lambda client: client.call_tool("run", given))
    return answer.is_error, answer.content[0].text


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ("refuse", "Change what the problem says, and call again."),
        ("refuse", '{"problem": "Expected a table. Got a poem."}'),
        ("err", "calling again in the same way will not help"),
        ("die", "perhaps for lack of memory"),
    ],
)
def test_a_job_that_does_not_end_well_is_an_error_that_says_what_to_do(operation, message, tooled):
    is_error, text = run(tooled, operation)
    assert is_error
    assert message in text
    assert "a secret of the program" not in text


def test_progress_goes_to_a_client_that_asks_for_it(tooled):
    lines = []

    async def keep(progress, total, message):
        lines.append((progress, message))

    given = {"operation": "count", "arguments": {"lines": 3}}
    tooled.ask(lambda client: client.call_tool("run", given, progress_callback=keep))
    assert [number for number, _ in lines] == sorted({number for number, _ in lines})
    assert {text for _, text in lines} <= {"waiting", "running", *(f"{number} of 3" for number in range(3))}
    assert lines


def test_a_job_is_stopped_when_its_client_gives_up(tooled):
    heard = []

    async def give_up(client):
        with anyio.CancelScope() as scope:

            async def keep(progress, total, message):
                if message[0].isdigit():
                    heard.append(message)
                    scope.cancel()

            await client.call_tool("run", {"operation": "hold", "arguments": {}}, progress_callback=keep)
        for _ in range(600):
            if not tooled.service.jobs.queue():
                break
            await asyncio.sleep(0.05)

    tooled.ask(give_up)
    assert not tooled.service.jobs.queue()
    assert have_ended(map(int, heard[0].split()))
