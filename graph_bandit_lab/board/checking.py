"""Check the entries of a board: by its rules, by what their actions earn, and by playing a part of each again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from graph_bandit_lab.board.accounts import find_false_accounts
from graph_bandit_lab.board.entries import ENDING, Entry, Play, read_entry
from graph_bandit_lab.board.replays import Replayed, Replays, choose_replays, play_again
from graph_bandit_lab.board.rules import Rules, find_replayable
from graph_bandit_lab.execution.executors import InProcess, Workers

NAMED = 3  # repetitions of one kind that a refusal names


@dataclass(frozen=True, kw_only=True)
class CheckedAgent:
    """One agent of an entry."""

    label: str
    repetitions: int
    replayed: int = 0
    """Repetitions that were played again."""
    parted: int = 0
    """Those among them that chose another graph from some round on, and ended with an R_T within its interval."""
    not_replayed: str = ""
    """Why none of it is played again; empty if some could be."""

    @property
    def verdict(self) -> str:
        """Say in a few words what was played again, and what came of it."""
        if not self.replayed:
            return "not replayed"
        equal = self.replayed - self.parted
        parted = f", {self.parted} parted, R_T within its interval" if self.parted else ""
        return f"replayed {self.replayed} of {self.repetitions}: {equal} equal{parted}"


@dataclass(frozen=True, eq=False)
class Checked:
    """An entry, and what came of the checks."""

    entry: Entry
    faults: tuple[str, ...] = ()
    """Why it is refused; empty if it is not."""
    agents: tuple[CheckedAgent, ...] = ()
    """Its agents, if it is not refused."""
    replays: Replays | None = None
    """How a part of it was chosen to be played again; None: the rules alone were applied."""

    @property
    def lines(self) -> list[str]:
        """Say for a terminal what came of the checks, a line each."""
        title = f"{self.entry.name} ({self.entry.size / 1000:,.0f} kB, sha256 {self.entry.digest[:12]})"
        if self.faults:
            return [f"{title}: refused", *(f"  {fault}" for fault in self.faults)]
        if self.replays is None:
            return [f"{title}: keeps the rules", *(f"  {agent.label}" for agent in self.agents)]
        reasons = [f" ({agent.not_replayed})" if agent.not_replayed else "" for agent in self.agents]
        return [
            f"{title}: accepted",
            *(f"  {agent.label}: {agent.verdict}{why}" for agent, why in zip(self.agents, reasons, strict=True)),
        ]


def list_entries(paths: Iterable[str | Path]) -> list[Path]:
    """Return the files of entries; a folder stands for all `*.sqlite.xz` in it, by name.

    Raises:
        FileNotFoundError: if there is no such file or folder.
    """
    found: list[Path] = []
    for path in map(Path, paths):
        if not path.exists():
            raise FileNotFoundError(f"Expected an entry of the board, or a folder of some. There is none at {path}.")
        found += sorted(path.glob(f"*{ENDING}")) if path.is_dir() else [path]
    return list(dict.fromkeys(found))


def check_entries(
    paths: Sequence[str | Path],
    rules: Rules,
    replays: Replays | None = None,
    board: Sequence[str | Path] = (),
    open_workers: Callable[[], Workers] = InProcess,
    tell: Callable[[str], object] = lambda what: None,
) -> tuple[Checked, ...]:
    """Check entries in their order; of two that have played the same agent, the first stays.

    Args:
        paths: files of entries, and folders of them.
        rules: what they may hold.
        replays: which part of each is played again; None: the rules alone are applied.
        board: files and folders of entries that are on the board already. Those of the names that are checked are left
            out, because these take their place. They are read, and not checked again. What is checked is new then,
            and this version must be able to play its agents of this package.
        open_workers: opens the workers that play.
        tell: takes a line on what is done next.

    Returns:
        What came of each.

    Raises:
        FileNotFoundError: if there is no such file or folder.
    """
    entries = [read_entry(path) for path in list_entries(paths)]
    names = {entry.path.name for entry in entries}
    there = [read_entry(path) for path in list_entries(board)]
    for old in there:
        if old.path.name in names:
            agents = ", ".join(plays[0].label for plays in old.players.values())
            tell(f"`{old.name}` takes the place of the entry of that name on the board, which has {agents}.")
    accepted = [old for old in there if old.path.name not in names]
    checked: list[Checked] = []
    for entry in entries:
        faults = rules.find_faults(entry, accepted, is_new=bool(board))
        checked.append(Checked(entry, faults))
        accepted += [] if faults else [entry]
    if replays is None:
        return tuple(replace(sent, agents=() if sent.faults else _agents_of(sent.entry, ())) for sent in checked)
    return _check_plays(checked, rules, replays, open_workers, tell)


def _check_plays(
    checked: Sequence[Checked],
    rules: Rules,
    replays: Replays,
    open_workers: Callable[[], Workers],
    tell: Callable[[str], object],
) -> tuple[Checked, ...]:
    """Check the plays of entries that keep the rules: what the actions of all earn, and then a part of each again."""
    plays = [play for sent in checked if not sent.faults for play in sent.entry.plays]
    tell(f"Giving the actions of {len(plays)} repetitions to their environments ...")
    false = find_false_accounts(plays, rules)
    done: list[Checked] = []
    for sent in checked:
        entry, faults = sent.entry, sent.faults
        wrong = [play for play in entry.plays if not faults and play.identity in false]
        faults = faults or _faults_of(rules, [(play, f"its row has {false[play.identity]}") for play in wrong])
        agents: tuple[CheckedAgent, ...] = ()
        if not faults:
            chosen = choose_replays(entry, replays)
            if chosen:
                tell(f"Playing {len(chosen)} repetitions of {entry.name} again ...")
            played = play_again(entry, chosen, rules, open_workers)
            faults = _faults_of(rules, [(replayed.play, replayed.fault) for replayed in played if replayed.fault])
            agents = () if faults else _agents_of(entry, played)
        done.append(Checked(entry, faults, agents, replays))
    return tuple(done)


def _faults_of(rules: Rules, wrong: Sequence[tuple[Play, str]]) -> tuple[str, ...]:
    """Name the first repetitions that are wrong, each with the reason."""
    texts = [
        f"{play.label!a}, seed {play.seed}, on {rules.tasks[play.key.environment_key].name}: {fault}."
        for play, fault in wrong
    ]
    more = [f"And {len(texts) - NAMED} more repetitions."] if len(texts) > NAMED else []
    return (*texts[:NAMED], *more)


def _agents_of(entry: Entry, played: Sequence[Replayed]) -> tuple[CheckedAgent, ...]:
    agents = []
    for player, plays in entry.players.items():
        mine = [replayed for replayed in played if replayed.play.player == player]
        agents.append(
            CheckedAgent(
                label=plays[0].label,
                repetitions=len(plays),
                replayed=len(mine),
                parted=sum(replayed.parted for replayed in mine),
                not_replayed=find_replayable(plays)[1],
            )
        )
    return tuple(agents)
