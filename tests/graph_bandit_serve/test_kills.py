"""A server that is killed fifty times while two programs send requests: what was acknowledged is there, always."""

import random
import threading
import time
from collections import Counter

import pytest
from support.forked import IS_SAFE, Forks
from support.robot import table
from support.tables import read

from graph_bandit_campaign import Desk, read_state
from graph_bandit_serve.campaigns.folder import key_of

pytestmark = pytest.mark.skipif(not IS_SAFE, reason="servers are forks here")
KILLS = 50
SMILES = [f"{'C' * first}{middle}{'C' * last}O" for first in range(1, 11) for middle in "NOS" for last in range(1, 11)]
NAMES = [f"m{k}" for k in range(len(SMILES))]
POOL = table(("id", "smiles"), *zip(NAMES, SMILES, strict=True))
API = "/api/v1/campaigns"
PLACE = "One/suggestions.campaign.json"
SETTINGS = {"maximize": ["logp"], "n": 3, "agent": "random"}  # which learns in no time
FILES = 4  # that are replaced in a campaign's folder; each may leave a part of itself when its writer is killed


class Program:
    """A program that sends requests, and remembers what was acknowledged.

    Args:
        seed: seed of what it sends.
        actions: names of its methods, of which each request takes one at random.
    """

    def __init__(self, seed, *actions):
        self.random, self.actions = random.Random(seed), actions
        self.server, self.campaign = None, key_of(PLACE)
        self.number, self.is_cut, self.counts = seed * 1_000_000, False, Counter()
        self.results = {}  # (id, value): True if it has to be there, False if it must not, None if nobody knows
        self.failed, self.comments, self.vetoes, self.rounds, self.tables = set(), set(), set(), {}, set()
        self.begun, self.tried = set(), []

    def work(self, server):
        """Send requests until the server is gone."""
        self.server, self.is_cut = server, False
        while not self.is_cut:
            getattr(self, self.random.choice(self.actions))()

    def ask(self, path, content, campaign=True, **more):
        """Return what came of a job that is done; None if that was not acknowledged."""
        self.counts["sent"] += 1
        try:
            answer = self.server.post(f"{API}/{self.campaign}{path}" if campaign else path, content, **more)
            content = self.server.wait(answer)
        except (OSError, ValueError, AttributeError):  # there is no server, no answer, or a part of one
            self.is_cut = True
            self.counts["cut off"] += 1
            return None
        if answer.status == 422 or content.get("status") == "refused":
            self.counts["refused"] += 1
            return None
        assert answer.status in (200, 201, 202), answer.text
        assert content.get("status", "done") == "done", content
        self.counts["acknowledged"] += 1
        return content.get("result", content)

    def draw(self, count):
        """Return some results that nobody has sent before."""
        drawn = []
        for name in self.random.sample(NAMES, count):
            self.number += 1
            drawn.append((name, self.number / 1000))
        return drawn

    def record(self):
        drawn = self.draw(3)
        self.results |= dict.fromkeys(drawn)
        self.tried = drawn
        if self.ask("/results", {"results": [{"id": name, "value": value} for name, value in drawn]}):
            self.results |= dict.fromkeys(drawn, True)
            self.tried = []

    def take_back(self):
        known = sorted({name for (name, _), there in self.results.items() if there})
        for name in self.random.sample(known, min(1, len(known))):
            gone = [pair for pair in self.results if pair[0] == name]
            self.results |= dict.fromkeys(gone)
            self.failed.discard(name)  # all that was typed of it is taken back
            if self.ask("/results/take-back", {"ids": [name]}):
                self.results |= dict.fromkeys(gone, False)

    def fail(self):
        name = self.random.choice(NAMES)
        if self.ask("/results", {"results": [{"id": name, "value": "failed"}]}):
            self.failed.add(name)

    def suggest(self):
        result = self.ask("/suggestions", {"more": self.random.random() < 0.3})
        if result:
            self.rounds[result["told"]["round"]] = set(result["told"]["suggested"])

    def comment(self):
        self.number += 1
        said = (self.random.choice(NAMES), f"{self.number}")
        if self.ask("/comments", {"id": said[0], "text": said[1]}):
            self.comments.add(said)

    def veto(self):
        name = self.random.choice(self.last())
        if self.ask("/vetoes", {"id": name, "text": "no stock"}):
            self.vetoes.add(name)

    def send(self):
        self.tried = drawn = self.draw(2)
        kind = "application/octet-stream"
        sent = self.ask("/api/v1/uploads?name=new.csv", table(("id", "logp"), *drawn), campaign=False, kind=kind)
        if sent and self.ask("/results/table", {"table": sent["table"]}):
            self.tables.add(tuple(drawn))
            self.tried = []

    def begin(self):
        self.number += 1
        asked = {"name": f"other {self.number}", "pool": "pool.csv", "settings": {**SETTINGS, "n": 2}}
        result = self.ask(API, asked, campaign=False)
        if result:
            self.begun.add(result["campaign"])

    def last(self):
        """Return the ids of the last round, as far as there is one."""
        try:
            rounds = self.server.get(f"{API}/{self.campaign}").json()["rounds"]
        except (OSError, ValueError, AttributeError):
            return NAMES
        return [each["id"] for each in rounds[-1]["suggestions"]] if rounds else NAMES


