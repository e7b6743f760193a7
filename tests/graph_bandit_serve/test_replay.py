"""Programs that ask and tell a server replay a backtest: the same molecules in the same order, by REST and by MCP."""

import asyncio
import hashlib

import httpx2
import numpy as np
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from support.robot import MOLECULES, NAMES, VALUES, table
from support.served import Running
from support.tables import read

from graph_bandit_serve.campaigns.folder import key_of

SEED, NUMBER, START, BATCH, BUDGET = 3, 2, 10, 4, 30
AGENT = "molecule-ucb:refit_growth=0"  # it learns its weights from all results in every round, as a campaign does
API = "/api/v1/campaigns"


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A server, and the rows of a play of a backtest that it was asked for."""
    folder = tmp_path_factory.mktemp("replay")
    rows = zip(NAMES, MOLECULES.smiles, VALUES.values(), strict=True)
    (folder / "done.csv").write_bytes(table(("id", "smiles", "value"), *rows))
    (folder / "pool.csv").write_bytes(table(("id", "smiles"), *zip(NAMES, MOLECULES.smiles, strict=True)))
    running = Running(folder)
    settings = {"maximize": "value", "n": [BATCH], "start": START, "budget": BUDGET, "seed": SEED, "starts": 5}
    settings |= {"agents": [AGENT], "baselines": []}
    asked = running.post("/api/v1/backtests", {"table": "done.csv", "settings": settings})
    assert running.wait(asked)["status"] == "done"
    (results,) = folder.glob("backtests/*/results.csv")
    yield running, [row for row in read(results) if row["player"] == AGENT and row["start"] == f"{NUMBER}"]
    running.stop()


def seed_of_agent():
    """Return the seed that the backtest gives the agent of this play."""
    digest = int.from_bytes(hashlib.sha256(f"{AGENT}/{BATCH}".encode()).digest()[:4])
    return int(np.random.SeedSequence(SEED, spawn_key=(NUMBER - 1, 1, digest)).generate_state(1)[0])


class Robot:
    """A robot that speaks REST, and names agent and seed as the backtest has them."""

    def __init__(self, running, first):
        self.running, self.campaign = running, key_of("rest/suggestions.campaign.json")
        settings = {"maximize": ["value"], "n": BATCH, "agent": AGENT, "seed": seed_of_agent()}
        self.post("", {"name": "rest", "pool": "pool.csv", "settings": settings})
        self.post(f"/{self.campaign}/undo", {})  # the backtest begins with other molecules than a campaign would
        self.record(first)

    def post(self, path, content):
        job = self.running.wait(self.running.post(f"{API}{path}", content))
        assert job["status"] == "done", job
        return job["result"]

    def record(self, names):
        self.post(f"/{self.campaign}/results", {"results": measure(names)})

    def suggest(self):
        return self.post(f"/{self.campaign}/suggestions", {})["told"]["suggested"]


async def play_by_mcp(running, first):
    """Play with a client of the official SDK, which cannot name an agent; the table of results so far is there."""
    http = httpx2.AsyncClient(headers={"authorization": f"Bearer {running.key}"}, timeout=60)
    address = f"http://127.0.0.1:{running.port}/mcp"
    async with http, Client(streamable_http_client(address, http_client=http)) as client:

        async def call(tool, **arguments):
            answer = await client.call_tool(tool, arguments)
            assert not answer.is_error, answer.content
            return answer.structured_content

        wishes = {"maximize": ["value"], "n": BATCH}
        begun = await call("start_campaign", name="mcp", pool="pool.csv", wishes=wishes, measured=["first.csv"])
        campaign, batch, order = begun["campaign"]["id"], begun["suggestions"]["suggested"], [*first]
        while True:
            order += batch
            if len(order) == BUDGET:
                return order
            await call("record", campaign=campaign, results=measure(batch))
            batch = (await call("suggest", campaign=campaign))["suggestions"]["suggested"]


def measure(names):
    return [{"id": name, "value": VALUES[name]} for name in names]


def assert_is(order, rows):
    """The order and the best value after each measurement are those of a play of the backtest, to the last digit."""
    assert order == [row["id"] for row in rows]
    best = np.maximum.accumulate([VALUES[name] for name in order])
    column = next(name for name in rows[0] if name.startswith("best"))
    assert [repr(float(value)) for value in best] == [row[column] for row in rows]


def test_a_robot_by_rest_plays_the_backtest(played):
    running, rows = played
    order = [row["id"] for row in rows[:START]]
    robot = Robot(running, order)
    while len(order) < BUDGET:
        batch = robot.suggest()
        robot.record(batch)
        order += batch
    assert_is(order, rows)


def test_a_language_model_by_mcp_plays_the_backtest(played):
    running, rows = played
    first = [row["id"] for row in rows[:START]]
    (running.folder / "first.csv").write_bytes(table(("id", "value"), *((name, VALUES[name]) for name in first)))
    assert_is(asyncio.run(play_by_mcp(running, first)), rows)
