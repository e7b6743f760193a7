"""A folder whose campaigns are tools, and a client of the SDK that calls them without a network."""

import asyncio
import json

from mcp import Client

from graph_bandit_serve.service import Service
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.tools.server import make_tools


class Tooled:
    """Tools over the campaigns of a folder."""

    def __init__(self, root, jobs):
        self.service = Service(root, jobs, ServerLimits())
        self.server = make_tools(self.service)

    def ask(self, question):
        """Return what a client gets; `question` is given the client."""

        async def meet():
            async with Client(self.server) as client:
                return await asyncio.wait_for(question(client), 60)

        return asyncio.run(meet())

    def call(self, tool, **arguments):
        """Return what a tool answers, as the SDK has checked it."""
        answer = self.ask(lambda client: client.call_tool(tool, arguments))
        assert not answer.is_error, answer.content
        assert json.loads(answer.content[0].text) == answer.structured_content
        return answer.structured_content

    def refusal(self, tool, **arguments):
        """Return why a tool refuses."""
        answer = self.ask(lambda client: client.call_tool(tool, arguments))
        assert (answer.is_error, answer.structured_content) == (True, None), answer.content
        return answer.content[0].text
