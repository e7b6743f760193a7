"""A folder whose campaigns are tools, and a client of the SDK that calls them without a network."""

import asyncio
import json

from mcp import Client

from graph_bandit_serve.campaigns.folder import CampaignFolder
from graph_bandit_serve.campaigns.shelf import Shelf
from graph_bandit_serve.campaigns.uploads import Uploads
from graph_bandit_serve.service import OPERATIONS, Service
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.tools.server import make_tools
from graph_bandit_serve.work.jobs import Jobs


def make_service(root, operations=OPERATIONS, **limits):
    """Return a service; its jobs have to be closed."""
    limits = ServerLimits(**limits)
    folder = CampaignFolder(root, limits)
    return Service(folder, Shelf(folder, limits), Uploads(folder.root, limits), Jobs(limits, operations), limits)


class Tooled:
    """Tools over the campaigns of a folder.

    Args:
        root: the folder.
        more: as of `make_service`.
    """

    def __init__(self, root, **more):
        self.service = make_service(root, **more)
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
        sentence, text = (content.text for content in answer.content)
        assert sentence.endswith(".")
        assert json.loads(text) == answer.structured_content
        return answer.structured_content

    def refusal(self, tool, **arguments):
        """Return why a tool refuses."""
        answer = self.ask(lambda client: client.call_tool(tool, arguments))
        assert answer.is_error, answer.content
        assert answer.structured_content is None
        (content,) = answer.content
        return content.text