class Folder:
    """The folder of a server, and what is in it between two servers."""

    def __init__(self, root):
        self.root = root
        (root / "pool.csv").write_bytes(POOL)
        self.path = root / PLACE

    def state(self):
        return read_state(self.path.read_text(encoding="utf-8"), self.path)

    def rows(self):
        path = self.root / "One" / "suggestions.results.csv"
        return read(path) if path.is_file() else []

    def check(self, ann, bob):
        """Compare what is there with what was acknowledged; return how much of it was found."""
        state = self.state()
        told = {(result.id, result.value) for result in state.measured}
        typed = {(row["id"], float(row["logp"])) for row in self.rows() if row["logp"] != "failed"}
        kept = {pair for pair, there in ann.results.items() if there}
        assert kept <= told
        assert kept <= typed
        gone = {pair for pair, there in ann.results.items() if there is False}
        assert not gone & (told | typed)
        for cut in (set(ann.tried), set(bob.tried)):
            assert told & cut in (set(), cut)
            assert typed & cut in (set(), cut)
        accepted = {pair for drawn in bob.tables for pair in drawn}
        assert accepted <= told
        assert ann.failed <= {*state.failed, *(name for name, _ in told)}
        assert bob.comments <= {(comment.id, comment.text) for comment in state.comments}
        assert bob.vetoes <= state.vetoes.keys()
        for number, suggested in ann.rounds.items():
            now = {suggestion.id for suggestion in state.rounds[number - 1]}
            assert suggested - state.vetoes.keys() <= now
        assert all((self.root / place).is_file() for place in bob.begun)
        assert all((self.root / place).parent.joinpath("suggestions.csv").is_file() for place in bob.begun)
        parts = (kept, accepted, ann.failed, bob.comments, bob.vetoes, ann.rounds, bob.begun)
        return sum(map(len, parts))

    def remains(self):
        """Return the parts of files and the folders that killed processes have left."""
        return [*self.root.glob("One/*.part")], [*self.root.glob(".new-*")]


@pytest.fixture
def forks(tmp_path):
    forks = Forks(tmp_path)
    yield forks
    forks.close()


def test_what_was_acknowledged_outlives_fifty_kills(forks, tmp_path, capsys):
    folder, moments = Folder(tmp_path), random.Random(0)
    ann = Program(1, "record", "record", "take_back", "fail", "suggest", "suggest")
    bob = Program(2, "comment", "comment", "veto", "veto", "send", "begin")
    found, begin = 0, time.monotonic()
    for kill in range(KILLS):
        server = forks.start()
        if kill == 0:
            begun = server.post(API, {"name": "One", "pool": "pool.csv", "settings": SETTINGS})
            assert server.wait(begun)["status"] == "done"
        ann.tried = bob.tried = []
        threads = [threading.Thread(target=each.work, args=(server,)) for each in (ann, bob)]
        before = ann.counts["acknowledged"]
        for thread in threads:
            thread.start()
        until = time.monotonic() + 20
        while ann.counts["acknowledged"] == before and time.monotonic() < until:
            time.sleep(0.01)  # the first job waits for a process
        time.sleep(moments.uniform(0, 0.5))
        server.kill()
        for thread in threads:
            thread.join()
        found = folder.check(ann, bob)
        parts, folders = folder.remains()
        assert len(parts) <= FILES
        assert len(folders) <= 1
    state = folder.state()
    told = Desk(folder.path, tmp_path, workers=None).suggest(more=True)
    assert [suggestion.id for suggestion in folder.state().rounds[-1]] == [*told.suggested]
    assert len(folder.state().rounds) == len(state.rounds) + 1
    counts, seconds = ann.counts + bob.counts, time.monotonic() - begin
    assert counts["cut off"] == 2 * KILLS
    with capsys.disabled():
        print(f"\n{KILLS} kills: {dict(counts)}; {found} facts found at the end; {seconds:.0f} s")
