"""The tools that change a campaign. None takes back what was measured or suggested."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult
from pydantic import Field

from graph_bandit_serve.campaigns.folder import key_of
from graph_bandit_serve.service import Service
from graph_bandit_serve.tools.answers import Changed, tell
from graph_bandit_serve.tools.arguments import (
    By,
    Campaign,
    GivenResult,
    Graph,
    IdColumn,
    SmilesColumn,
    Table,
    Text,
    Version,
    Wishes,
)
from graph_bandit_serve.tools.waiting import UNKNOWN, ask, finish
from graph_bandit_serve.work.jobs import Job

Answer = Annotated[CallToolResult, Changed]
MOST = 1_000
SUGGESTED = (
    "These are suggestions, not results. Have them measured, then give the results to `record`, then call `suggest`."
)


class ChangingTools:
    """Tools that change a campaign. What a tool is for stands in its docstring, which language models read.

    Args:
        service: the campaigns.
    """

    def __init__(self, service: Service) -> None:
        self._service = service

    async def start_campaign(
        self,
        context: Context,
        name: Annotated[Text, Field(description="Name of the campaign; it must be new.")],
        pool: Annotated[Text, Field(description="Table to choose from, as `list_tables` names it.")],
        wishes: Wishes,
        measured: Annotated[
            list[Table], Field(max_length=50, description="Tables of results so far, as `list_tables` names them.")
        ] = [],  # noqa: B006 - it is never changed, and the schema shows it
        smiles: SmilesColumn = "smiles",
        id: IdColumn = None,  # noqa: A002 - the name of the setting
        noise: Annotated[Text | None, Field(description="Column with standard deviations of the results.")] = None,
        skip_bad_rows: Annotated[bool, Field(description="Leave out rows of the pool that are not molecules.")] = False,
    ) -> Answer:
        """Start a campaign from a table, and suggest what to measure first.

        Look at the table by `read_pool` before. `wishes` needs at least one goal: `maximize`, `minimize` or `target`,
        with the name under which the values will be recorded.
        """
        given = {"smiles": smiles, "id": id, "noise": noise, "skip_bad_rows": skip_bad_rows or None}
        fields = wishes.fields() | {each: value for each, value in given.items() if value is not None}
        start = partial(self._service.begin, name, pool, measured, fields)
        return await self._change(context, None, start, "The campaign was started.")

    async def suggest(
        self,
        context: Context,
        campaign: Campaign,
        version: Version = "",
        more: Annotated[
            bool, Field(description="Suggest another round although no result came in. Rarely right: ask first.")
        ] = False,
        wishes: Annotated[Wishes, Field(description="What is to change from now on.")] = Wishes(),  # noqa: B008 - frozen
    ) -> Answer:
        """Suggest what to measure next. Call it again once results are recorded, and not before.

        Without new results the same suggestions come again, which is harmless. It may take minutes with a large pool.
        """
        changes = wishes.fields()
        return await self._do(context, campaign, version, "The last round.", "suggest", changes=changes, more=more)

    async def record(
        self,
        context: Context,
        campaign: Campaign,
        results: Annotated[list[GivenResult], Field(min_length=1, max_length=MOST)],
        version: Version = "",
    ) -> Answer:
        """Record results that were measured, by an experiment or a computation: all of them, or none if one is wrong.

        Those that are there already are ignored, so that the same call twice is harmless. You cannot take a result
        back: check ids, values and units before. Several values of one id are replicates.
        """
        entries = [{name: f"{value}" for name, value in each.model_dump().items()} for each in results]
        sentence = "The results were recorded. `suggest` learns from them."
        return await self._do(context, campaign, version, sentence, "record", entries=entries)

    async def veto(
        self,
        context: Context,
        campaign: Campaign,
        id: Graph,  # noqa: A002 - as in the file
        reason: Annotated[Text, Field(description="Why it is not to be measured. People read it.")],
        by: By,
        version: Version = "",
    ) -> Answer:
        """Say that one is not to be suggested, such as one that cannot be bought or made.

        It teaches nothing about others: for one that was tried and failed, record "failed". If it is among the last
        suggestions, another takes its place. `lift` takes it back.
        """
        return await self._mark(context, campaign, version, "It was vetoed.", "veto", id, reason, by)

    async def pin(self, context: Context, campaign: Campaign, id: Graph, version: Version = "") -> Answer:  # noqa: A002
        """Say that one is to be in the next round, since a person wants it measured. `lift` takes it back."""
        return await self._mark(context, campaign, version, "It was pinned.", "pin", id)

    async def lift(self, context: Context, campaign: Campaign, id: Graph, version: Version = "") -> Answer:  # noqa: A002
        """Take back the veto or the pin of one. Do so only if the person you work for wants it."""
        return await self._mark(context, campaign, version, "Its veto or pin was taken back.", "lift", id)

    async def comment(
        self,
        context: Context,
        campaign: Campaign,
        id: Graph,  # noqa: A002 - as in the file
        text: Annotated[Text, Field(description="What to keep. People read it.")],
        by: By,
        version: Version = "",
    ) -> Answer:
        """Keep a text about one for the team. It changes no suggestion."""
        return await self._mark(context, campaign, version, "The comment was kept.", "comment", id, text, by)

    async def _mark(
        self, context: Context, campaign: str, version: str, sentence: str, kind: str, *parts: str
    ) -> CallToolResult:
        arguments = {"kind": kind, "text": "", "by": "", **dict(zip(("id", "text", "by"), parts, strict=False))}
        return await self._do(context, campaign, version, sentence, "mark", **arguments)

    async def _do(
        self, context: Context, campaign: str, version: str, sentence: str, operation: str, **arguments: object
    ) -> CallToolResult:
        start = partial(self._service.do, campaign, operation, arguments, version)
        return await self._change(context, campaign, start, sentence, version)

    async def _change(
        self, context: Context, campaign: str | None, start: Callable[[], Job], sentence: str, version: str = ""
    ) -> CallToolResult:
        """Change a campaign, or start one, and say how it stands then."""
        done = await finish(context, self._service, start, version)
        assert isinstance(done, dict)  # noqa: S101 - operations that change something return `Done`
        told = done.get("told")
        reading = await ask(partial(self._service.shelf.read, campaign or key_of(f"{done.get('campaign')}")))
        if reading is None:  # it was removed just now
            raise ToolError(UNKNOWN)
        words = f"{sentence} {SUGGESTED}" if told is not None else sentence
        return tell(words, Changed(campaign=reading.summary, suggestions=told))
