"""Play campaigns of a team that keeps dirty tables, by the command and in Python, and kill them.

The area needs forks, and `--data` with a CSV table of molecules that has the columns of `COLUMNS`.
"""

from __future__ import annotations

import copy
import io
import os
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path

import numpy as np
import torch

from benchmarks.attack.attempts import Attempt
from benchmarks.attack.deaths import End, draw_moment, run
from benchmarks.attack.team import GOALS, Team
from graph_bandit_campaign import Campaign, Goal
from graph_bandit_cli import main
from graph_bandit_env import MoleculeSet, from_smiles

COLUMNS = ("SMILES", "LOG SOLUBILITY PH 6.8 (ug/mL)", "LOG HLM_CLint (mL/min/kg)", "LOG MDR1-MDCK ER (B-A/A-B)")
AGENT = "molecule-ucb:short_list=50"
MOLECULES, ROUNDS, BATCH = 100, 3, 6


def attack(generator: np.random.Generator, folder: Path, data: Path) -> Iterator[Attempt]:
    """Play a campaign on dirty tables, then kill in turn a round of it and a program with a `Campaign`."""
    torch.set_num_threads(1)  # threads do not survive in the processes that start from here
    team = Team(data, COLUMNS, MOLECULES, generator)
    game = CommandGame(team, folder / "command", AGENT)
    program = PythonGame(team, folder / "python", AGENT, ROUNDS)
    yield from game.play(ROUNDS)
    for attempt in chain.from_iterable(program.kill(generator) for _ in count()):
        yield game.kill(generator)
        yield attempt


@dataclass(frozen=True)
class Round:
    """A round of the command as it went without kills."""

    before: Path
    """The folder before it."""
    after: dict[str, bytes]
    """The files after it."""
    team: Team
    """What was told and suggested by then."""
    seconds: float
    """How long it took."""
    events: int
    """How often it changed files."""


class CommandGame:
    """A campaign by `graph-bandit suggest`.

    Args:
        team: keeps the tables.
        folder: is made, for everything.
        agent: as on the command line.
    """

    def __init__(self, team: Team, folder: Path, agent: str) -> None:
        folder.mkdir()
        self.team, self.folder, self.agent = team, folder, agent
        self.rounds: list[Round] = []
        warm = folder / "warm"
        warm.mkdir()
        team.write(warm)
        with redirect_stdout(io.StringIO()):
            main(self._command(warm))  # loads all libraries, which the processes then share

    def play(self, rounds: int) -> Iterator[Attempt]:
        """Play without kills: each round with a typing error first, which must be refused, then corrected."""
        whole = self.folder / "whole"
        whole.mkdir()
        for number in range(rounds):
            if number:
                self.team.measure()
                self.team.trade()
                yield self._misspell(whole)
            self.team.write(whole)
            before = self.folder / f"before-{number}"
            shutil.copytree(whole, before)
            begin = time.perf_counter()
            end = self._run(whole)
            seconds = time.perf_counter() - begin
            if end.code != 0:
                yield Attempt("a round on dirty tables", f"round {number}: {end.said.strip()[-500:]}")
                return
            fault = self.team.take(whole) or self.team.compare(whole / "out.campaign.json")
            yield Attempt("a round on dirty tables", fault and f"round {number}: {fault}")
            team = copy.deepcopy(self.team)
            self.rounds.append(Round(before, _contents(whole), team, seconds, end.events))

    def kill(self, generator: np.random.Generator) -> Attempt:
        """Kill one of the rounds, look at what is left, and run the same command again."""
        played, killed = self.rounds[generator.integers(len(self.rounds))], self.folder / "killed"
        code: int | None = 0
        while code == 0:  # it may end before the moment comes
            shutil.rmtree(killed, ignore_errors=True)
            shutil.copytree(played.before, killed)
            before = _contents(killed)
            code = self._run(killed, generator, played).code
        left, saved = _contents(killed), "out.campaign.json"
        kind = "the command killed " + ("after" if left.get(saved) == played.after[saved] else "before") + " it saved"
        torn = [name for name, content in left.items() if content not in (before.get(name), played.after.get(name))]
        torn = [name for name in torn if not name.endswith(".part")]
        if torn:
            return Attempt(kind, f"neither the old nor the new content: {', '.join(torn)}")
        end = self._run(killed)
        if end.code != 0:
            return Attempt(kind, f"the same command ends with {end.code}: {end.said.strip()[-200:]}")
        after = _contents(killed)
        differ = sorted(
            name for name in after.keys() | played.after.keys() if after.get(name) != played.after.get(name)
        )
        if differ:
            return Attempt(kind, f"other files than without the kill: {', '.join(differ)}")
        return Attempt(kind, played.team.compare(killed / "out.campaign.json"))

    def _misspell(self, folder: Path) -> Attempt:
        table, row, expected = self.team.misspell()
        before = _answers(folder)
        table.append(row)
        self.team.write(folder)
        end = self._run(folder)
        table.pop()
        kind = "a typing error"
        if end.code != 1 or expected not in end.said:
            return Attempt(kind, f"{row}: exit code {end.code}: {end.said.strip()[-300:]}")
        return Attempt(kind, "" if _answers(folder) == before else f"{row}: was refused, but files changed")

    def _run(self, folder: Path, generator: np.random.Generator | None = None, played: Round | None = None) -> End:
        moment = draw_moment(generator, played.events, played.seconds) if generator and played else None
        return run(lambda: main(self._command(folder)), folder, self.folder / "said", moment)

    def _command(self, folder: Path) -> list[str]:
        tables = [folder / "pool.csv", "--measured", folder / "solubility.csv", folder / "clearance.xlsx"]
        goals = ["--maximize", "sol", "--minimize", "hlm", "--require", "er<0.8", "mw<600", "--n", BATCH]
        files = ["--out", folder / "out.csv", "--html", folder / "out.html", "--predictions", folder / "all.csv"]
        return [str(part) for part in ("suggest", *tables, *goals, *files, "--agent", self.agent)]


