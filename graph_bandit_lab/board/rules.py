"""Say what an entry of a board may hold, and refuse what it may not, with the reason and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import registry
from graph_bandit_env.extras import require
from graph_bandit_lab.board.entries import Entry, Play
from graph_bandit_lab.design.environment import EnvironmentSettings
from graph_bandit_lab.design.keys import to_json, with_later_defaults
from graph_bandit_lab.design.plan import Grid, Repetition, Sweep, find_key, make_checked
from graph_bandit_lab.design.settings import AgentSpec
from graph_bandit_lab.design.sweep_file import Overrides, read_sweep
from graph_bandit_lab.design.tasks import Task
from graph_bandit_lab.storage.rows import software_versions

PACKAGE = "graph-bandit-env"
VERSIONS = (PACKAGE, "torch", "numpy", "python")  # which rows must name
MOST_AGENTS = 20  # of an entry
MOST_LETTERS = 80  # of a label, a name, or a version
NAMED = 3  # offenders of one kind that a refusal names


@dataclass(frozen=True)
class Rules:
    """What the entries of a board are played on, and with which seeds: a sweep of tasks."""

    sweep: Sweep
    """Its agents do not count: an entry brings its own."""

    def __post_init__(self) -> None:
        nameless = [grid for grid in self.sweep.grids if grid.task is None or len(grid.environments) != 1]
        if nameless or not self.sweep.grids:
            raise ValueError(
                "Expected a sweep of tasks, each a name for one environment, as the preset `testbed` is. Got "
                f"{len(nameless)} of {len(self.sweep.grids)} grids without that."
            )

    @cached_property
    def tasks(self) -> dict[str, Task]:
        """Return the tasks by the keys of their environments."""
        return {
            to_json(environment.to_dict()): replace(grid.task, environment_key=to_json(environment.to_dict()))
            for grid, environment in self._places
            if grid.task is not None
        }

    @cached_property
    def _environments(self) -> dict[str, EnvironmentSettings]:
        return {to_json(environment.to_dict()): environment for _, environment in self._places}

    @property
    def _places(self) -> Iterator[tuple[Grid, EnvironmentSettings]]:
        return ((grid, grid.environments[0]) for grid in self.sweep.grids)

    def plan(self, specs: Sequence[AgentSpec]) -> dict[tuple[str, int], Repetition]:
        """Return the repetitions that agents play on the board, by settings hash and seed.

        Raises:
            ValueError: if a setting is refused, or an agent can play none of the tasks.
        """
        grids = tuple(replace(grid, agents=tuple(specs)) for grid in self.sweep.grids)
        planned = replace(self.sweep, grids=grids).plan()
        return {repetition.identity: repetition for repetition in planned.repetitions}

    def repetition_of(self, play: Play) -> Repetition:
        """Return what a play was played on, under its own key: enough to make its environment, and no agent."""
        environment = self._environments[play.key.environment_key]
        return Repetition(AgentSpec(play.key.agent, {}, play.label), play.key, play.seed, environment.pool)

    def find_faults(self, entry: Entry, earlier: Iterable[Entry] = (), is_new: bool = False) -> tuple[str, ...]:
        """Say what is wrong with an entry; nothing is imported that it names, and nothing is played.

        Args:
            entry: of `read_entry`.
            earlier: entries that are on the board already.
            is_new: whether it is not there yet: then this version must be able to play all agents of this package.

        Returns:
            A sentence or two for each rule that it breaks: what was expected, what came, what to do.
        """
        if entry.fault:
            return (entry.fault,)
        faults = [*self._faults_of_plays(entry), *self._faults_of_players(entry), *_faults_of_names(entry)]
        there = {player: other.name for other in earlier for player in other.players}
        for player, plays in entry.players.items():
            if player in there:
                faults.append(
                    f"Expected agents that the board does not have yet. Got {_shown(plays[0].label)}, which the entry "
                    f"`{there[player]}` has played, with the same settings. Export a folder without it."
                )
        return tuple(faults) or tuple(self._faults_of_ours(entry, is_new))

    def _faults_of_plays(self, entry: Entry) -> Iterator[str]:
        strange = [play for play in entry.plays if play.key.environment_key not in self.tasks]
        if strange:
            yield (
                f"Expected the tasks of `{self.sweep.title}` as they are. Got {self._difference(strange[0])}. Play "
                f"`graph-bandit sweep {self.sweep.title} --agents ...` into a new folder, and change nothing of it."
            )
        wrong = [play for play in entry.plays if play.seed not in self.sweep.seeds]
        if wrong:
            listed = "; ".join(f"{_shown(play.label)} with the seed {play.seed}" for play in wrong[:NAMED])
            yield (
                f"Expected the seeds of `{self.sweep.title}`: {', '.join(map(str, self.sweep.seeds))}. Got "
                f"{len(wrong)} repetitions with others: {listed}. Play `graph-bandit sweep {self.sweep.title} "
                "--agents ...` into a new folder, and change nothing of it: instances and noise follow from the seeds."
            )
        for play in entry.plays:
            rounds, horizon = len(play.actions), play.key.environment.get("horizon")
            if play.status == "finished" and rounds != horizon:
                yield f"Expected {horizon} rounds of a finished repetition. Got {rounds} of {_shown(play.label)}."
                break

    def _difference(self, play: Play) -> str:
        """Say in which settings an environment differs from the task that is nearest to it."""
        mine = with_later_defaults(play.key.environment)
        names = {key: task.name for key, task in self.tasks.items()}
        apart: dict[str, list[str]] = {}
        for key, environment in self._environments.items():
            theirs = with_later_defaults(environment.to_dict())
            apart[key] = [name for name in sorted({*mine, *theirs}) if mine.get(name) != theirs.get(name)]
        nearest = min(apart, key=lambda key: len(apart[key]))
        named = ", ".join(f"{name} {mine.get(name)!a:.80}" for name in apart[nearest][:NAMED])
        hint = ""
        if "graphs" in apart[nearest]:
            rdkit = software_versions().get("rdkit", "none")
            hint = f" (graphs of molecules depend on the version of RDKit: {play.versions.get('rdkit')}, here {rdkit})"
        return f"an environment that differs from `{names[nearest]}` in {named}{hint}"

    def _faults_of_players(self, entry: Entry) -> Iterator[str]:
        players = entry.players
        if len(players) > MOST_AGENTS:
            yield f"Expected at most {MOST_AGENTS} agents. Got {len(players)}. Send several entries."
        for plays in players.values():
            seeds: dict[str, set[int]] = {}
            for play in plays:
                seeds.setdefault(play.key.environment_key, set()).add(play.seed)
            short = {
                key: len(has) for key, has in seeds.items() if has < {*self.sweep.seeds}
            }  # others are named already
            named = [f"{count} on {self.tasks[key].name}" for key, count in short.items() if key in self.tasks]
            if named:
                yield (
                    f"Expected {len(self.sweep.seeds)} repetitions of {_shown(plays[0].label)} on each task that it "
                    f"plays. Got {', '.join(named[:NAMED])}. A failed repetition is not exported: the log of the sweep "
                    "has its traceback, and `--retry-failed` plays it again."
                )
        labels = [{play.label for play in plays} for plays in players.values()]
        if any(len(several) > 1 for several in labels) or len(set().union(*labels)) < len(labels):
            yield (
                "Expected one label for each agent, and one agent under each label. Got "
                f"{', '.join(sorted(_shown(label) for several in labels for label in several)[:NAMED])}. Give every "
                "agent the same settings on all tasks, and its whole name, as in `gnn-ts:width=8`."
            )

    def _faults_of_ours(self, entry: Entry, is_new: bool) -> Iterator[str]:
        """Refuse repetitions of agents of this package that it would not store so, under these labels."""
        for plays in entry.players.values():
            label = _shown(plays[0].label)
            ours, why = find_replayable(plays)
            if is_new and _claims_ours(plays[0]) and len(ours) < len(plays):
                yield (
                    f"Expected agents of {PACKAGE} as this version has them. Got {label}"
                    f"{f', {why}' if why else ', of several versions'}. Play it again, with this version."
                )
                continue
            if not ours:
                continue
            try:
                planned = self.plan([spec_of(ours[0])])
            except (ValueError, TypeError) as error:
                yield f"Expected settings that {label} takes. Got: {str(error)[:500]}"
                continue
            if unplanned := [play for play in ours if play.identity not in planned]:
                task = self.tasks[unplanned[0].key.environment_key].name
                yield (
                    f"Expected repetitions as this version stores them. Got {label} on {task} under another key: it "
                    "cannot play there, or its settings are not all that it has."
                )
            elif not _tells_settings(ours[0]):
                yield (
                    f"Expected a label that tells all settings that are not defaults. Got {label} for "
                    f"{_shown(to_json(ours[0].key.agent_settings))}."
                )


def read_rules(preset: str = "testbed") -> Rules:
    """Return the rules of the board of a preset: its tasks that need no table of the user's.

    Raises:
        MissingExtraError: if the extra `chem` is not installed, by which molecules become graphs.
    """
    require("rdkit", "The board")
    return Rules(read_sweep(preset, Overrides(agents=("random",))))


def is_ours(name: str) -> bool:
    """Return whether an agent of this name comes with this package."""
    return name in registry.list_agents() and registry.agent_plays_changing_graphs(name) is not None


def _claims_ours(play: Play) -> bool:
    """Return whether a repetition is said to be of an agent of this package."""
    return not play.key.plug_in and is_ours(play.key.agent)


def _tells_settings(play: Play) -> bool:
    """Return whether the label of an agent of this package makes the agent that was played."""
    try:
        spec = AgentSpec.parse(play.label)
        return find_key(spec, make_checked(spec), "").agent_settings == play.key.agent_settings
    except (ValueError, TypeError):
        return False


def spec_of(play: Play) -> AgentSpec:
    """Return the agent of a play, with all settings that its row has."""
    return AgentSpec(play.key.agent, dict(play.key.agent_settings), play.label)


def find_replayable(plays: Sequence[Play]) -> tuple[list[Play], str]:
    """Return those repetitions of an agent that this version can play again; if there are none, why."""
    firsts = {play.versions.get(PACKAGE): play for play in reversed(plays)}
    reasons = {version: _why_not_replayed(play) for version, play in firsts.items()}
    ours = [play for play in plays if not reasons[play.versions.get(PACKAGE)]]
    return ours, "" if ours else next(iter(reasons.values()))


def _why_not_replayed(play: Play) -> str:
    """Say why a repetition cannot be played again; nothing if it can be. No code of another package is loaded.

    Equal settings and algorithms play equally in every version of this package (docs/policy.md).
    """
    if play.key.plug_in or not is_ours(play.key.agent):
        return "an agent of another package or file"
    played, here = play.versions.get(PACKAGE), software_versions()[PACKAGE]
    try:
        key = find_key(spec_of(play), make_checked(spec_of(play)), play.key.plug_in)
    except (ValueError, TypeError):
        key = None  # of this version, that is a fault
    if key is not None and key.algorithm != play.key.algorithm:
        return f"played by version {play.key.algorithm} of its algorithm, and this one has {key.algorithm}"
    same = key is not None and to_json(key.agent_settings) == to_json(play.key.agent_settings)
    return (
        "" if same or played == here else f"played with {PACKAGE} {played}, where it had other settings than in {here}"
    )


def _faults_of_names(entry: Entry) -> tuple[str, ...]:
    """Refuse rows without versions, texts that a page or a terminal cannot show, and labels that name another agent."""
    faults: dict[str, str] = {}  # the first of each rule
    for play in entry.plays:
        name, texts = play.key.agent, [play.label, play.key.agent, play.key.plug_in, *play.versions.values()]
        lacking = [version for version in VERSIONS if not isinstance(play.versions.get(version), str)]
        if lacking:
            faults.setdefault(
                "versions",
                f"Expected the versions of {', '.join(VERSIONS)} in each row. Got none of {', '.join(lacking)}.",
            )
        bad = [text for text in texts if not (isinstance(text, str) and len(text) <= MOST_LETTERS and _plain(text))]
        if bad:
            faults.setdefault(
                "names",
                f"Expected names of at most {MOST_LETTERS} printable characters of ASCII. Got {_shown(bad[0])}.",
            )
        parts = (name, *re.split(r"[:.]", name.replace("_", "-")))
        if (play.key.plug_in or ":" in name) and any(map(is_ours, parts)):
            faults.setdefault(
                "ours", f"Expected another name than that of an agent of {PACKAGE}. Got {_shown(name)}. Rename yours."
            )
        wrong = _wrong_in_label(play)
        if wrong:
            faults.setdefault(
                "labels",
                f"Expected labels as `--agents` takes them: name:setting=value. Got {_shown(play.label)} for {wrong}.",
            )
    return tuple(faults.values())


def _wrong_in_label(play: Play) -> str:
    """Say what a label does not tell as it is; nothing if it does. `_faults_of_ours` knows more of our own agents."""
    name, settings = play.key.agent, play.key.agent_settings
    if play.label != name and not play.label.startswith(f"{name}:"):
        return f"the agent {_shown(name)}"
    try:
        told = {} if play.label == name else AgentSpec.parse(play.label).settings
    except ValueError:
        return f"an agent with settings that cannot be read in {_shown(play.label)}"
    strange = [key for key in told if key not in settings and not _claims_ours(play)]
    if strange:
        return f"an agent without the setting {_shown(strange[0])}"
    false = [key for key, value in told.items() if key in settings and settings[key] != value]
    return f"{false[0]} = {settings[false[0]]!a:.40}" if false else ""


def _plain(text: str) -> bool:
    """Return whether a text is what it looks like: letters of other alphabets look like those of another name."""
    return text.isascii() and text.isprintable() and text == text.strip()


def _shown(text: object) -> str:
    """Return a text of an entry in quotes, cut, without characters that a terminal would obey."""
    return f"{str(text)[:MOST_LETTERS]!a}"
