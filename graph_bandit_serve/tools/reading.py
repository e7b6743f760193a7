"""The tools that change nothing: look at campaigns, tables and predictions, and replay a finished table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Literal

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult
from pydantic import Field

from graph_bandit_serve.campaigns.shelf import Reading
from graph_bandit_serve.campaigns.views import CampaignList, Tables, describe
from graph_bandit_serve.service import Service
from graph_bandit_serve.tools.answers import (
    CampaignNow,
    Explanation,
    Explanations,
    Pool,
    Report,
    tell,
    tell_problem,
)
from graph_bandit_serve.tools.arguments import Campaign, Graph, IdColumn, Sheet, SmilesColumn, Table, Text
from graph_bandit_serve.tools.waiting import UNKNOWN, ask, finish

UNREADABLE = "This file cannot be read as a campaign. Tell the person you work for."


class ReadingTools:
    """Tools that change nothing. What a tool is for stands in its docstring, which language models read.

    Args:
        service: the campaigns.
    """

    def __init__(self, service: Service) -> None:
        self._service = service

    async def list_campaigns(self) -> Annotated[CallToolResult, CampaignList]:
        """List the campaigns. Begin with this: the other tools ask for the `id` of a campaign.

        A campaign chooses, round by round, what of a pool to measure next. Each stands here with its goals, and how
        many results, rounds and pending measurements it has.
        """
        listing = await ask(self._service.shelf.list_campaigns)
        return tell("The campaigns. `read_campaign` shows one.", listing)

    async def read_campaign(
        self,
        campaign: Campaign,
        rounds: Annotated[int, Field(ge=0, le=1_000, description="How many of the last rounds to show.")] = 1,
        results: Annotated[int, Field(ge=0, le=10_000, description="How many of the last results to show.")] = 100,
    ) -> Annotated[CallToolResult, CampaignNow]:
        """Read a campaign: goals, best results so far, what is pending, and the last suggestions with predictions.

        Do so before you change it, and give its `version` to the call that changes it. What is `pending` was suggested
        and has no result yet: it should be measured first.
        """
        reading = await ask(partial(self._service.shelf.read, campaign))
        return tell(
            "The campaign. Give its `version` to the next call that changes it.", _show(reading, rounds, results)
        )

    async def list_tables(self) -> Annotated[CallToolResult, Tables]:
        """List the tables of the folder, by the names that `read_pool`, `start_campaign` and `backtest` take."""
        listing = await ask(self._service.folder.list_tables)
        tables = Tables(tables=[file.name for file in listing.files], is_cut=listing.is_cut)
        return tell("The tables. `read_pool` shows what one holds.", tables)

    async def read_pool(
        self,
        context: Context,
        table: Table,
        smiles: SmilesColumn = "smiles",
        id: IdColumn = None,  # noqa: A002 - the name of the setting
        sheet: Sheet = None,
    ) -> Annotated[CallToolResult, Pool]:
        """Look at a table before a campaign is started from it: how many molecules, which columns, which bad rows.

        Unless you know, ask the person you work for what to do about bad rows, and what to maximize or minimize.
        """
        start = partial(self._service.read_pool, table, smiles, id, sheet)
        found = await finish(context, self._service, start)
        return tell("The table, read as a pool. `start_campaign` starts from one.", Pool.model_validate(found))

    async def why(
        self, context: Context, campaign: Campaign, ids: Annotated[list[Graph], Field(min_length=1, max_length=20)]
    ) -> Annotated[CallToolResult, Explanations]:
        """Explain some graphs of the pool: what is predicted of each, why, and which measured ones are most similar."""
        start = partial(self._service.do, campaign, "explain", {"ids": ids})
        found = await finish(context, self._service, start)
        graphs = [Explanation.model_validate(each) for each in found] if isinstance(found, list) else []
        return tell("The explanations.", Explanations(graphs=graphs))

    async def enough(self, context: Context, campaign: Campaign) -> Annotated[CallToolResult, Report]:
        """Say whether measuring more is likely to find a better one, or whether to stop. Ask this after results."""
        found = await finish(context, self._service, partial(self._service.do, campaign, "look_ahead", {}))
        return tell("The outlook. To stop is for people to decide.", Report(text=f"{found}"))

    async def backtest(
        self,
        context: Context,
        table: Table,
        column: Annotated[Text, Field(description="Column of the measured values.")],
        aim: Annotated[Literal["maximize", "minimize"], Field(description="Whether large or small ones are wanted.")],
        n: Annotated[int, Field(ge=1, description="How many are measured in a round.")] = 8,
        budget: Annotated[
            int | None,
            Field(ge=1, description="How many are measured in all; null: a quarter, at most 300."),
        ] = None,
        starts: Annotated[int, Field(ge=5, le=100, description="How many random starts are played.")] = 10,
        start: Annotated[
            int | None, Field(ge=1, description="How many are measured at random first; null: at least 10.")
        ] = None,
        agents: Annotated[
            list[Text],
            Field(max_length=10, description="Agents that choose, as molecule-ts; empty: the usual one."),
        ] = [],  # noqa: B006 - it is never changed, and the schema shows it
        smiles: SmilesColumn = "smiles",
        id: IdColumn = None,  # noqa: A002 - the name of the setting
    ) -> Annotated[CallToolResult, Report]:
        """Replay a finished table, in which everything is measured: would suggestions have found the best ones sooner?

        It takes minutes to hours: fewer `starts` and a smaller `budget` are faster. The folder gets a page about it.
        """
        given = {aim: column, "n": [n], "budget": budget, "starts": starts, "start": start, "agents": agents, "id": id}
        fields = {name: value for name, value in {**given, "smiles": smiles}.items() if value is not None}
        found = await finish(context, self._service, partial(self._service.backtest, table, fields))
        return tell("What the replay found.", Report(text=f"{found}"))


def _show(reading: Reading | None, rounds: int, results: int) -> CampaignNow:
    """Return the end of a campaign."""
    if reading is None:
        raise ToolError(UNKNOWN)
    if reading.state is None:
        raise ToolError(tell_problem(UNREADABLE, {"problem": f"{reading.summary.problem}"}))
    view = describe(reading.file.key, reading.file.name, reading.version, reading.state)
    parts: Mapping[str, object] = {
        "rounds": view.rounds[len(view.rounds) - min(rounds, len(view.rounds)) :],
        "results": view.results[len(view.results) - min(results, len(view.results)) :],
    }
    return CampaignNow(
        campaign=view.model_copy(update=parts), rounds_in_all=len(view.rounds), results_in_all=len(view.results)
    )
