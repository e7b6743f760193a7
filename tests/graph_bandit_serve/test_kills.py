"""A server that is killed while a program sends requests: what was acknowledged is there."""

import os
import random
import threading
import time

import httpx2
import psutil
from support.served import Running, table

from graph_bandit_campaign import Store
from graph_bandit_serve.campaigns.folder import key_of

KILLS = int(os.environ.get("GRAPH_BANDIT_KILLS", "3"))
"""How often a server is killed. Twenty take up to ten minutes."""
SMILES = [f"{'C' * first}{middle}{'C' * last}O" for first in range(1, 17) for middle in "NOS" for last in range(1, 17)]
NAMES = [f"m{k}" for k in range(len(SMILES))]  # more than a quick machine uses up
PLACE = "One/suggestions.campaign.json"
API = f"/campaigns/{key_of(PLACE)}"
SETTINGS = {"maximize": ["logp"], "n": 3, "agent": "random"}  # which learns in no time


class Client:
    """Sends requests, and remembers what was sent and what was acknowledged."""

    def __init__(self):
        self.random, self.number = random.Random(0), 0
        self.sent, self.results, self.comments, self.rounds = [], set(), set(), {}

    def work(self, server):
        """Send requests until the server is gone."""
        while True:
            names = self.random.sample(NAMES, 3)
            self.number += 1
            pairs = {(name, float(self.number)) for name in names}
            self.sent.append(pairs)
            try:
                server.done(f"{API}/tell", {"results": [{"id": name, "value": self.number} for name in names]})
                self.results |= pairs
                server.done(f"{API}/annotate", {"id": names[0], "comment": f"{self.number}"})
                self.comments.add((names[0], f"{self.number}"))
                told = server.done(f"{API}/ask", {"next_batch": True})["answer"]
            except httpx2.HTTPError:  # there is no server, no answer, or a part of one
                return
            self.rounds[told["round"]] = told["suggested"]


def test_what_was_acknowledged_outlives_kills(tmp_path):
    (tmp_path / "pool.csv").write_bytes(table(("id", "smiles"), *zip(NAMES, SMILES, strict=True)))
    client, moments = Client(), random.Random(0)
    for kill in range(KILLS):
        server = Running(tmp_path)
        if kill == 0:
            server.done("/new", {"name": "One", "pool": "pool.csv", "settings": SETTINGS})
        helpers, before = psutil.Process(server.process.pid).children(recursive=True), len(client.rounds)
        thread = threading.Thread(target=client.work, args=(server,))
        thread.start()
        until = time.monotonic() + 60
        while len(client.rounds) == before and time.monotonic() < until:
            time.sleep(0.01)  # the first job waits for a process
        time.sleep(moments.uniform(0, 0.5))
        server.process.kill()
        thread.join()
        server.stop()
        assert not psutil.wait_procs(helpers, 20)[1]  # they end by themselves
        state = Store(tmp_path / PLACE).state
        told = {(result.id, result.value) for result in state.measured}
        assert client.results <= told
        assert all(told & sent in (set(), sent) for sent in client.sent)  # all of a request, or nothing
        assert client.comments <= {(comment.id, comment.text) for comment in state.comments}
        suggested = {number: [each.id for each in state.rounds[number - 1]] for number in client.rounds}
        assert suggested == client.rounds
        assert len(client.rounds) > before
