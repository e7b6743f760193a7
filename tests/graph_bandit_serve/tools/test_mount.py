"""The tools over HTTP, at a server that runs, behind the guard."""

import asyncio
import json

import httpx2
import pytest
from fastapi import FastAPI
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from support.served import ask, serve_in_thread, write_campaign
from support.tooled import make_service

from graph_bandit_serve.access.addresses import find_addresses
from graph_bandit_serve.access.guard import Guard
from graph_bandit_serve.access.keys import Access, Keys
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.tools.mount import mount_mcp

PORT = 8765
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


class Mounted:
    """An application with the tools and nothing else, on a port that is known later."""

    def __init__(self, root, port=PORT):
        self.limits, self.keys = ServerLimits(), Keys(True, ServerLimits())
        app, addresses = FastAPI(), find_addresses("127.0.0.1", port)
        mount_mcp(app, make_service(root), addresses, self.limits)
        self.app = Guard(app, self.keys, addresses, self.limits)

    async def __call__(self, scope, receive, send):
        await self.app(scope, receive, send)

    def post(self, *headers, body=LIST):
        usual = {"host": f"127.0.0.1:{PORT}", "content-type": "application/json"}
        pairs = usual | {"accept": "application/json, text/event-stream"} | dict(headers)
        return asyncio.run(ask(self.app, "/mcp", "POST", [*pairs.items()], body=json.dumps(body).encode()))


@pytest.fixture
def folder(tmp_path):
    write_campaign(tmp_path / "one.campaign.json")
    return tmp_path


def test_a_client_with_the_key_calls_tools(folder):
    mounted = Mounted(folder)

    async def call(port):
        mounted.__init__(folder, port)
        headers = {"authorization": f"Bearer {mounted.keys.program}"}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)) as client,
        ):
            assert "suggest" in [tool.name for tool in (await client.list_tools()).tools]
            return [await client.call_tool("list_campaigns", {}) for _ in range(2)]

    with serve_in_thread(mounted) as port:
        answers = asyncio.run(call(port))
    assert [answer.structured_content["campaigns"][0]["name"] for answer in answers] == ["one", "one"]


def test_guests_are_refused_although_they_may_read_pages(folder):
    mounted = Mounted(folder)
    session = mounted.keys.enter(mounted.keys.guest_link)
    pairs = [("host", f"127.0.0.1:{PORT}"), ("cookie", f"{mounted.app.cookies[Access.GUEST]}={session}")]
    pairs += [("accept", "text/event-stream"), ("sec-fetch-site", "same-origin")]
    for method in ("GET", "POST"):
        assert asyncio.run(ask(mounted.app, "/mcp", method, pairs)).status == 403