class PythonGame:
    """A program with a `Campaign`, which is killed again and again, and started again, until it comes to its end.

    Args:
        team: knows the molecules and their values.
        folder: is made, for everything.
        agent: as on the command line.
        rounds: of the campaign.
    """

    def __init__(self, team: Team, folder: Path, agent: str, rounds: int) -> None:
        folder.mkdir()
        self.folder, self.agent, self.rounds, self.values = folder, agent, rounds, team.values
        self.pool: MoleculeSet = from_smiles(list(team.smiles.values()), ids=list(team.smiles))
        self.saved = folder / "told"
        begin = time.perf_counter()
        end = run(lambda: self._program(folder / "whole.json"), folder / "whole.json", folder / "said")
        self.seconds, self.events = time.perf_counter() - begin, end.events
        self.whole = (folder / "whole.json").read_bytes()
        self.number = 0

    def kill(self, generator: np.random.Generator) -> Iterator[Attempt]:
        """Yield an attempt for each kill until the program ends, and one for its end."""
        path = self.folder / f"campaign-{self.number}.json"
        self.number += 1
        self.saved.unlink(missing_ok=True)
        while True:
            moment = draw_moment(generator, self.events, self.seconds)
            end = run(lambda: self._program(path), path, self.folder / "said", moment)
            if end.code == 0:
                break
            yield Attempt("a program with a Campaign killed", self._compare(path))
        same = path.read_bytes() == self.whole
        yield Attempt("its end after many kills", "" if same else "another campaign than without kills")

    def _compare(self, path: Path) -> str:
        """Return what is lost or doubled of that which the program was told is saved; one more may be there."""
        said = self.saved.read_text(encoding="utf-8").splitlines() if self.saved.exists() else []
        ours = set(said)
        if not path.exists():
            return "the file is lost" if ours else ""
        state = Campaign(self.pool, state=path).state
        theirs = Counter(f"{result.id} {result.goal} {result.value!r}" for result in state.measured)
        if max(theirs.values(), default=0) > 1:
            return f"doubled: {theirs.most_common(1)}"
        if not ours <= theirs.keys() or len(theirs) > len(ours) + 1:
            return f"lost {sorted(ours - theirs.keys())[:3]}, invented {sorted(theirs.keys() - ours)[:3]}"
        suggested = [suggestion.id for batch in state.rounds for suggestion in batch]
        waiting = sorted(set(suggested) - state.settled().keys())
        return "" if sorted(state.pending) == waiting and len(set(suggested)) == len(suggested) else "pending"

    def _program(self, path: Path) -> int:
        goals = [Goal("sol"), Goal("hlm", "minimize"), Goal("er", "limit", high=0.8)]
        campaign = Campaign(self.pool, self.agent, goals=goals, state=path)
        with self.saved.open("a", encoding="utf-8") as file:
            while True:
                for key in campaign.state.pending or ([] if campaign.state.rounds else self.pool.ids[:BATCH]):
                    for goal in GOALS:
                        campaign.tell(key, self.values[key][goal], goal=goal)
                        os.write(file.fileno(), f"{key} {goal} {self.values[key][goal]!r}\n".encode())
                if len(campaign.state.rounds) == self.rounds:
                    return 0
                campaign.ask(BATCH)


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _answers(folder: Path) -> dict[str, bytes]:
    """Return the contents of what the command writes for its user."""
    return {name: content for name, content in _contents(folder).items() if name.startswith(("out.", "all."))}
