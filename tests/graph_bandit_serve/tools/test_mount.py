"""The tools over HTTP, behind the guard."""

import asyncio

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from support.served import HOST


def test_a_client_with_the_key_calls_tools(served):
    async def call():
        headers, transport = {"authorization": f"Bearer {served.key}"}, httpx2.ASGITransport(served.app)
        async with (
            served.app._app.router.lifespan_context(served.app),  # as uvicorn does
            httpx2.AsyncClient(headers=headers, transport=transport) as http,
            Client(streamable_http_client(f"http://{HOST}/mcp", http_client=http)) as client,
        ):
            return [await client.call_tool("list_campaigns", {}) for _ in range(2)]

    answers = asyncio.run(asyncio.wait_for(call(), 60))
    assert [answer.structured_content["campaigns"][0]["name"] for answer in answers] == ["one", "one"]
